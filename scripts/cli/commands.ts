import { Command, Option } from 'commander';
import { apiCalls, type ApiCall } from '../../src/http/api-calls.js';
import { KEY_VARIABLE, keyOption, urlOption } from '../client-options.js';
import { Remote } from '../transfer/remote.js';
import { ask, isPaged, type AskOptions } from './ask.js';
import { commandNames } from './command-names.js';
import { EXIT, fail, UsageError } from './failure.js';
import { flagsOf, valuesOf } from './flags.js';

interface Connection {
  readonly url?: string;
  readonly key?: string;
}

/** How long a server that is busy or restarts is waited for. */
const PATIENCE_MS = 3_000;

const EXIT_CODES = `
Exit codes: 0 done, 1 the server refused the request, 2 wrong arguments, 3 the key is missing or not allowed, 4 not found, 5 the
server does not answer. With --json and --jsonl, errors are JSON on standard error.`;

/** A command for each call that reads: its name, arguments and flags are those of the call. */
export function apiCommands(): Command[] {
  // Those of LangSmith's clients share names and flags with each other: nobody reads by hand what they read.
  const calls = [...apiCalls().values()].filter(({ method, tag }) => method === 'GET' && tag !== 'LangSmith');
  const names = commandNames(calls);
  return calls.map((call) => commandOf(call, names.get(call.id) ?? call.id));
}

/** The server and the key, as a command was given them. @throws UsageError without a key */
export async function remoteOf({ url, key }: Connection): Promise<Remote> {
  if (key === undefined) throw new UsageError(`Give an API key with --key, or set ${KEY_VARIABLE}.`);
  return new Remote(url ?? (await ownUrl()), key, PATIENCE_MS);
}

/** The settings of a server take long to load, and are read only where they are needed. */
async function ownUrl(): Promise<string> {
  const { loadConfig, localUrl } = await import('../../src/config/config.js');
  return localUrl(loadConfig().http);
}

/** The options that name the server and the key. */
export function connectionOptions(): Option[] {
  return [urlOption(), keyOption('API key of the project')];
}

function commandOf(call: ApiCall, name: string): Command {
  const inPath = call.parameters.filter(({ in: place, name }) => place === 'path' && name !== 'project_id');
  const flags = flagsOf(call);
  const command = new Command(name)
    .helpGroup(`${call.tag}:`)
    .summary(call.summary.charAt(0).toLowerCase() + call.summary.slice(1))
    .description(call.description)
    .addHelpText('after', EXIT_CODES)
    .showHelpAfterError('Add --help to see the arguments and flags of the command.')
    .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage));
  for (const { name: argument, schema } of inPath) command.argument(`<${argument}>`, schema.description);
  for (const { options } of flags) for (const option of options) command.addOption(option);
  for (const option of [...showOptions(call), ...connectionOptions()]) command.addOption(option);
  command.action(async (...given: readonly unknown[]) => {
    const options = command.opts<AskOptions & Connection>();
    try {
      const asked: Record<string, unknown> = { ...valuesOf(flags, options as Readonly<Record<string, unknown>>) };
      for (const [index, { name: argument }] of inPath.entries()) asked[argument] = given[index];
      const remote = await remoteOf(options);
      if (call.path.includes('{project_id}')) asked['project_id'] = (await remote.project(undefined)).id;
      await ask(remote, { call, values: asked }, options);
    } catch (error) {
      fail(error, options.json === true || options.jsonl === true);
    }
  });
  return command;
}

function showOptions(call: ApiCall): Option[] {
  if (call.answers === 'application/json')
    return [
      new Option('--json', 'print JSON'),
      new Option('--jsonl', 'print a line of JSON for each row'),
      ...(isPaged(call) ? [new Option('--all', 'print all rows, page by page')] : []),
    ];
  if (call.answers === 'text/event-stream') return [new Option('--jsonl', 'print a line of JSON for each row')];
  return [new Option('--out <file>', 'file to write; its ending chooses the format')];
}
