/** `npm start`: makes the checkout ready, then runs the server in this very process, so that signals reach it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail, prepare, root } from './bootstrap.mjs';

const args = process.argv.slice(2);
const help = args.includes('--help') || args.includes('-h');
const unknown = args.filter((arg) => arg !== '--help' && arg !== '-h');
if (unknown.length > 0) {
  fail(`does not know ${unknown.join(' ')}. It is configured by environment variables: see \`npm start -- --help\`.`);
}

await prepare();
if (help) {
  const { configurationHelp } = await import('../dist/src/config/documentation.js');
  console.log(`Usage: npm start

Starts Spanhouse. It takes no arguments; these environment variables configure it:

${configurationHelp()}

Example: PORT=5000 DATA_DIR=/var/lib/spanhouse npm start`);
} else {
  const main = join(root, 'dist/src/main.js');
  if (!existsSync(main)) fail('src/main.ts is missing from this checkout.');
  await import(main);
}
