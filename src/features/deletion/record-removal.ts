import { REMOVED_WITH_SPANS, type AttachmentVault } from '../images/vault.js';
import type { DeletionScope } from '../../engine/work/work-under-way.js';
import type { Affected, DeletedSpan, DeletedTrace, Deletion, DeletionStore } from './deletion-store.js';

/** Spans whose images and records go together, these by portions: neither requests nor other writers wait for more. */
const RECORDS_AT_ONCE = 100;
const LOOKED_UP_AT_ONCE = 500;

/** Jobs, each with the spans that it loses. */
export type DependentJobs = Map<string, Set<string>>;

/** Jobs and images that depend on deleted spans. */
export interface Dependents {
  readonly jobs: DependentJobs;
  /** Hashes of the first images that lost a reference. */
  readonly images: Set<string>;
}

/** Ids of what any record is about. */
export interface Recorded {
  readonly spans: ReadonlySet<string>;
  /** Traces that a judge was shown. */
  readonly traces: ReadonlySet<string>;
}

type Placed = Readonly<Record<'id' | 'trace_id', string>>;

/** Spans that are gone from the store of spans. */
export interface BuriedSpans {
  readonly spans: readonly Placed[];
  /** Those of them whose ids no other span has. */
  readonly ids: readonly string[];
  readonly recorded: Recorded;
  /** Those of which a later write stays, or may: records from after the order are about that. */
  readonly staying: ReadonlySet<string>;
}

export interface RecordRemovalParts {
  readonly store: DeletionStore;
  readonly images: Pick<AttachmentVault, 'forgetSpans'>;
  readonly giveUp: (scope: DeletionScope) => Promise<void>;
  /** Lets others have their turn. @throws when the deletion is interrupted */
  readonly rest: () => Promise<void>;
}

/** What the removal of a round concerns. */
interface Concerned {
  readonly judges: Set<string>;
  readonly jobs: Set<string>;
  isNew: boolean;
}

/** Removes what is kept beside deleted spans. */
export class RecordRemoval {
  readonly #parts: RecordRemovalParts;

  constructor(parts: RecordRemovalParts) {
    this.#parts = parts;
  }

  /** What any record is about: most spans have none, and looking is a small part of what removing costs. */
  async of(projectId: string, spans: readonly Placed[]): Promise<Recorded> {
    const { store } = this.#parts;
    const withRecords = (ids: readonly string[]) => store.withRecords(projectId, ids);
    const judged = (ids: readonly string[]) => store.judgedTraces(projectId, ids);
    // Most projects have no judge of more than spans.
    const traces = store.judgesTraces(projectId) ? await this.#among(tracesOf(spans), judged) : new Set<string>();
    return {
      spans: await this.#among(
        spans.map(({ id }) => id),
        withRecords,
      ),
      traces,
    };
  }

  /** Removes records, and has work in progress give up what it holds of the spans. */
  async remove(deletion: Deletion, buried: BuriedSpans, dependents: Dependents): Promise<void> {
    const { project_id: projectId } = deletion;
    let { recorded } = buried;
    const spans = new Set(buried.spans.map(({ id }) => id));
    // Work in progress may have stored more records meanwhile, so removal continues until there are none.
    for (let more = true, first = true; more; first = false) {
      if (!first) recorded = await this.of(projectId, buried.spans);
      const { judges, jobs, isNew } = await this.#removeRound(deletion, { ...buried, recorded }, dependents);
      more = first || judges.size > 0 || isNew;
      if (more) await this.#parts.giveUp({ projectId, spans, judges, jobs });
    }
  }

  /** Adds jobs that worked with spans which an earlier run of the deletion noted as shown. */
  addJobsShown(deletion: Deletion, { jobs }: Dependents): void {
    for (const { job_id, span_id } of this.#parts.store.jobsShown(deletion)) add(jobs, job_id, span_id);
  }

  async #removeRound(deletion: Deletion, buried: BuriedSpans, dependents: Dependents): Promise<Concerned> {
    const { store, images } = this.#parts;
    const concerned: Concerned = { judges: new Set(), jobs: new Set(), isNew: false };
    const hear = (affected: Affected) => heard(affected, concerned, dependents);
    const traces = judgedOf(buried);
    await this.#byPortions(traces, (left) => hear(store.removeJudged(deletion, left)));
    const having = buried.ids.filter((id) => buried.recorded.spans.has(id));
    for (let from = 0; from < having.length; from += RECORDS_AT_ONCE) {
      const part = having.slice(from, from + RECORDS_AT_ONCE);
      for (const image of images.forgetSpans(deletion.project_id, part, deletion.upto, deletion.created_at))
        if (dependents.images.size < REMOVED_WITH_SPANS) dependents.images.add(image);
      const spans: readonly DeletedSpan[] = part.map((id) => ({ id, stays: buried.staying.has(id) }));
      await this.#byPortions(spans, (left) => hear(store.removeSpans(deletion, left)));
    }
    return concerned;
  }

  /** @param remove removes the next portion, and returns how many are done */
  async #byPortions<T>(all: readonly T[], remove: (left: readonly T[]) => number): Promise<void> {
    let left = all;
    while (left.length > 0) {
      left = left.slice(remove(left));
      await this.#parts.rest();
    }
  }

  async #among(ids: readonly string[], look: (ids: readonly string[]) => string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (let from = 0; from < ids.length; from += LOOKED_UP_AT_ONCE) {
      for (const id of look(ids.slice(from, from + LOOKED_UP_AT_ONCE))) found.add(id);
      await this.#parts.rest();
    }
    return found;
  }
}

/** Notes whom a portion concerns. @returns how many of it are done */
function heard({ judges, jobs, done }: Affected, concerned: Concerned, dependents: Dependents): number {
  for (const judge of judges) concerned.judges.add(judge);
  concerned.isNew ||= jobs.some(({ job_id }) => !dependents.jobs.has(job_id));
  for (const { job_id, span_id } of jobs) {
    concerned.jobs.add(job_id);
    add(dependents.jobs, job_id, span_id);
  }
  return done;
}

function add(jobs: DependentJobs, job: string, span: string): void {
  jobs.set(job, (jobs.get(job) ?? new Set()).add(span));
}

/** Traces that a judge was shown. One stays where all that was deleted of it was sent again. */
function judgedOf({ spans, recorded, staying }: BuriedSpans): DeletedTrace[] {
  if (recorded.traces.size === 0) return [];
  const lost = new Set(spans.filter(({ id }) => !staying.has(id)).map(({ trace_id }) => trace_id));
  return [...recorded.traces].map((id) => ({ id, stays: !lost.has(id) }));
}

function tracesOf(spans: readonly Placed[]): string[] {
  return [...new Set(spans.map(({ trace_id }) => trace_id))].filter((id) => id !== '');
}
