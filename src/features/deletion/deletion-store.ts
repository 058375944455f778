import type { Micros } from '../../engine/timestamp.js';
import type { DeletedThing } from '../../engine/traces/model/deletion/stored-spans.js';

/** A deletion that was ordered and is not completed yet. */
export interface Deletion {
  readonly seq: number;
  readonly project_id: string;
  /** Whether spans go, with what belongs to them, or all of the project. */
  readonly what: 'spans' | 'project';
  /** 1: each trace that has items goes whole, and they are all that is in it. */
  readonly whole_traces: 0 | 1;
  /** Moment up to which writes are deleted; later ones stay. */
  readonly upto: Micros;
  readonly created_at: Micros;
}

/**
 * An item of a deletion: a thing to delete, or a note about a deleted record. `run`: its calls of a model are stored as
 * spans. `shown`: the span may have been shown as an example to the judge that `trace_id` names. `row`: a row of the dataset
 * that `trace_id` names was erased; with `started_at`, it is to be: as it was stored up to this number. `call`: the span of a call, or of a result of that row, which goes too.
 */
export interface DeletionItem extends Omit<DeletedThing, 'kind'> {
  readonly seq: number;
  readonly kind: DeletedThing['kind'] | 'run' | 'shown' | 'row' | 'call';
}

export type ItemDraft = Omit<DeletionItem, 'seq'>;

/**
 * What a client asks to be deleted, or an experiment whose results are; with an empty id, whatever retention removes. A row's id has
 * its dataset in front. `traces` and `selected`: traces, or other things, that a job deletes, whose id it has.
 */
export interface DeletionTarget {
  readonly projectId: string;
  readonly kind: DeletedThing['kind'] | 'experiment' | 'retention' | 'row' | 'traces' | 'selected';
  readonly id: string;
}

export interface DeletionDraft extends DeletionTarget {
  /** Moment up to which writes are deleted; later ones stay. */
  readonly upTo: Micros;
  readonly at: Micros;
}

/** A row of a dataset that is to be erased. */
export interface OrderedRow {
  readonly projectId: string;
  readonly datasetId: string;
  readonly rowId: string;
  readonly at: Micros;
}

/**
 * A span whose records are deleted. Feedback and external evaluations that were stored after the order stay in any case.
 */
export interface DeletedSpan {
  readonly id: string;
  /** Whether it was sent again since: then all records that were stored after the order stay. */
  readonly stays: boolean;
}

/** A trace that lost spans. */
export interface DeletedTrace {
  readonly id: string;
  /** Whether all of these were sent again since: then what was stored of it after the order stays. */
  readonly stays: boolean;
}

/** What a portion of removed records was about: judges and jobs that deleted spans leave a trace in, and how far it came. */
export interface Affected {
  /** Judges that may have been shown one of the spans as an example. */
  readonly judges: readonly string[];
  /** Jobs that work with one of the spans; those that had not ended have failed now. */
  readonly jobs: readonly { readonly job_id: string; readonly span_id: string }[];
  /** So many of the spans or traces, the first ones, have no records any more that were to go. */
  readonly done: number;
}

/**
 * Orders of deletions, and the deletion of what is kept beside the spans: evaluations, feedback, runs, jobs, references to
 * images. Each method is one short, durable transaction, and may be repeated. Throws DomainError `unavailable`.
 */
export interface DeletionStore {
  /** Changes when another process has written anything since the last call. */
  changeCounter(): number;
  /** Forgets deletions that were never ordered: nothing of them was done. */
  abandon(): void;
  /** @param ordered false: more items follow, then `order` */
  begin(draft: DeletionDraft, items: readonly ItemDraft[], ordered: boolean): Deletion;
  note(deletion: number, items: readonly ItemDraft[]): void;
  /** Orders that a row of a dataset is erased from all versions that there are. @returns null: none has it */
  orderRow(row: OrderedRow): Deletion | null;
  /** Erases a portion of a row that was ordered so. @returns whether there may be more */
  eraseSomeOfRow(row: Pick<DeletionItem, 'trace_id' | 'id' | 'started_at'>): boolean;
  order(deletion: number): void;
  /**
   * Orders the deletion of a project, and ends its keys and feedback links.
   * @returns null when there is no such project; the order that is there already, if it is
   */
  orderProject(projectId: string, at: Micros): Deletion | null;
  /** Deletions ordered and not completed, oldest first. @param target only those of the same thing */
  pending(target?: DeletionTarget): Deletion[];
  /** Items of these kinds after an item, in the order in which they were noted. */
  items(deletion: number, kinds: readonly DeletionItem['kind'][], after: number, limit: number): DeletionItem[];
  /**
   * Traces of a portion of the items of spans and posted traces, each once.
   * @param after item behind which the portion begins
   * @returns also the last item of the portion; null: there is none
   */
  traces(deletion: number, after: number): { readonly ids: readonly string[]; readonly last: number | null };
  /** Experiments on a dataset behind one of them, by id: results of its rows hold texts of these. */
  experimentsOn(
    projectId: string,
    datasetId: string,
    after: string,
    limit: number,
  ): readonly { readonly id: string; readonly repetitions: number }[];
  /** Whether any record is about a span. */
  knows(projectId: string, spanId: string): boolean;
  /** Which of some spans any record or image is about. */
  withRecords(projectId: string, spanIds: readonly string[]): string[];
  /** Removes a portion of the records of spans, one span after the other, and notes items that the deletion has to follow up. */
  removeSpans(deletion: Deletion, spans: readonly DeletedSpan[]): Affected;
  /** Whether a judge was shown whole traces of a project, or sessions. */
  judgesTraces(projectId: string): boolean;
  /** Which of some traces a judge was shown: with any span of them goes what it said. */
  judgedTraces(projectId: string, traceIds: readonly string[]): string[];
  /**
   * Removes a portion of what judges said of traces, and of sessions, that spans are gone of, one trace after the other, and
   * notes items that the deletion has to follow up. Runs that were begun begin anew.
   */
  removeJudged(deletion: Deletion, traces: readonly DeletedTrace[]): Affected;
  /** Whether people comment on any trace of a project, or share one by links. */
  hasToldOf(projectId: string): boolean;
  /** Which of some traces people comment on, or share by links. */
  toldOf(projectId: string, traceIds: readonly string[]): string[];
  /**
   * Removes a portion of the comments on a trace that went, and of the links to it.
   * @param isBack whether something of it was sent again since: then what was stored after the order stays
   * @returns whether there may be more
   */
  removeOfTrace(deletion: Deletion, traceId: string, isBack: boolean): boolean;
  /** Removes a portion of the comments on spans of a trace that stays, those from before the order. @returns whether there may be more */
  removeOfTraceSpans(deletion: Deletion, traceId: string, spanIds: readonly string[]): boolean;
  /** Jobs that work with spans that the deletion notes as shown. */
  jobsShown(deletion: Deletion): Affected['jobs'];
  /** Removes a portion of a project's records. @returns whether there may be more; false: nothing is left */
  removeSomeOfProject(deletion: Deletion): boolean;
  /** Forgets a portion of a completed deletion. @returns whether there is more */
  finish(deletion: number): boolean;
}
