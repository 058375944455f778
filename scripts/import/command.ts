import { Command, Option } from 'commander';
import { loadConfig, localUrl } from '../../src/config/config.js';
import { InterruptedError, interruptible } from '../ci/interruption.js';
import { KEY_VARIABLE, keyOption, urlOption } from '../client-options.js';
import { jsonOf, printFailure, tableOf, printable } from '../output.js';
import { startProgress } from '../progress.js';
import { RefusedError, Remote } from '../transfer/remote.js';
import { ImportError } from './import-error.js';
import { runImport, targetOf, type ImportReport } from './run.js';
import { openSource, SOURCES } from './sources.js';
import type { SourceOptions } from './source-options.js';

interface Options extends SourceOptions {
  readonly from: string;
  readonly url?: string;
  readonly key?: string;
  readonly state?: string;
  readonly restart?: boolean;
  readonly judged?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** What a run ends with. */
export const EXIT = { complete: 0, incomplete: 1, notRun: 3 } as const;

const HELP = `
Sources:
${Object.entries(SOURCES)
  .map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`)
  .join('\n')}

Ids are derived from those of the source: importing something again changes nothing. If the command is interrupted, run it
again to resume it; it notes how far it is in a file (--state).

Exit codes: 0 everything is imported and its figures match, 1 something was not taken or a figure differs, 3 could not run.

Examples:
  spanhouse import --from claude-code
  spanhouse import --from otlp traces.json.gz
  spanhouse import --from langfuse --source-url https://cloud.langfuse.com --public-key pk-lf-… --secret-key sk-lf-…`;

/** Brings what people have elsewhere into a project. @param name how the command was called, for its help */
export function importCommand(name: string): Command {
  return new Command(name)
    .description(
      'Imports traces, scores, prompts and datasets from another system into a project, through the API of a server.',
    )
    .argument('[path...]', 'files and folders to import, for sources that are files')
    .addOption(new Option('--from <source>', 'where the data is').choices(Object.keys(SOURCES)).makeOptionMandatory())
    .option('--since <time>', 'only what began at this time or later, such as 2026-10-01')
    .addOption(new Option('--source-url <url>', 'URL of the other server, for sources that are servers'))
    .addOption(new Option('--public-key <key>', 'public key of a Langfuse project').env('LANGFUSE_PUBLIC_KEY'))
    .addOption(new Option('--secret-key <key>', 'secret key of a Langfuse project').env('LANGFUSE_SECRET_KEY'))
    .option('--source-key <key>', 'API key of LangSmith or a Phoenix server (LANGSMITH_API_KEY, PHOENIX_API_KEY)')
    .option('--source-project <name>', 'project of a Phoenix server', 'default')
    .option('--state <file>', 'file that notes how far the import is (default: one in the state folder of this user)')
    .option('--restart', 'import everything again, and ignore the saved progress')
    .option('--dry-run', 'read and count everything, and send nothing')
    .option('--judged', 'import although the project has judges, which evaluate what arrives')
    .option('--json', 'print the result as JSON')
    .addOption(urlOption())
    .addOption(keyOption('API key of the project, with full access'))
    .addHelpText('after', HELP)
    .showHelpAfterError()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT.notRun))
    .action(async (paths: readonly string[], options: Options) => {
      try {
        const report = await interruptible(() => imported(paths, options), 'Run the same command to resume.');
        if (options.json === true) process.stdout.write(jsonOf(report));
        else show(report, options);
        process.exitCode = isComplete(report) ? EXIT.complete : EXIT.incomplete;
      } catch (error) {
        printFailure(isRefusedKey(error) ? new ImportError(REFUSED_KEY) : error);
        process.exitCode = EXIT.notRun;
        // What was under way may still be.
        if (error instanceof InterruptedError) process.exit();
      }
    });
}

const REFUSED_KEY = 'The server rejected the API key: it is invalid, has expired, was deleted, or lacks full access.';

const isRefusedKey = (error: unknown) => error instanceof RefusedError && [401, 403].includes(error.status);

async function imported(paths: readonly string[], options: Options): Promise<ImportReport> {
  const { state = null, restart = false, judged = false, dryRun = false } = options;
  if (!dryRun && options.key === undefined)
    throw new ImportError(`Give an API key of the project with --key, or set ${KEY_VARIABLE}`);
  // What is noted is readable by this user alone.
  process.umask(0o077);
  const source = await openSource(options.from, paths, options);
  const target = dryRun
    ? null
    : await targetOf(new Remote(options.url ?? localUrl(loadConfig().http), options.key ?? ''), judged);
  return runImport(source, target, { state, restart }, startProgress);
}

function isComplete({ left, compared }: ImportReport): boolean {
  return left.length === 0 && (compared ?? []).every(({ same }) => same);
}

function show(report: ImportReport, { dryRun = false }: Options): void {
  const { found, tally, left, compared, retentionDays, state } = report;
  const out = (text: string) => process.stdout.write(text);
  for (const line of found) out(`${printable(line)}\n`);
  const { traces, spans, cost, inputTokens, outputTokens, scores, prompts, rows } = tally;
  const counts = { traces, spans, 'input tokens': inputTokens, 'output tokens': outputTokens, 'stated cost': cost };
  const more = Object.entries({ scores, prompts, 'dataset rows': rows }).filter(([, count]) => count > 0);
  out(tableOf([{ ...counts, 'stated cost': `$${cost.toFixed(2)}`, ...Object.fromEntries(more) }]));
  if (dryRun) out('Nothing was sent (--dry-run).\n');
  if (compared !== null) {
    out(
      tableOf(
        compared.map(({ figure, source, server, same }) => ({
          figure,
          read: source,
          server,
          same: same ? 'yes' : 'no',
        })),
      ),
    );
    if (compared.some(({ same }) => !same))
      out(
        'Figures differ if the source has the same span twice, if spans were deleted here, or if an earlier import used another state file. Check with --restart.\n',
      );
  }
  if (left.length > 0) {
    out('Not imported:\n');
    out(tableOf(left.map(({ count, why, examples }) => ({ count, why, such: examples.join(', ') }))));
  }
  if (retentionDays !== null)
    out(`The project keeps traces for ${retentionDays} days: older ones that you imported are removed again.\n`);
  if (state !== null) out(`Noted in ${printable(state)}: the next import of this source takes only what is new.\n`);
}
