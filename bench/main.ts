/** `npm run bench -- <what>`: measurements, each in a module of its own that brings its command with it. */
import { Command } from 'commander';

/** What a module of the bench exports: it adds its own subcommand, with its options and help. */
interface BenchModule {
  readonly register: (program: Command) => void;
}

/** Subcommand → its module; loaded only when asked for, because each pulls in an engine. */
const benches: Readonly<Record<string, string>> = {
  ingest: './ingest.js',
  lists: './lists.js',
  'engine-hop': './engine-hop.js',
};

const program = new Command('npm run bench --')
  .description('Measures Spanhouse on this machine and writes the results to bench/RESULTS.md.')
  .showHelpAfterError();

const asked = process.argv[2];
const wanted = asked !== undefined && asked in benches ? [asked] : Object.keys(benches);
for (const name of wanted) {
  const { register } = (await import(new URL(benches[name] ?? '', import.meta.url).href)) as BenchModule;
  register(program);
}
await program.parseAsync();
