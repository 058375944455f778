import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AttachmentVault } from '../images/vault.js';
import type { JobStore, WithoutSpans } from '../../engine/work/job.js';
import { DependentCalls } from './dependent-calls.js';
import type { Deletion, DeletionItem, DeletionStore } from './deletion-store.js';
import type { DeletedThing, StoredSpans } from '../../engine/traces/model/deletion/stored-spans.js';
import type { ScoreRemoval } from '../../engine/traces/model/score/scores.js';
import { ToldTraces, type ToldTracesParts } from './told-traces.js';
import { RecordRemoval, type DependentJobs, type Dependents, type Recorded } from './record-removal.js';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';

/** Steps of a deletion. */
export const DELETION_STEPS = ['spans', 'records', 'calls', 'scores', 'jobs', 'words', 'images', 'end'] as const;
export type DeletionStep = (typeof DELETION_STEPS)[number];

export interface DeletionParts {
  readonly store: DeletionStore;
  readonly spans: StoredSpans;
  readonly scores: ScoreRemoval;
  readonly lists: ToldTracesParts['lists'];
  readonly images: Pick<
    AttachmentVault,
    'forgetSpans' | 'removeSomeFree' | 'forgetSomeOfProject' | 'removeFreeOfProject'
  >;
  /** Called when images cannot be removed now; the next sweep tries again. */
  readonly onImagesLeft: (error: unknown) => void;
  readonly jobs: Pick<JobStore, 'findById' | 'forgetSpans'>;
  /** How jobs lose the texts of deleted spans, by the kind of the job. */
  readonly withoutSpans: Readonly<Record<string, WithoutSpans>>;
  readonly work: readonly WorkUnderWay[];
  /** Called before each step; an error of it cuts the deletion off. */
  readonly onStep?: (step: DeletionStep) => void;
}

/** Things deleted together from the store of spans. */
const SPANS_AT_ONCE = 10_000;
/** Spans whose words go together: each time, rows of the index are rewritten. */
const WORDS_AT_ONCE = 250_000;

/**
 * Performs deletions, step by step. Every step may be repeated, and together they may be cut off anywhere: what a later
 * step needs to know is among the items of the deletion before it is deleted.
 */
export class DeletionWork {
  readonly #parts: DeletionParts;
  readonly #signal: AbortSignal;
  readonly #records: RecordRemoval;
  readonly #told: ToldTraces;
  readonly #calls: DependentCalls;

  constructor(parts: DeletionParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    this.#records = new RecordRemoval({ ...parts, giveUp: (scope) => this.#giveUp(scope), rest: () => this.#rest() });
    this.#told = new ToldTraces({ ...parts, rest: () => this.#rest() });
    this.#calls = new DependentCalls({
      ...parts,
      pages: (...wanted) => this.#pages(...wanted),
      rest: () => this.#rest(),
    });
  }

  /** @param onHidden called when nobody is shown anything of it any more @returns how many spans went; 0 for a project */
  async perform(deletion: Deletion, onHidden: () => void): Promise<number> {
    const count = deletion.what === 'project' ? await this.#project(deletion) : await this.#spans(deletion, onHidden);
    this.#enter('end');
    while (this.#parts.store.finish(deletion.seq)) await this.#rest();
    return count;
  }

  async #spans(deletion: Deletion, onHidden: () => void): Promise<number> {
    const dependents: Dependents = { jobs: new Map(), images: new Set() };
    await this.#eraseRows(deletion);
    const removed = await this.#wholeTraces(deletion);
    let count = 0;
    for await (const page of this.#pages(deletion, ['span', 'trace', 'session']))
      count += await this.#removePage(deletion, { page, removed }, dependents);
    this.#enter('calls');
    await this.#removeCalls(deletion, dependents);
    this.#enter('scores');
    await this.#parts.scores.removeScores(deletion.project_id, this.#scorable(deletion), deletion.upto);
    await this.#told.remove(deletion, this.#pages(deletion, ['span', 'trace', 'call']));
    this.#enter('jobs');
    this.#forgetInJobs(dependents.jobs);
    onHidden();
    this.#enter('words');
    await this.#forgetWords(deletion);
    this.#enter('images');
    const { images } = this.#parts;
    await this.#orLater(() => images.removeSomeFree(deletion.project_id, dependents.images));
    return count;
  }

  /** Removes what was ordered to go. @param removed traces that went whole @returns how many spans were among it */
  async #removePage(
    deletion: Deletion,
    { page, removed }: { readonly page: readonly DeletionItem[]; readonly removed: ReadonlySet<string> },
    dependents: Dependents,
  ): Promise<number> {
    this.#enter('spans');
    const things = page.filter(({ trace_id, kind }) => trace_id !== '' || kind === 'session') as DeletedThing[];
    const left = things.filter(({ trace_id }) => !removed.has(trace_id));
    const staying =
      left.length === 0
        ? new Set<string>()
        : await this.#parts.spans.writeTombstones(deletion.project_id, left, deletion.upto);
    this.#enter('records');
    const spans = page.filter(({ kind }) => kind === 'span');
    const recorded = await this.#records.of(deletion.project_id, spans);
    const shared = await this.#sharedIds(deletion.project_id, things, recorded);
    const ids = idsOf(spans).filter((id) => !shared.has(id));
    const again = await this.#sentAgain(deletion.project_id, things, removed, recorded);
    // A span that was not stored may have been sent since: nobody knows.
    const unknown = idsOf(spans.filter(({ trace_id }) => trace_id === ''));
    const gone = { spans, ids, recorded, staying: new Set([...staying, ...again, ...unknown]) };
    await this.#records.remove(deletion, gone, dependents);
    return spans.length;
  }

  /** Removes the calls of models and the results of experiments that hold texts of what went. */
  async #removeCalls(deletion: Deletion, dependents: Dependents): Promise<void> {
    let noted = await this.#calls.ofRuns(deletion, 0);
    this.#records.addJobsShown(deletion, dependents);
    await this.#calls.ofOthers(deletion, [...dependents.jobs.keys()]);
    let followed = await this.#calls.ofResults(deletion, 0);
    for await (const page of this.#pages(deletion, ['call'])) {
      const calls = page.map((item): DeletedThing => ({ ...item, kind: 'span' }));
      await this.#parts.spans.writeTombstones(deletion.project_id, calls, null);
      const recorded = await this.#records.of(deletion.project_id, calls);
      const gone = { spans: calls, ids: idsOf(calls), recorded, staying: new Set<string>() };
      await this.#records.remove(deletion, gone, dependents);
      // Calls may have been made from calls, and rows of results: they hold the same texts.
      noted = await this.#calls.ofRuns(deletion, noted);
      followed = await this.#calls.ofResults(deletion, followed);
    }
  }

  /** All that may have scores, in portions: calls are spans. */
  async *#scorable(deletion: Deletion): AsyncGenerator<readonly DeletedThing[]> {
    for await (const page of this.#pages(deletion, ['span', 'trace', 'session', 'call']))
      yield page.map((item) => ({ ...item, kind: item.kind === 'call' ? 'span' : item.kind }) as DeletedThing);
  }

  /** Erases rows that are to go by themselves. What stores results of them ends before these are looked for. */
  async #eraseRows(deletion: Deletion): Promise<void> {
    const { store } = this.#parts;
    let erased = false;
    for await (const page of this.#pages(deletion, ['row']))
      for (const row of page.filter(({ started_at }) => started_at > 0)) {
        this.#enter('records');
        while (store.eraseSomeOfRow(row)) await this.#rest();
        erased = true;
      }
    if (!erased) return;
    await this.#giveUp({ projectId: deletion.project_id, spans: new Set(), judges: new Set(), jobs: new Set() });
  }

  /** Removes the traces that go whole. @returns those that are gone; what is in the others goes thing by thing */
  async #wholeTraces({ seq, project_id, upto, whole_traces }: Deletion): Promise<ReadonlySet<string>> {
    if (whole_traces === 0) return new Set();
    this.#enter('spans');
    const ids = new Set<string>();
    for (let after: number | null = 0; after !== null;) {
      const portion = this.#parts.store.traces(seq, after);
      for (const id of portion.ids) ids.add(id);
      after = portion.last;
      await this.#rest();
    }
    return this.#parts.spans.removeTraces(project_id, [...ids], upto);
  }

  /** Ids whose records are those of other spans, too. Only ids with records are looked for: every span of the project is read. */
  async #sharedIds(
    projectId: string,
    things: readonly DeletedThing[],
    recorded: Recorded,
  ): Promise<ReadonlySet<string>> {
    const sought = things.filter(({ kind, id }) => kind === 'span' && recorded.spans.has(id));
    return sought.length === 0 ? new Set() : this.#parts.spans.sharedIds(projectId, sought);
  }

  /** Spans with records that came again after their traces went, maybe minutes ago. */
  async #sentAgain(
    projectId: string,
    things: readonly DeletedThing[],
    removed: ReadonlySet<string>,
    { spans, traces }: Recorded,
  ): Promise<ReadonlySet<string>> {
    const sought = things.filter(
      ({ kind, id, trace_id }) => kind === 'span' && removed.has(trace_id) && (spans.has(id) || traces.has(trace_id)),
    );
    return sought.length === 0 ? new Set() : this.#parts.spans.sentAgain(projectId, sought);
  }

  async #project(deletion: Deletion): Promise<number> {
    const { store, spans, images } = this.#parts;
    const projectId = deletion.project_id;
    const all: DeletionScope = { projectId, spans: null, judges: new Set(), jobs: new Set() };
    this.#enter('images');
    while (images.forgetSomeOfProject(projectId)) await this.#rest();
    this.#enter('spans');
    await this.#giveUp(all);
    await spans.removeProject(projectId, this.#signal);
    this.#enter('records');
    while (store.removeSomeOfProject(deletion)) await this.#rest();
    await this.#giveUp(all);
    await this.#orLater(() => images.removeFreeOfProject(projectId, this.#signal));
    return 0;
  }

  async #forgetWords(deletion: Deletion): Promise<void> {
    const { spans } = this.#parts;
    let gathered: DeletionItem[] = [];
    for await (const page of this.#pages(deletion, ['span', 'call'])) {
      gathered.push(...page);
      if (gathered.length < WORDS_AT_ONCE) continue;
      await spans.forgetWords(deletion.project_id, gathered, this.#signal);
      gathered = [];
    }
    if (gathered.length > 0) await spans.forgetWords(deletion.project_id, gathered, this.#signal);
  }

  #forgetInJobs(dependent: DependentJobs): void {
    const { jobs, withoutSpans } = this.#parts;
    for (const [id, gone] of dependent) {
      const job = jobs.findById(id);
      const without = job && withoutSpans[job.kind];
      if (job !== undefined && without !== undefined) jobs.forgetSpans({ id, ...without(job, gone) }, [...gone]);
    }
  }

  /** Images that their store does not remove now are left to the sweeps. */
  async #orLater(remove: () => Promise<void>): Promise<void> {
    try {
      await remove();
    } catch (error) {
      this.#parts.onImagesLeft(error);
    }
  }

  async #giveUp(scope: DeletionScope): Promise<void> {
    await Promise.all(this.#parts.work.map((work) => work.giveUp(scope)));
  }

  async *#pages(
    deletion: Deletion,
    kinds: readonly DeletionItem['kind'][],
    from = 0,
  ): AsyncGenerator<readonly DeletionItem[]> {
    let after = from;
    for (;;) {
      const page = wholeTraces(this.#parts.store.items(deletion.seq, kinds, after, SPANS_AT_ONCE), SPANS_AT_ONCE);
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      after = last.seq;
      await this.#rest();
    }
  }

  #enter(step: DeletionStep): void {
    this.#signal.throwIfAborted();
    this.#parts.onStep?.(step);
  }

  async #rest(): Promise<void> {
    await nextTurn();
    this.#signal.throwIfAborted();
  }
}

/** A page without the trace that goes on in the next one, unless it is all of the page: a trace should go at once. */
function wholeTraces(page: readonly DeletionItem[], limit: number): readonly DeletionItem[] {
  const last = page.at(-1);
  if (page.length < limit || last === undefined) return page;
  const end = page.findLastIndex(({ trace_id }) => trace_id !== last.trace_id) + 1;
  return end === 0 ? page : page.slice(0, end);
}

function idsOf(items: readonly { readonly id: string }[]): string[] {
  return items.map(({ id }) => id);
}
