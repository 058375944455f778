import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  sessionList,
  spanList,
  traceList,
  type ListDefinition,
} from '../../src/engine/traces/model/list/definitions.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import type { TraceStore } from '../../src/engine/traces/trace-store.js';
import { parseListQuery } from '../../src/http/list-query.js';
import { storedSpan } from '../harness/span.js';
import { statementOf } from '../harness/statement.js';
import { type OpenedStore, openStore, rowsOf } from '../harness/trace-store.js';
import { allOf } from './service.js';

/** Played side by side: what takes its time is the purge, of all at once. */
const HISTORIES = 2;

const place = fc.nat({ max: 2 });
const places = fc.uniqueArray(place, { minLength: 1 });
const spanPlaces = fc.array(fc.tuple(place, place), { minLength: 1, maxLength: 4 });
/** Writes, deletions of spans and removals of traces, by the places of three traces with three spans each. */
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), spans: spanPlaces }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), trace: place, span: place }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), traces: places }) },
  ),
  { minLength: 1, maxLength: 6 },
);
type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never;

interface ListedSpan {
  readonly id: string;
  readonly trace_id: string;
  readonly cost: number | null;
}

interface ListedSession {
  readonly id: string;
  readonly trace_count: number;
  readonly created_at: string;
}

interface ListedTrace {
  readonly id: string;
  readonly span_count: number;
  readonly cost: number | null;
  readonly created_at: string;
}

const queryOf = (list: ListDefinition) => parseListQuery(list, new URLSearchParams('limit=500'));

/** A project of the store, and its lists. */
class Project {
  readonly id = randomUUID();
  readonly #store: TraceStore;

  constructor(store: TraceStore) {
    this.#store = store;
  }

  async traces() {
    return rowsOf<ListedTrace>(await this.#store.lists.traces(this.id, queryOf(traceList)));
  }

  async sessions() {
    return rowsOf<ListedSession>(await this.#store.lists.sessions(this.id, queryOf(sessionList)));
  }

  async spans() {
    return rowsOf<ListedSpan>(await this.#store.lists.spans(this.id, queryOf(spanList)));
  }

  async write(...spans: Span[]): Promise<void> {
    await this.#store.log.append({ projectId: this.id, spans });
  }

  /** Removes traces as of now. @returns those that are gone */
  async remove(...ids: string[]): Promise<string[]> {
    const below = await Promise.all(ids.map((id) => this.#store.deletions.below(this.id, 'trace', id)));
    const upTo = Math.min(...below.flatMap((found) => found?.upTo ?? []));
    return [...(await this.#store.deletions.removeTraces(this.id, ids, upTo))].sort();
  }
}

/** Plays steps, and knows what has to be listed. */
class History {
  readonly #store: TraceStore;
  readonly #project: Project;
  readonly #traceIds = [0, 1, 2].map(() => randomUUID());
  readonly #spanIds = [0, 1, 2].map(() => randomUUID());
  readonly #sessionIds = [0, 1].map(() => randomUUID());
  /** The cost of each span that is there, by its trace and id. */
  readonly #costs = new Map<string, number>();
  readonly #created = new Map<string, string>();
  #cost = 0;

  constructor(store: TraceStore) {
    this.#store = store;
    this.#project = new Project(store);
  }

  async play(played: Steps): Promise<void> {
    for (const step of played) {
      if (step.do === 'write') await this.#write(step.spans);
      else if (step.do === 'delete')
        await this.#delete(this.#traceIds[step.trace] ?? '', this.#spanIds[step.span] ?? '');
      else await this.#remove(step.traces.map((trace) => this.#traceIds[trace] ?? ''));
      await this.compare();
    }
  }

  async compare(): Promise<void> {
    const listed = (await this.#project.spans()).map((span) => [`${span.trace_id}/${span.id}`, span.cost] as const);
    expect(new Map(listed)).to.deep.equal(this.#costs);
    const traces = await this.#project.traces();
    expect(traces.map(({ id }) => id).sort()).to.deep.equal(
      this.#traceIds.filter((id) => this.#of(id).length > 0).sort(),
    );
    for (const { id, span_count, cost, created_at } of traces) {
      const own = this.#of(id).map(([, each]) => each);
      expect({ span_count, cost }).to.deep.equal({
        span_count: own.length,
        cost: own.reduce((sum, each) => sum + each, 0),
      });
      expect(created_at, 'created_at').to.equal(this.#created.get(id) ?? created_at);
      this.#created.set(id, created_at);
    }
  }

  async removeAll(): Promise<void> {
    await this.#remove(this.#traceIds);
    expect([await this.#project.traces(), await this.#project.sessions(), await this.#project.spans()]).to.deep.equal([
      [],
      [],
      [],
    ]);
  }

  #of(traceId: string): [string, number][] {
    return [...this.#costs].filter(([key]) => key.startsWith(traceId));
  }

  async #write(places: readonly (readonly [number, number])[]): Promise<void> {
    const spans = places.map(([trace, span]) => {
      const cost = (this.#cost += 1);
      const ids = { id: this.#spanIds[span] ?? '', trace_id: this.#traceIds[trace] ?? '' };
      return storedSpan({ ...ids, cost, session_id: this.#sessionIds[cost % 2] ?? null });
    });
    await this.#project.write(...spans);
    for (const { id, trace_id, cost } of spans) this.#costs.set(`${trace_id}/${id}`, cost ?? 0);
  }

  async #delete(trace_id: string, id: string): Promise<void> {
    await this.#store.deletions.writeTombstones(
      this.#project.id,
      [{ kind: 'span', trace_id, id, started_at: 0 }],
      null,
    );
    this.#costs.delete(`${trace_id}/${id}`);
  }

  async #remove(ids: readonly string[]): Promise<void> {
    const there = ids.filter((id) => this.#of(id).length > 0).sort();
    if (there.length > 0) expect(await this.#project.remove(...there)).to.deep.equal(there);
    for (const id of there) for (const [key] of this.#of(id)) this.#costs.delete(key);
  }
}

describe('removing whole traces', function () {
  this.timeout(240_000);
  let opened: OpenedStore;
  let project: Project;
  before(async () => {
    opened = await openStore();
  });
  after(() => opened.dispose());
  beforeEach(() => {
    project = new Project(opened.store);
  });

  async function rows(table: string, condition = '1'): Promise<number> {
    const [row] = await opened.client.query<{ count: string }>(
      statementOf(
        `SELECT toString(count()) AS count FROM ${table} WHERE project_id = '${project.id}' AND ${condition}`,
      ),
    );
    return Number(row?.count);
  }

  /** What a recount finds wrong. */
  async function wrong(): Promise<string[]> {
    const audits = await opened.store.mendingAudits({ extent: { sample: null, seed: 1 }, isKnown: () => true });
    const found: string[] = [];
    for (const audit of audits)
      for await (const { suspects } of audit.pages())
        found.push(...suspects.map(({ flaw, id, detail }) => `${flaw} ${id} ${detail ?? ''}`));
    return found;
  }

  it('takes one tombstone each, whatever they hold, and leaves nothing else of them', async () => {
    const [trace_id, session_id] = [randomUUID(), randomUUID()];
    const many = Array.from({ length: 30 }, () => storedSpan({ trace_id, session_id, cost: 1 }));
    const [first] = many as [Span];
    const other = storedSpan({ session_id, cost: 2 });
    await project.write(other);
    await project.write(...many);
    await project.write({ ...first, cost: 5 });
    const posted = { id: trace_id, session_id, name: 'posted', status: null, started_at: 1, ended_at: null };
    await opened.store.log.append({
      projectId: project.id,
      traces: [{ ...posted, duration_ms: null, cost: null, tags: {}, attributes: { text: 'a text' } }],
    });
    expect((await project.traces()).map(({ span_count }) => span_count).sort()).to.deep.equal([1, 30]);

    expect(await project.remove(trace_id)).to.deep.equal([trace_id]);
    expect(await rows('facts', 'deleted')).to.equal(1);
    expect((await project.traces()).map(({ id, cost }) => ({ id, cost }))).to.deep.equal([
      { id: other.trace_id, cost: 2 },
    ]);
    expect((await project.sessions()).map(({ trace_count }) => trace_count)).to.deep.equal([1]);
    expect(await project.spans()).to.have.length(1);
    expect(await allOf(opened.store.deletions.contents(project.id, [trace_id]))).to.deep.equal([]);
    expect(await wrong()).to.deep.equal([]);

    await opened.store.purgeRemovedTraces();
    expect(await rows('spans')).to.equal(1);
    expect(await rows('facts', 'NOT deleted')).to.equal(1);
    // What had been replaced before goes by its version.
    await opened.store.purge();
    expect(await rows('superseded')).to.equal(0);
    expect((await project.sessions()).map(({ trace_count }) => trace_count)).to.deep.equal([1]);
    expect(await wrong()).to.deep.equal([]);
  });

  it('leaves what is sent afterwards, and when the trace and its session were made', async () => {
    const [trace_id, session_id] = [randomUUID(), randomUUID()];
    const span = storedSpan({ trace_id, session_id, cost: 1 });
    const other = storedSpan({ session_id, cost: 2 });
    await project.write(span, storedSpan({ trace_id, cost: 3 }));
    await project.write(other);
    const [session] = await project.sessions();
    const before = (await project.traces()).find(({ id }) => id === trace_id);
    await project.remove(trace_id);
    await project.write({ ...span, cost: 7 });
    const expected = { span_count: 1, cost: 7, created_at: before?.created_at };
    const shown = async () => (await project.traces()).find(({ id }) => id === trace_id);
    expect(await shown()).to.include(expected);
    expect((await project.spans()).map(({ cost }) => cost).sort()).to.deep.equal([2, 7]);

    await opened.store.purgeRemovedTraces();
    expect(await shown()).to.include(expected);
    expect((await project.sessions())[0]).to.include({ id: session_id, created_at: session?.created_at });
    await project.remove(trace_id);
    await project.remove(other.trace_id);
    await opened.store.purgeRemovedTraces();
    expect([await project.traces(), await project.sessions(), await project.spans()]).to.deep.equal([[], [], []]);
    expect(await rows('spans')).to.equal(0);
    expect(await wrong()).to.deep.equal([]);
  });

  it('takes as many as there are, in several writes, and counts them all', async () => {
    const spans = Array.from({ length: 6_000 }, () => storedSpan({ cost: 1 }));
    await project.write(...spans);
    const ids = spans.map(({ trace_id }) => trace_id);
    const gone = await opened.store.deletions.removeTraces(project.id, ids, (Date.now() + 1_000) * 1_000);
    expect(gone.size).to.equal(spans.length);
    expect([await project.traces(), await project.spans()]).to.deep.equal([[], []]);
  });

  it('leaves a trace that was written to after the moment as it is', async () => {
    const span = storedSpan({ cost: 1 });
    await project.write(span);
    const below = await opened.store.deletions.below(project.id, 'trace', span.trace_id);
    await project.write(storedSpan({ trace_id: span.trace_id, cost: 2 }));
    const gone = await opened.store.deletions.removeTraces(project.id, [span.trace_id], below?.upTo ?? 0);
    expect([...gone]).to.deep.equal([]);
    expect((await project.traces()).map(({ span_count }) => span_count)).to.deep.equal([2]);
  });

  it('keeps a state that is read until it is read', async () => {
    const span = storedSpan({ cost: 1 });
    await project.write(span);
    const list = await opened.store.lists.spans(project.id, queryOf(spanList));
    await project.remove(span.trace_id);
    await opened.store.purgeRemovedTraces();
    expect(await rowsOf(list)).to.have.length(1);
    expect(await project.spans()).to.deep.equal([]);
  });

  it('agrees with a recount, whatever is written, deleted and purged', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(steps, steps, steps), { minLength: HISTORIES, maxLength: HISTORIES }),
        async (all) => {
          const histories = all.map(() => new History(opened.store));
          for (const phase of [0, 1, 2] as const) {
            await Promise.all(histories.map((history, index) => history.play(all[index]?.[phase] ?? [])));
            // One purge takes what all of them have removed.
            if (phase === 0) await opened.store.purgeRemovedTraces();
            else await opened.store.purge();
            await Promise.all(histories.map((history) => history.compare()));
          }
          expect(await wrong()).to.deep.equal([]);
          await Promise.all(histories.map((history) => history.removeAll()));
          expect(await wrong()).to.deep.equal([]);
        },
      ),
      { numRuns: 1, endOnFailure: true },
    );
  });
});
