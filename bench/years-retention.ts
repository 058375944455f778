import { setTimeout as sleep } from 'node:timers/promises';
import { startProgress } from '../scripts/progress.js';
import { bytesBelow } from './data-dir.js';
import { figure } from './figures.js';
import { FILLED, type Project } from './years-data.js';
import { requireAllSame, saidOfAll } from './years-figures.js';
import { admin, type Done, type Scene, type Step } from './years-scene.js';

interface Count {
  readonly traces: number;
  readonly spans: number;
}

interface Forecast {
  readonly before: string;
  readonly going: Count;
  readonly kept: { readonly tagged: Count; readonly with_feedback: Count };
}

interface Outlook extends Forecast {
  readonly project: Project;
}

const DAY_MS = 86_400_000;
/** Behind the moment up to which traces go: while it is removed, more become as old. */
const MARGIN_MS = DAY_MS / 4;
/** Before that moment: a trace goes when nothing in it is newer. */
const LONGEST_TRACE_MS = 60_000;
const LOOK_MS = 1_000;
const REMOVED = 'spanhouse_retention_spans_total';
/** Spans that are taken in to be compared with those that go. */
const TAKEN_IN = 240_000;
/** How often the server looks for what is too old. */
export const RETENTION = { RETENTION_INTERVAL_SECONDS: '10' };
/** ClickHouse removes parts that were replaced eight minutes later. */
const PARTS_STAY_MS = 10 * 60_000;
const SIZE_EVERY_MS = 15_000;

interface Retention {
  /** The share of what was filled in that goes, or went before. */
  readonly share: number;
  /** Whether clients write and read meanwhile. */
  readonly besideClients: boolean;
}

async function retain(scene: Scene, { share, besideClients }: Retention): Promise<Done> {
  const { from, to } = scene.filled;
  const days = Math.max(1, Math.round((Date.now() - from - (to - from) * share) / DAY_MS));
  const outlooks: Outlook[] = [];
  for (const project of Object.values(FILLED)) {
    const forecast = await scene.remote(project).get<Forecast>(`/projects/${project.id}/retention?days=${days}`);
    outlooks.push({ project, ...forecast });
  }
  const young = await saidOfYoung(scene, outlooks);
  const due = outlooks.reduce((sum, { going }) => sum + going.spans, 0);
  const bytes = await bytesBelow(scene.dataDir);
  const remove = async () => {
    for (const { project } of outlooks)
      await admin(scene.dataDir, ['retention', '--project', project.id, '--days', String(days), '--set']);
    await removed(scene, due);
  };
  const { timing, result: cpu } = besideClients
    ? await scene.timed(async () => `${await costs(scene, due, remove)}, with what clients cost`)
    : await scene.alone(() => costs(scene, due, remove));
  const equal = requireYoungSame(young, await saidOfYoung(scene, outlooks));
  const old = await requireOldGone(scene, outlooks);
  const freed = bytes - (await bytesBelow(scene.dataDir));
  return { spans: due, bytes: Math.max(0, freed), timing, equal: equal + old, note: `${days} days are kept; ${cpu}` };
}

/** What is taken in costs as a client sends it that knows how, for comparison. */
async function takeIn(scene: Scene): Promise<Done> {
  const { timing, result: cpu } = await scene.alone(() => costs(scene, TAKEN_IN, () => scene.takeIn(TAKEN_IN)));
  return { spans: TAKEN_IN, bytes: NaN, timing, equal: 0, note: cpu };
}

/** Does work, and says what processor time it takes. */
async function costs(scene: Scene, spans: number, work: () => Promise<void>): Promise<string> {
  const began = scene.cpuMs();
  await work();
  const ended = scene.cpuMs();
  const perSpan = (of: 'engine' | 'server') => figure(((ended[of] - began[of]) * 1000) / spans);
  return `${perSpan('engine')} µs of the engine and ${perSpan('server')} of the server for each span`;
}

async function removed(scene: Scene, due: number): Promise<void> {
  const before = await scene.metric(REMOVED);
  const progress = startProgress('retention', due, 'spans');
  try {
    for (let done = 0; done < due;) {
      await sleep(LOOK_MS);
      progress.update((done = (await scene.metric(REMOVED)) - before));
    }
  } finally {
    progress.stop();
  }
}

/** What is said of all that stays for certain, by project and list. */
async function saidOfYoung(scene: Scene, outlooks: readonly Outlook[]): Promise<Map<string, string>> {
  const totals = new Map<string, string>();
  for (const { project, before } of outlooks)
    for (const list of ['spans', 'traces', 'sessions']) {
      const since = new Date(Date.parse(before) + MARGIN_MS).toISOString();
      const answer = await scene.remote(project).get<{ totals: object }>(`/${list}:stats?started_after=${since}`);
      totals.set(`${list} of ${project.name}`, JSON.stringify(answer.totals));
    }
  return totals;
}

function requireYoungSame(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): number {
  for (const [list, totals] of before)
    if (after.get(list) !== totals)
      throw new Error(`the younger ${list} differ:\n${totals} before\n${String(after.get(list))} after`);
  return before.size;
}

/** @throws Error unless of what is too old just that is left which has feedback or the tag */
async function requireOldGone(scene: Scene, outlooks: readonly Outlook[]): Promise<number> {
  for (const { project, before, kept } of outlooks) {
    const until = new Date(Date.parse(before) - LONGEST_TRACE_MS).toISOString();
    const { totals } = await scene
      .remote(project)
      .get<{ totals: { count: number } }>(`/traces:stats?started_before=${until}`);
    const staying = kept.tagged.traces + kept.with_feedback.traces;
    if (totals.count !== staying)
      throw new Error(`${totals.count} old traces of ${project.name} are left, and ${staying} were to be kept`);
  }
  return outlooks.length;
}

async function erase(scene: Scene): Promise<Done> {
  // Meanwhile, more becomes too old.
  for (const { id } of Object.values(FILLED))
    await admin(scene.dataDir, ['retention', '--project', id, '--days', 'forever', '--set']);
  const before = await saidOfAll(scene.url);
  const bytes = await bytesBelow(scene.dataDir);
  const { timing } = await scene.timed(() => admin(scene.dataDir, ['erase']));
  const gone = await filesGone(scene);
  const equal = requireAllSame(before, await saidOfAll(scene.url));
  const note = `the files were gone ${Math.round(gone.afterMs / 1000)} s later`;
  return { spans: NaN, bytes: Math.max(0, bytes - gone.bytes), timing, equal, note };
}

/** Waits until parts that were replaced have left the disk. */
async function filesGone({ dataDir }: Scene): Promise<{ bytes: number; afterMs: number }> {
  const progress = startProgress('replaced parts leave the disk', PARTS_STAY_MS / 1000, 's');
  const started = performance.now();
  let last = { bytes: await bytesBelow(dataDir), afterMs: 0 };
  try {
    for (let passed = 0; passed < PARTS_STAY_MS; passed = performance.now() - started) {
      await sleep(SIZE_EVERY_MS);
      const bytes = await bytesBelow(dataDir);
      if (bytes < last.bytes) last = { bytes, afterMs: performance.now() - started };
      progress.update(Math.round(passed / 1000));
    }
    return last;
  } finally {
    progress.stop();
  }
}

export const RETENTION_STEPS: readonly Step[] = [
  { name: 'take-in', needs: [], run: takeIn },
  { name: 'retention-alone', needs: [], run: (scene) => retain(scene, { share: 0.25, besideClients: false }) },
  { name: 'retention', needs: [], run: (scene) => retain(scene, { share: 0.5, besideClients: true }) },
  { name: 'erasure', needs: [], run: erase },
];
