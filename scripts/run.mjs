/**
 * `node scripts/run.mjs <program below dist, or of node_modules> …`: makes the checkout ready, then runs a compiled program in this very
 * process, so that signals reach it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail, prepare, root } from './bootstrap.mjs';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) fail('name the program to run, such as bench/main.js');
const ofPackage = program.startsWith('node_modules/');
await prepare({ development: ofPackage || /^bench\/|\/pictures/.test(program) });
const file = join(root, ofPackage ? '' : 'dist', program);
if (!existsSync(file)) fail(`there is no ${program.replace(/\.js$/, '.ts')} in this checkout.`);
process.argv = [process.argv[0], file, ...args];
await import(file);
