import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { KEY_VARIABLE, keyOption } from '../client-options.js';
import { startProgress } from '../progress.js';
import { loadConfig, publicUrl } from '../../src/config/config.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { metadataFile, openMetadataStore } from '../../src/compose/metadata-store.js';
import type { WhoAmI } from '../../src/features/sign-in/http/schema.js';
import { Api, DemoError } from './api.js';
import { makeDashboard } from './dashboards.js';
import { judge } from './judge.js';
import { collectFeedback, reviewsOf } from './people.js';
import { forEach } from './pool.js';
import { makePrompts } from './prompts.js';
import { tellStory, type DemoRequest } from './story.js';
import { findings, readBack, suggestions, summary, type Found } from './summary.js';
import { HOUSE_MODEL } from './models.js';

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
      'Sends one hour of data from an agent application to a running server, through its public API: sessions, nested traces, model ' +
        'calls, tools, errors and retries, with prompt versions and a dashboard; feedback on the answers, and a judge with corrections, ' +
        'evaluated by a stand-in that calls no model. Without --key, it creates a key in the DATA_DIR of this machine.',
    )
    .addOption(
      new Option('--url <url>', 'URL of the server (default: the local one, by HOST, PORT and PUBLIC_URL)').env(
        'SPANHOUSE_URL',
      ),
    )
    .addOption(keyOption('API key of the server (default: a new key)'))
    .option(
      '--seed <n>',
      'seed of the data: the same seed sends the same data, replacing what was sent before (default: random)',
      number(0, 2 ** 31),
      randomInt(1_000_000),
    )
    .option('--sessions <n>', 'number of sessions to send', number(1, 1000), 120)
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
  const made = givenKey === undefined;
  const key = givenKey ?? makeKey(config.dataDir);
  const api = new Api(url, key);
  const caller = await callerOf(api, refusedKey(url, made, config.dataDir));

  // Told again, a story replaces its earlier telling; the tag says which one a span is of.
  const until = Date.now();
  const run = `${seed}-${until.toString(36)}`;
  const prompts = await makePrompts(api, caller.projectId);
  await setPrice(api, caller.projectId);
  await makeDashboard(api, caller.projectId);
  const story = tellStory({ seed, sessions, until, run, prompts });
  await send(api, story);
  const found = await evaluate(api, { ...caller, seed }, story);
  process.stdout.write(summary(story, await readBack(api, run)));
  process.stdout.write(findings(found));
  process.stdout.write(await suggestions(api, { ...caller, run, judgeId: found.judge_id, newKey: made ? key : null }));
}

interface Caller {
  readonly projectId: string;
  readonly userName: string;
}

async function callerOf(api: Api, refused: string): Promise<Caller> {
  if ((await api.get('/whoami')).status === 401) throw new DemoError(refused);
  const { user, project, key } = await api.read<WhoAmI>('/whoami');
  if (key !== null && key.access !== 'full')
    throw new DemoError(`This API key has "${key.access}" access. The demo needs full access.`);
  return { projectId: project.id, userName: user.name };
}

async function requireServer(url: string): Promise<void> {
  const health = await fetch(`${url}/healthz`).catch(() => null);
  if (health?.ok !== true)
    throw new DemoError(
      `No Spanhouse server responds at ${url}. Start one with \`npm start\` in another terminal, or name yours with --url.`,
    );
}

/** A key like those of `npm run admin -- create-key`, for the oldest project. */
function makeKey(dataDir: string): string {
  const needed = `Give an API key with --key, or set ${KEY_VARIABLE}.`;
  if (!existsSync(metadataFile(dataDir)))
    throw new DemoError(`No server data in ${dataDir} to create a key in. ${needed}`);
  const metadata = openMetadataStore(dataDir);
  const identity = new IdentityService({ store: metadata.identities });
  try {
    const [project] = identity.listProjects();
    const [user] = identity.listUsers();
    if (project === undefined || user === undefined) throw new DemoError(`No project in ${dataDir} yet. ${needed}`);
    return identity.createKey({ projectId: project.id, userId: user.id, name: 'demo' }).key;
  } finally {
    identity.close();
    metadata.close();
  }
}

function refusedKey(url: string, made: boolean, dataDir: string): string {
  if (!made) return `The server at ${url} does not accept this API key.`;
  return `The server at ${url} does not use the data in ${dataDir}. Run this with its DATA_DIR, or pass one of its keys with --key.`;
}

/** A price of the project's own, from which on calls of the made-up model have a cost. */
async function setPrice(api: Api, projectId: string): Promise<void> {
  const { provider, model } = HOUSE_MODEL;
  const price = { input_per_million: 0.12, output_per_million: 0.48, cache_read_per_million: 0.03 };
  await api.send('PUT', `/projects/${projectId}/model-prices/${provider}/${model}`, price);
}

async function send(api: Api, story: readonly DemoRequest[]): Promise<void> {
  const one = async ({ spans, again }: DemoRequest) => {
    await api.postSpans(spans);
    if (again) await api.postSpans(spans);
  };
  await shown('sending', story.length, 'traces', (progress) => forEach(story, one, progress));
}

/** What the judge's stand-in and people say of the answers. */
async function evaluate(
  api: Api,
  { projectId, userName, seed }: Caller & { readonly seed: number },
  story: readonly DemoRequest[],
): Promise<Found> {
  const completions = story.flatMap(({ completion }) => completion ?? []);
  const reviews = reviewsOf(completions, seed);
  const judged = await shown('evaluating', completions.length, 'answers', (progress) =>
    judge(api, { projectId, seed, completions }, progress),
  );
  const collected = await shown('reviewing', reviews.length, 'answers', (progress) =>
    collectFeedback(api, { projectId, userName, reviews }, progress),
  );
  return { ...judged, ...collected };
}

async function shown<T>(
  label: string,
  total: number,
  unit: string,
  work: (progress: (done: number) => void) => Promise<T>,
): Promise<T> {
  const progress = startProgress(label, total, unit);
  try {
    return await work((done) => {
      progress.update(done);
    });
  } finally {
    progress.stop();
  }
}

function number(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`Must be a whole number from ${minimum} to ${maximum}.`);
  };
}
