/** `node scripts/run.mjs <program below dist> …`: makes the checkout ready, then runs a compiled program in this process. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail, prepare, root } from './bootstrap.mjs';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) fail('say which program to run, such as bench/main.js');
await prepare();
const file = join(root, 'dist', program);
if (!existsSync(file)) fail(`there is no ${program.replace(/\.js$/, '.ts')} in this checkout.`);
process.argv = [process.argv[0], file, ...args];
await import(file);
