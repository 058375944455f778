import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startProgress } from '../scripts/progress.js';
import { Remote } from '../scripts/transfer/remote.js';
import { png } from '../test/attachments/images.js';
import { SPANS_PER_TRACE } from './data.js';
import { fill } from './fill.js';
import { startServerProcess } from './processes/server.js';

/** A project, with the key that it is called by. */
export interface Project {
  readonly name: string;
  readonly id: string;
  readonly key: string;
}

const project = (name: string, number: number): Project => ({
  name,
  id: `0197f3a0-0000-7000-8000-0000000be0${String(number).padStart(2, '0')}`,
  key: `sk_sh_key_of_the_bench_years_${name}`,
});

/** Half of the spans, three tenths, two tenths. */
export const FILLED = { large: project('large', 1), middle: project('middle', 2), small: project('small', 3) };
/** Of the client that writes all the time. */
export const WRITTEN = project('written', 4);
/** Where the small project is imported, on another server. */
export const IMPORTED = project('imported', 5);

const { large, middle, small } = FILLED;
const SHARES = [large, middle, small, large, middle, large, middle, small, large, large];
const DAYS = 60;
const DAY_MS = 86_400_000;
/** Spans of each project that have feedback, one from each such part of the time. */
const REVIEWED = 30;
const IMAGES = 2;
const IMAGE_WIDTH = 300;

/** What was filled in, as it is noted beside the data. */
export interface Filled {
  readonly spans: number;
  readonly seed: number;
  /** When the first trace started, and the last one, in Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

export const dataDirOf = (folder: string) => join(folder, 'data');
const noteOf = (folder: string) => join(folder, 'years.json');

/**
 * Fills a folder, or takes what is in it when it was filled so.
 * @throws Error when there is something else in it
 */
export async function filled(folder: string, spans: number, seed: number): Promise<Filled> {
  await mkdir(folder, { recursive: true });
  if (existsSync(noteOf(folder))) {
    const known = JSON.parse(await readFile(noteOf(folder), 'utf8')) as Filled;
    if (known.spans === spans && known.seed === seed) return known;
    throw new Error(`${folder} has ${known.spans} spans of seed ${known.seed}: name another folder, or ask for these`);
  }
  if ((await readdir(folder)).length > 0)
    throw new Error(`${folder} is neither empty nor filled by this bench, or its filling was cut off: remove it`);
  const traces = Math.ceil(spans / SPANS_PER_TRACE);
  const msBetweenTraces = Math.floor((DAYS * DAY_MS) / traces);
  const from = Date.now() - traces * msBetweenTraces;
  const spread = { firstStart: from, msBetweenTraces, projects: SHARES.map(({ id }) => id) };
  await fill(dataDirOf(folder), spans, seed, spread);
  await makeProjects(dataDirOf(folder));
  const note = { spans, seed, from, to: from + traces * msBetweenTraces };
  await addByApi(dataDirOf(folder), note);
  await writeFile(noteOf(folder), JSON.stringify(note));
  return note;
}

/** A start makes sure of one project. */
async function makeProjects(dataDir: string): Promise<void> {
  for (const { id, key } of [...Object.values(FILLED), WRITTEN]) {
    const env = { SPANHOUSE_INIT_PROJECT_ID: id, SPANHOUSE_INIT_API_KEY: key };
    await (await startServerProcess({ dataDir, env })).stop();
  }
}

/** What is not spans alone: a prompt, feedback through all of the time, and images. */
async function addByApi(dataDir: string, note: Filled): Promise<void> {
  const server = await startServerProcess({ dataDir });
  const progress = startProgress('adding feedback and images', 3 * REVIEWED, 'spans');
  try {
    let done = 0;
    for (const { key } of Object.values(FILLED)) {
      const remote = new Remote(server.url, key);
      await remote.post('/v1/tasks/answer/prompt/versions/ensure', JSON.stringify({ content: 'Answer {{question}}' }));
      for (let at = 0; at < REVIEWED; at += 1) {
        await review(remote, note, at);
        progress.update((done += 1));
      }
    }
    await new Remote(server.url, small.key).post('/spans', JSON.stringify(shown(note)));
    await server.settled();
  } finally {
    progress.stop();
    await server.stop();
  }
}

async function review(remote: Remote, { from, to }: Filled, at: number): Promise<void> {
  const before = new Date(from + ((to - from) * (at + 0.5)) / REVIEWED).toISOString();
  const [span] = await remote.get<{ id: string }[]>(`/spans?span_kind=llm&started_before=${before}&limit=1&fields=id`);
  // The first copies of the pool are of other projects.
  if (span === undefined) return;
  const feedback = { thumbs_up: at % 3 > 0, reason: 'Said by the bench', expected_output: 'Something better' };
  await remote.post(`/v1/prompts/answer/completions/${span.id}/feedback`, JSON.stringify(feedback));
}

/** Spans with an image each, in the older half and in the younger one. */
function shown({ from, to }: Filled): object[] {
  return Array.from({ length: IMAGES }, (_none, at) => ({
    id: crypto.randomUUID(),
    trace_id: crypto.randomUUID(),
    name: 'draw',
    started_at: new Date(from + ((to - from) * (at + 0.5)) / IMAGES).toISOString(),
    attributes: { attachments: [{ type: 'image', label: 'drawn', base64: png(IMAGE_WIDTH).toString('base64') }] },
  }));
}
