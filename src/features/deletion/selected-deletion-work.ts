import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { parseTimestampText, type Micros } from '../../engine/timestamp.js';
import type { DeletedThing, StoredSpans } from '../../engine/traces/model/deletion/stored-spans.js';
import { listDefinitions, type ListName } from '../../engine/traces/model/list/definitions.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import { querySelecting } from '../../engine/traces/model/list/selection.js';
import { atMost, newestFirst, WALK_KEYS } from '../../engine/traces/model/list/walk.js';
import { restMs, type Governor } from '../../engine/work/governor.js';
import { TO_BE_CONTINUED, type JobContext, type JobWork } from '../../engine/work/job-work.js';
import { unlessAborted } from '../../engine/work/unless-aborted.js';
import type { DeletionService } from './deletion-service.js';
import { countOf, NOTHING_DELETED, type SelectedCheckpoint, type SelectedInput } from './selected-deletion-job.js';

export interface SelectedDeletionParts {
  readonly lists: Lists;
  readonly spans: Pick<StoredSpans, 'within' | 'changedSince'>;
  readonly deletions: Pick<DeletionService, 'removeSelected' | 'finishSelected'>;
  /** Takes what is deleted out of the tables, so that it does not pile up before the next portion. */
  readonly purge: () => Promise<void>;
  readonly governor: Pick<Governor, 'storeIsUsed'>;
  /** Whether the project was deleted. */
  readonly isGone: (projectId: string) => boolean;
  /** Objects of a portion; default: as many as the list says. */
  readonly atOnce?: number;
}

/** Objects that go together, and the fields by which they do. */
const PORTIONS: Readonly<Record<ListName, { readonly atOnce: number; readonly fields: readonly string[] }>> = {
  spans: { atOnce: 20_000, fields: ['id', 'trace_id', 'started_at'] },
  traces: { atOnce: 10_000, fields: ['id', 'started_at', 'span_count'] },
  sessions: { atOnce: 500, fields: ['id', 'created_at', 'trace_count'] },
};
/** Spans, or traces, in the objects of a portion that has more than one. */
const WITHIN_AT_ONCE = 100_000;
/** Removed spans between two purges: reads leave each of them out until then. */
const PURGED_AT_ONCE = 900_000;

/** An object of a list, as far as its deletion needs it. */
interface Found {
  readonly id: string;
  readonly trace_id?: string;
  readonly started_at?: string;
  readonly created_at?: string;
  readonly span_count?: number;
  readonly trace_count?: number;
}

/** Deletes what a job's filters find, each attempt a portion, the newest first. */
export function selectedDeletionWork(parts: SelectedDeletionParts): JobWork {
  let unpurged = 0;
  return async (context) => {
    const began = performance.now();
    const portion = new Portion(parts, context);
    const removed = await unlessAborted(portion.remove(), context.signal);
    if (removed === null) return null;
    unpurged += removed;
    if (unpurged >= PURGED_AT_ONCE) {
      unpurged = 0;
      await unlessAborted(parts.purge(), context.signal);
    }
    // Calls of clients go first.
    if (parts.governor.storeIsUsed)
      await sleep(restMs('upkeep', performance.now() - began), undefined, { signal: context.signal, ref: false });
    return TO_BE_CONTINUED;
  };
}

/** One attempt of one portion. */
class Portion {
  readonly #parts: SelectedDeletionParts;
  readonly #context: JobContext;
  readonly #input: SelectedInput;
  #checkpoint: SelectedCheckpoint;

  constructor(parts: SelectedDeletionParts, context: JobContext) {
    this.#parts = parts;
    this.#context = context;
    this.#input = context.job.input as SelectedInput;
    this.#checkpoint = (context.job.checkpoint as SelectedCheckpoint | null) ?? NOTHING_DELETED;
  }

  /** @returns about how many spans went; null: there is nothing left */
  async remove(): Promise<number | null> {
    const { job, enter, signal } = this.#context;
    if (this.#parts.isGone(job.project_id)) return null;
    enter('deleting', countOf(this.#input));
    const target = { id: job.id, whole: this.#input.list === 'traces' };
    // Half of a portion whose deletion failed would be taken for changed by someone else.
    if (this.#checkpoint.going !== null) await this.#parts.deletions.finishSelected(job.project_id, target);
    const found = await this.#next();
    signal.throwIfAborted();
    this.#countInterrupted(found);
    if (found.length === 0) return null;
    const changed = await this.#changed(found);
    signal.throwIfAborted();
    const going = found.filter(({ id }) => !changed.has(id));
    const [first] = going;
    if (first !== undefined) {
      this.#keep({ going: { first: keyOf(first), count: going.length } });
      const below = { upTo: this.#input.found.upTo, things: this.#things(going) };
      await this.#parts.deletions.removeSelected(job.project_id, target, below);
    }
    this.#done(found, going, changed);
    return going.reduce((sum, each) => sum + weightOf(each), 0);
  }

  /** The newest objects that are found and were not looked at before. */
  async #next(): Promise<readonly Found[]> {
    const { list: name, selection, found } = this.#input;
    const { before, staying } = this.#checkpoint;
    const list = listDefinitions[name];
    const { atOnce, fields } = PORTIONS[name];
    const selected = querySelecting(list, selection);
    const since = atMost(list, selected.filters, 'created_before', found.upTo);
    const filters = atMost(list, since, WALK_KEYS[name].before, before ?? undefined);
    const limit = this.#parts.atOnce ?? atOnce;
    const query = { ...selected, ...newestFirst(list), filters, fields, limit, offset: staying };
    const { json } = await this.#parts.lists[name](this.#context.job.project_id, query, this.#context.signal);
    const rows = JSON.parse(Buffer.isBuffer(json) ? json.toString() : await text(json)) as Found[];
    let weight = 0;
    const end = rows.findIndex((row, index) => (weight += weightOf(row)) > WITHIN_AT_ONCE && index > 0);
    return end === -1 ? rows : rows.slice(0, end);
  }

  /** Of a portion that was interrupted by a crash, all goes once it is ordered: then nothing of it is found again. */
  #countInterrupted(found: readonly Found[]): void {
    const { going, deleted } = this.#checkpoint;
    if (going === null) return;
    const isThere = found.some((object) => keyOf(object) === going.first);
    this.#keep({ going: null, deleted: isThere ? deleted : deleted + going.count });
  }

  /** Objects that anything was written to after the dry run, also what they are selected by: they stay. */
  #changed(found: readonly Found[]): Promise<ReadonlySet<string>> {
    const { list, selection, found: plan } = this.#input;
    const since = { after: plan.upTo, scores: selection.scores.map(([name]) => name) };
    return this.#parts.spans.changedSince(this.#context.job.project_id, list, found, since);
  }

  async *#things(going: readonly Found[]): AsyncGenerator<readonly DeletedThing[]> {
    const { list } = this.#input;
    const ids = going.map(({ id }) => id);
    if (list !== 'spans') yield* this.#parts.spans.within(this.#context.job.project_id, list, ids);
    else
      yield going.map(({ id, trace_id = '', started_at = '' }) => ({
        ...({ kind: 'span', trace_id, id } as const),
        started_at: parseTimestampText(started_at) ?? 0,
      }));
  }

  #done(found: readonly Found[], going: readonly Found[], changed: ReadonlySet<string>): void {
    const last = found.at(-1);
    if (last === undefined) return;
    const { before, staying, deleted } = this.#checkpoint;
    const time = this.#timeOf(last);
    const stay = found.filter((each) => changed.has(each.id) && this.#timeOf(each) === time).length;
    this.#keep({
      before: time,
      staying: time === before ? staying + stay : stay,
      going: null,
      deleted: deleted + going.length,
    });
  }

  #timeOf(object: Found): Micros {
    return parseTimestampText(object[WALK_KEYS[this.#input.list].time] ?? '') ?? 0;
  }

  #keep(part: Partial<SelectedCheckpoint>): void {
    this.#checkpoint = { ...this.#checkpoint, ...part };
    this.#context.advance(this.#checkpoint.deleted, this.#checkpoint);
  }
}

function keyOf({ id, trace_id = '' }: Found): string {
  return `${trace_id}/${id}`;
}

/** About how many spans, or traces, go with an object. */
function weightOf({ span_count, trace_count }: Found): number {
  return 1 + (span_count ?? trace_count ?? 0);
}
