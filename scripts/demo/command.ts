import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { startProgress } from '../progress.js';
import { loadConfig, publicUrl } from '../../src/config/config.js';
import { IdentityService } from '../../src/domain/identity/identity-service.js';
import type { SessionRead, TraceRead } from '../../src/domain/list/fields.js';
import { metadataFile, openMetadataStore } from '../../src/storage/sqlite/metadata-store.js';
import { Api, DemoError } from './api.js';
import { tellStory, type DemoRequest } from './story.js';

interface Options {
  readonly url?: string;
  readonly key?: string;
  readonly seed: number;
  readonly sessions: number;
}

/** @param name how the command was called, for its help */
export function demoCommand(name: string): Command {
  return new Command(name)
    .description(
      'Sends an hour of an agent application to a running server, through its public API: sessions, nested traces, model ' +
        'calls, tools, errors and retries. Without --key it makes itself a key in the DATA_DIR of this machine.',
    )
    .addOption(
      new Option('--url <url>', 'URL of the server (default: the local one, by HOST, PORT and PUBLIC_URL)').env(
        'SPANHOUSE_URL',
      ),
    )
    .addOption(
      new Option('--key <key>', 'API key of the server (default: SPANHOUSE_KEY, else a new key)').env(
        'SPANHOUSE_API_KEY',
      ),
    )
    .option(
      '--seed <n>',
      'seed of the data: the same seed sends the same spans, replacing those sent before (default: random)',
      number(0, 2 ** 31),
      randomInt(1_000_000),
    )
    .option('--sessions <n>', 'number of sessions to send', number(1, 1000), 40)
    .showHelpAfterError()
    .action(async (options: Options) => {
      try {
        await demo(options);
      } catch (error) {
        if (!(error instanceof DemoError)) throw error;
        process.stderr.write(`${error.message}\n`);
        process.exitCode = 1;
      }
    });
}

async function demo({ url: given, key: givenKey, seed, sessions }: Options): Promise<void> {
  const config = loadConfig();
  const url = (given ?? publicUrl(config.http, config.http.port)).replace(/\/+$/, '');
  await requireServer(url);
  const made = givenKey === undefined && process.env['SPANHOUSE_KEY'] === undefined;
  const key = givenKey ?? process.env['SPANHOUSE_KEY'] ?? makeKey(config.dataDir);
  const api = new Api(url, key);
  if ((await api.get('/sessions?limit=1')).status === 401) throw new DemoError(refusedKey(url, made, config.dataDir));

  // Told again, a story replaces its earlier telling; the tag says which one a span is of.
  const until = Date.now();
  const run = `${seed}-${until.toString(36)}`;
  const story = tellStory({ seed, sessions, until, run });
  await send(api, story);
  const counts = await readBack(api, run);
  process.stdout.write(summary(story, counts));
  process.stdout.write(await suggestions(api, url, run, made ? key : null));
}

async function requireServer(url: string): Promise<void> {
  const health = await fetch(`${url}/healthz`).catch(() => null);
  if (health?.ok !== true)
    throw new DemoError(
      `No Spanhouse server answers at ${url}. Start one with \`npm start\` in another terminal, or name yours with --url.`,
    );
}

/** A key like those of `npm run admin -- create-key`, for the oldest project. */
function makeKey(dataDir: string): string {
  const needed = 'Give an API key with --key, or set SPANHOUSE_API_KEY.';
  if (!existsSync(metadataFile(dataDir)))
    throw new DemoError(`There is no server's data in ${dataDir} to make a key in. ${needed}`);
  const metadata = openMetadataStore(dataDir);
  const identity = new IdentityService({ store: metadata.identities });
  try {
    const [project] = identity.listProjects();
    const [user] = identity.listUsers();
    if (project === undefined || user === undefined)
      throw new DemoError(`There is no project in ${dataDir} yet. ${needed}`);
    return identity.createKey({ projectId: project.id, userId: user.id, name: 'demo' }).key;
  } finally {
    identity.close();
    metadata.close();
  }
}

function refusedKey(url: string, made: boolean, dataDir: string): string {
  if (!made) return `The server at ${url} does not know this API key.`;
  return `The server at ${url} does not use the data in ${dataDir}. Run this with its DATA_DIR, or give one of its keys with --key.`;
}

async function send(api: Api, story: readonly DemoRequest[]): Promise<void> {
  const progress = startProgress('sending', story.length, 'traces');
  try {
    for (const [index, { spans, again }] of story.entries()) {
      await api.postSpans(spans);
      if (again) await api.postSpans(spans);
      progress.update(index + 1);
    }
  } finally {
    progress.stop();
  }
}

interface Counts {
  readonly sessions: number;
  readonly traces: number;
  readonly spans: number;
  readonly errors: number;
  readonly cost: number;
}

/** Counts of this run, as the server answers them. */
async function readBack(api: Api, run: string): Promise<Counts> {
  const tag = `demo=${encodeURIComponent(run)}&count=true`;
  const spans = await api.list(`/spans?${tag}&limit=1`);
  const errors = await api.list(`/spans?${tag}&limit=1&has_error=true`);
  const traces = await api.list(`/traces?${tag}&limit=1`);
  const sessions = await api.list(`/sessions?${tag}&limit=500`);
  const cost = (sessions.items as SessionRead[]).reduce((sum, session) => sum + (session.cost ?? 0), 0);
  return { sessions: sessions.total, traces: traces.total, spans: spans.total, errors: errors.total, cost };
}

function summary(story: readonly DemoRequest[], counts: Counts): string {
  const spans = story.flatMap((request) => request.spans);
  const twice = story.filter(({ again }) => again);
  const sessions = new Set(spans.map(({ session }) => session?.id)).size;
  const failed = spans.filter(({ status }) => status === 'error').length;
  const row = (name: string, sent: number, stored: number) =>
    `  ${name.padEnd(18)}${String(sent).padStart(8)}${String(stored).padStart(10)}\n`;
  return (
    `\n  ${''.padEnd(18)}${'sent'.padStart(8)}${'stored'.padStart(10)}\n` +
    row('sessions', sessions, counts.sessions) +
    row('traces', story.length, counts.traces) +
    row('spans', spans.length, counts.spans) +
    row('spans with errors', failed, counts.errors) +
    `\n  ${twice.length} of ${story.length} requests were sent twice; nothing is counted twice.\n` +
    `  The server priced the model calls: $${counts.cost.toFixed(4)} in all.\n`
  );
}

async function suggestions(api: Api, url: string, run: string, newKey: string | null): Promise<string> {
  const tag = `demo=${encodeURIComponent(run)}`;
  const { items } = await api.list(`/traces?${tag}&sort_by=cost&limit=1`);
  const [dearest] = items as TraceRead[];
  const curl = (path: string) => `  curl -sS '${url}${path}' -H "Authorization: Bearer $SPANHOUSE_KEY"\n`;
  return (
    (newKey === null
      ? '\nWith your key in SPANHOUSE_KEY:\n\n'
      : `\nA key was made for you; keep it in this terminal:\n\n  export SPANHOUSE_KEY=${newKey}\n\n`) +
    `The dearest traces\n${curl(`/traces?sort_by=cost&limit=5&${tag}`)}` +
    (dearest === undefined
      ? ''
      : `All spans of the dearest one\n${curl(`/spans?trace_id=${dearest.id}&sort_by=started_at&sort_order=asc`)}`) +
    `Errors, with their stack traces\n${curl(`/spans?has_error=true&limit=10&fields=name,error_code,error_message,error_stack&${tag}`)}` +
    `Slow model calls\n${curl(`/spans?span_kind=llm&sort_by=duration_ms&limit=10&fields=name,duration_ms,cost,attributes&${tag}`)}` +
    `Sessions by cost\n${curl(`/sessions?sort_by=cost&limit=10&${tag}`)}` +
    `What one feature did\n${curl(`/traces?feature=order-desk&environment=production&${tag}`)}` +
    `Every call of the API\n  ${url}/docs\n`
  );
}

function number(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };
}
