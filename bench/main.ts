/** `npm run bench -- <what>`: measurements, each in a module of its own that brings its command with it. */
import { existsSync, readdirSync } from 'node:fs';
import { Command } from 'commander';

/** A module of the bench: `register` adds one subcommand, named like its file, with its options and help. */
interface BenchModule {
  readonly register?: (program: Command) => void;
}

const folder = new URL('./', import.meta.url);
const program = new Command('npm run bench --')
  .description('Measures Spanhouse on this machine and writes the results to bench/RESULTS.md.')
  .showHelpAfterError();

for (const file of wantedFiles(process.argv[2])) {
  const { register } = (await import(new URL(file, folder).href)) as BenchModule;
  register?.(program);
}
await program.parseAsync();

/** The one asked for, so that no bench carries what the others load; without one, all, for the help. */
function wantedFiles(asked: string | undefined): string[] {
  if (asked !== undefined && /^[a-z-]+$/.test(asked) && existsSync(new URL(`${asked}.js`, folder)))
    return [`${asked}.js`];
  return readdirSync(folder).filter((file) => file.endsWith('.js') && file !== 'main.js');
}
