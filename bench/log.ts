import { InvalidArgumentError, type Command } from 'commander';
import { printTable } from './figures.js';
import { aboutAppends, appendsTable, measureAppends } from './log-appends.js';
import { measureServer, type ServerOptions, type ServerRun } from './log-server.js';
import { aboutServer, serverTable } from './log-table.js';
import { wholeNumber } from './options.js';
import { captureContext, writeResults } from './results.js';

interface Options extends ServerOptions {
  readonly appendSeconds: number;
  readonly repetitions: number;
  readonly only?: 'appends' | 'server';
  readonly write: boolean;
}

/** `log`: what the write-ahead log costs, alone against other ways to make writes durable, and within the server. */
export function register(program: Command): void {
  program
    .command('log')
    .description('append records to the write-ahead log and by other ways, and send spans to a server that writes it')
    .option('--append-seconds <n>', 'how long each way of appending is measured', wholeNumber(1, 600), 5)
    .option('--lone <n>', 'requests of the lone client', wholeNumber(1, 100_000), 500)
    .option('--singles <n>', 'requests of one span by 64 clients', wholeNumber(64, 500_000), 20_000)
    .option('--seconds <n>', 'how long the steady load goes on', wholeNumber(1, 600), 30)
    .option('--traces <n>', 'one-span traces before the first read of a list', wholeNumber(50, 5_000_000), 300_000)
    .option('--repetitions <n>', 'repetitions; medians are reported', wholeNumber(1, 99), 3)
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--only <part>', 'only this part: appends or server', partNamed)
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

async function bench(options: Options): Promise<void> {
  const context = captureContext();
  const { appendSeconds, lone, singles, seconds, traces, repetitions, only } = options;
  const command =
    `npm run bench -- log --append-seconds ${appendSeconds} --lone ${lone} --singles ${singles} --seconds ${seconds} ` +
    `--traces ${traces} --repetitions ${repetitions}`;
  if (only !== 'server') {
    const stretches = { seconds: appendSeconds, repetitions };
    const table = appendsTable(await measureAppends(stretches));
    printTable(table.columns, table.rows);
    process.stdout.write('\n');
    const about = aboutAppends(stretches);
    if (options.write) writeResults({ name: 'Log: appends', command, context, engine: 'not used', about, ...table });
  }
  if (only !== 'appends') {
    const table = serverTable(options, await measureRepeatedly(options));
    printTable(table.columns, table.rows);
    const about = aboutServer(options, options);
    if (options.write) writeResults({ name: 'Log: server', command, context, engine: 'embedded', about, ...table });
  }
}

async function measureRepeatedly(options: Options): Promise<ServerRun[]> {
  const runs: ServerRun[] = [];
  for (let repetition = 0; repetition < options.repetitions; repetition += 1) {
    process.stderr.write(`Repetition ${repetition + 1} of ${options.repetitions}\n`);
    const seed = options.seed + repetition * 1000;
    runs.push(await measureServer({ ...options, seed }, repetition % 2 === 0));
  }
  return runs;
}

function partNamed(text: string): 'appends' | 'server' {
  if (text === 'appends' || text === 'server') return text;
  throw new InvalidArgumentError('It must be appends or server.');
}
