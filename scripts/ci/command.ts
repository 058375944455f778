import { Command, InvalidArgumentError } from 'commander';
import { loadConfig, localUrl } from '../../src/config/config.js';
import { KEY_VARIABLE, keyOption, urlOption } from '../client-options.js';
import { printFailure } from '../output.js';
import { RefusedError, Remote } from '../transfer/remote.js';
import { CiError } from './ci-error.js';
import { InterruptedError } from './interruption.js';
import { EXIT, runCi, type Candidate, type CiOptions } from './run.js';

interface Options extends Omit<CiOptions, 'candidate' | 'url'> {
  readonly dataset?: string | undefined;
  readonly prompt?: string | undefined;
  readonly resume?: string | undefined;
  readonly url?: string;
  readonly key?: string;
}

const HELP = `
The command gets the experiment in SPANHOUSE_EXPERIMENT_ID, with SPANHOUSE_PROJECT_ID, SPANHOUSE_DATASET,
SPANHOUSE_DATASET_VERSION, SPANHOUSE_REPETITIONS, SPANHOUSE_URL and SPANHOUSE_KEY. The rules are the body of a
comparison without its experiments, such as {"metrics": [{"name": "correct", "rule": "no_regression"}]}. With --prompt, they
may have the settings of the run, too: "run": {"model": "gpt-4o-mini", "max_cost": 2}.

Exit codes: 0 passed, 1 regression, 2 undecided (with --strict; else 0), 3 could not run.

Examples:
  spanhouse ci --dataset support@production --baseline baseline --rules gate.json -- python eval.py
  spanhouse ci --dataset support@production --prompt answer@candidate --rules gate.json`;

/** Compares this code with a baseline. @param name how the command was called, for its help */
export function ciCommand(name: string): Command {
  return new Command(name)
    .description(
      'Creates an experiment by running your command, or a prompt on the server. Has judges evaluate it, and compares it with a baseline.',
    )
    .argument('[command...]', 'command that stores the results, after --')
    .option('--dataset <name[@version]>', 'dataset to run on, and its version: a number or a tag')
    .option('--prompt <slug[@version]>', 'prompt for the server to run instead, and its version: a number or a tag')
    .option('--resume <id>', 'resume this experiment instead: wait for its run and judges, then compare it')
    .requiredOption('--rules <file>', 'JSON file with the metrics and their rules')
    .option('--baseline <tag>', 'tag or id of the experiment to compare with', 'baseline')
    .option('--name <name>', 'name of the experiment (default: branch and commit)')
    .option('--repetitions <n>', 'how often each row is tried', repetitions)
    .option('--pin <tag>', 'point this tag to the experiment if it passed, or if there is no baseline yet')
    .option('--junit <file>', 'write a JUnit report')
    .option('--markdown <file>', 'write a report as Markdown, which $GITHUB_STEP_SUMMARY gets in any case')
    .option('--strict', 'fail if the comparison is undecided')
    .addOption(urlOption())
    .addOption(keyOption('API key of the project'))
    .addHelpText('after', HELP)
    .showHelpAfterError()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT.notRun))
    .action(async (command: readonly string[], given: Options, self: Command) => {
      const { url, key, ...options } = given;
      try {
        const candidate = candidateOf(command, given);
        if (key === undefined) throw new CiError(`Give an API key of the project with --key, or set ${KEY_VARIABLE}`);
        const server = url ?? localUrl(loadConfig().http);
        const named = self.getOptionValueSource('url') === 'cli' ? { url } : {};
        const connection = { SPANHOUSE_URL: server, SPANHOUSE_KEY: key };
        process.exitCode = await runCi(new Remote(server, key), connection, { ...options, ...named, candidate });
      } catch (error) {
        printFailure(isRefusedKey(error) ? new CiError(REFUSED_KEY) : error);
        process.exitCode = EXIT.notRun;
        // What was waited for may still be asked for.
        if (error instanceof InterruptedError) process.exit();
      }
    });
}

/** Options that say what a new experiment is. */
const OF_NEW = ['dataset', 'name', 'repetitions'] as const;

/** @throws CiError unless it is one */
function candidateOf(command: readonly string[], options: Options): Candidate {
  const { dataset, prompt, resume } = options;
  const given = [command.length > 0, prompt !== undefined, resume !== undefined].filter(Boolean);
  if (given.length !== 1)
    throw new CiError('Give exactly one of these: a command after -- that stores the results, --prompt, or --resume.');
  if (resume !== undefined) {
    const fixed = OF_NEW.find((name) => options[name] !== undefined);
    if (fixed !== undefined)
      throw new CiError(`--${fixed} cannot be combined with --resume: the experiment exists already.`);
    return { resume };
  }
  if (dataset === undefined) throw new CiError('Set the dataset to run on with --dataset.');
  return prompt === undefined ? { command, dataset } : { prompt, dataset };
}

/** The command may take hours, in which a key expires or is deleted. */
const REFUSED_KEY = 'The server rejected the API key: it is invalid, has expired, or was deleted during the run.';

const isRefusedKey = (error: unknown) => error instanceof RefusedError && error.problem.status === 401;

function repetitions(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= 1 && value <= 32) return value;
  throw new InvalidArgumentError('Must be a whole number from 1 to 32.');
}
