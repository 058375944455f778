import { NIL_UUID } from '../../src/engine/schema/ids.js';
import type { Progress, startProgress } from '../progress.js';
import type { Remote } from '../transfer/remote.js';
import { Batches } from './batches.js';
import { compareSample, compareWith, type Compared } from './compare.js';
import { ImportError } from './import-error.js';
import { ImportStateFile, type ImportProgress } from './import-state.js';
import { Leftovers, Sender } from './sender.js';
import type { Source, Step } from './step.js';
import { NOTHING, type Tally } from './tally.js';

export interface ImportTarget {
  readonly remote: Remote;
  readonly project: string;
  readonly retentionDays: number | null;
  readonly createdAt: string;
}

export interface ImportOptions {
  /** File that says how far an import is; null: one of its own. */
  readonly state: string | null;
  /** Whether to begin at the start of the source, whatever was noted. */
  readonly restart: boolean;
}

export interface ImportReport {
  readonly found: readonly string[];
  /** Of everything that was imported of the source, by earlier runs, too. */
  readonly tally: Tally;
  /** What this run read and did not take. */
  readonly left: Leftovers['reasons'];
  /** Null: nothing was sent, or it has no mark to count it by. */
  readonly compared: readonly Compared[] | null;
  readonly retentionDays: number | null;
  /** Null: nothing was noted. */
  readonly state: string | null;
}

/** A state is written at most this often: an import that ends in between sends a little twice. */
const NOTE_EVERY_MS = 500;

/**
 * Brings what a source has into the project of a server.
 * @param target null: nothing is sent
 * @throws ImportError, TransferError
 */
export async function runImport(
  source: Source,
  target: ImportTarget | null,
  options: ImportOptions,
  start: typeof startProgress,
): Promise<ImportReport> {
  const notes = target === null ? null : notesOf(source, target, options);
  const before = options.restart ? null : ((await notes?.read()) ?? null);
  const left = new Leftovers();
  const noter = new Noter(notes);
  const batches = new Batches(target === null ? null : new Sender(target.remote), before?.tally ?? NOTHING, {
    onStored: (progress) => noter.note(progress),
    onRefused: (refusal) => left.add(refusal),
  });
  const { total, unit } = source.size ?? { total: 1, unit: 'parts' };
  const progress = start('Import', total, unit);
  try {
    const steps = source.read(before?.cursor ?? null, target?.project ?? NIL_UUID);
    await readInto(steps, { batches, left, progress });
    await batches.end();
  } finally {
    progress.stop();
    await noter.end();
  }
  const { tally } = batches;
  const compared = target === null ? null : await comparedWith(source, target.remote, tally, left);
  return {
    found: source.found,
    ...{ tally, left: left.reasons, compared },
    retentionDays: target?.retentionDays ?? null,
    state: notes?.path ?? null,
  };
}

function comparedWith({ mark, sample }: Source, remote: Remote, tally: Tally, left: Leftovers): Promise<Compared[]> {
  if (mark !== null) return compareWith(remote, mark, tally);
  // Which of them were refused, nobody knows.
  return sample === undefined || left.reasons.length > 0 ? Promise.resolve([]) : compareSample(remote, sample);
}

function notesOf(source: Source, { remote, project, createdAt }: ImportTarget, { state }: ImportOptions) {
  const place = { source: source.identity, url: remote.url, project, project_created_at: createdAt };
  return new ImportStateFile(state, place);
}

interface Into {
  readonly batches: Batches;
  readonly left: Leftovers;
  readonly progress: Progress;
}

async function readInto(steps: AsyncIterable<Step>, { batches, left, progress }: Into): Promise<void> {
  for await (const step of steps) {
    if (step.type === 'left') left.add(step.left);
    else if (step.type === 'progress') progress.update(step.done);
    else await batches.add(step);
  }
}

/** Writes how far an import is, now and then, and at its end. */
class Noter {
  readonly #file: ImportStateFile | null;
  #last = 0;
  #waits: ImportProgress | null = null;

  constructor(file: ImportStateFile | null) {
    this.#file = file;
  }

  async note(progress: ImportProgress): Promise<void> {
    this.#waits = progress;
    if (performance.now() - this.#last >= NOTE_EVERY_MS) await this.end();
  }

  async end(): Promise<void> {
    if (this.#waits === null) return;
    const progress = this.#waits;
    this.#waits = null;
    await this.#file?.write(progress);
    this.#last = performance.now();
  }
}

interface ListedJudge {
  readonly name: string;
  readonly enabled: boolean;
}

/** The project of the key. @throws ImportError where judges would evaluate all that comes, unless that is wanted */
export async function targetOf(remote: Remote, judged: boolean): Promise<ImportTarget> {
  const { id: project } = await remote.project(undefined);
  const { retention_days: retentionDays, created_at: createdAt } = await remote.details(project);
  const judges = (await remote.get<readonly ListedJudge[]>(`/projects/${project}/judges`)).filter(
    ({ enabled }) => enabled,
  );
  if (judges.length > 0 && !judged)
    throw new ImportError(
      `The project has judges that evaluate what arrives, which costs money: ${judges.map(({ name }) => name).join(', ')}. ` +
        'Disable them during the import, or give --judged.',
    );
  return { remote, project, retentionDays, createdAt };
}
