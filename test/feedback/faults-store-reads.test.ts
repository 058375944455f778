import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import { isCompletionOf, type PromptIdentity } from '../../src/engine/traces/model/prompts/completion.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { ClickHouseEntitySpans } from '../../src/engine/traces/entity-spans.js';
import { ReadsInProgress } from '../../src/engine/traces/read/reads-in-progress.js';
import { Governor } from '../../src/engine/work/governor.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, remove, rowsOf } from '../harness/trace-store.js';

const START = Date.UTC(2026, 2, 1) * 1000;

const span = (change: Partial<Span>) => storedSpan({ kind: 'llm', started_at: START, ...change });

describe('reads for feedback', function () {
  this.timeout(120_000);
  let opened: OpenedStore;
  before(async () => {
    opened = await openStore();
  });
  after(() => opened.dispose());

  async function listed(list: 'spans' | 'traces', projectId: string, parameter: string): Promise<string[]> {
    const definition = list === 'spans' ? spanList : traceList;
    const page = await opened.store.lists[list](
      projectId,
      parseListQuery(definition, new URLSearchParams(`${parameter}&limit=500`)),
    );
    return (await rowsOf<{ id: string }>(page)).map(({ id }) => id);
  }

  it('finds the spans below traces and sessions as the lists do, whatever was written, moved and deleted', async () => {
    const { store, client } = opened;
    const operation = fc.record({
      what: fc.constantFrom('write', 'write', 'write', 'delete span', 'delete trace', 'delete session'),
      span: fc.nat(9),
      trace: fc.nat(3),
      session: fc.option(fc.nat(1), { nil: null }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 30 }), async (operations) => {
        const projectId = randomUUID();
        const [ids, traces, sessions] = [10, 4, 2].map((count) => Array.from({ length: count }, () => randomUUID()));
        for (const { what, span: at, trace, session } of operations) {
          const [id, trace_id] = [ids![at]!, traces![trace]!];
          const session_id = session === null ? null : sessions![session]!;
          if (what === 'write') await store.log.append({ projectId, spans: [span({ id, trace_id, session_id })] });
          else if (what === 'delete span') await remove(store, projectId, 'span', id);
          else if (what === 'delete trace') await remove(store, projectId, 'trace', trace_id);
          else if (session_id !== null) await remove(store, projectId, 'session', session_id);
        }
        const upTo = Number.MAX_SAFE_INTEGER;
        const settle = async () => {
          await store.rollUp();
          return upTo;
        };
        const committed = () => ({ upTo, traces: [], sessions: [] });
        const reads = new ReadsInProgress({ settle, readable: async () => undefined, committed }, new Governor());
        // So few ids at once that it takes several statements.
        const spans = new ClickHouseEntitySpans(client, reads, { timeoutSeconds: 30, maxResultBytes: 1e8 }, 3);
        const below = async (type: 'trace' | 'session', id: string) => {
          const found: string[] = [];
          for await (const portion of spans.below(projectId, type, id)) found.push(...portion);
          expect(new Set(found).size, 'each id once').to.equal(found.length);
          return found;
        };
        for (const id of traces!) {
          const expected = new Set(await listed('spans', projectId, `trace_id=${id}`));
          expect(await below('trace', id)).to.have.members([...expected]);
          expect(await spans.exists(projectId, 'trace', id)).to.equal(expected.size > 0);
        }
        for (const id of sessions!) {
          const members = await listed('traces', projectId, `session_id=${id}`);
          const expected = new Set<string>();
          for (const trace of members)
            for (const found of await listed('spans', projectId, `trace_id=${trace}`)) expected.add(found);
          expect(await below('session', id)).to.have.members([...expected]);
        }
      }),
      { numRuns: 6 },
    );
  });

  it('finds the newest completions of a prompt as the rule says, whatever spans carry', async () => {
    const { store } = opened;
    const prompt: PromptIdentity = {
      id: randomUUID(),
      slug: 'support/a b',
      versions: new Map([
        [randomUUID(), 1],
        [randomUUID(), 2],
      ]),
    };
    const text = fc.oneof(
      fc.constantFrom(
        prompt.slug,
        prompt.id,
        prompt.id.toUpperCase(),
        ...prompt.versions.keys(),
        'support',
        'support/a b ',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom('\ud800', '"', '\\', '\\u0073upport/a b', '\n', '/'),
    );
    const value: fc.Arbitrary<unknown> = fc.oneof(
      { weight: 6, arbitrary: text },
      fc.constantFrom(null, 1, true, [prompt.slug], { prompt_slug: prompt.slug }),
    );
    const names = ['task', 'prompt_slug', 'prompt_version_id', 'other'];
    const inner = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 2 });
    const outer = fc
      .tuple(
        fc.dictionary(fc.constantFrom(...names, ...names.map((name) => `zeroeval.${name}`)), value, { maxKeys: 2 }),
        fc.option(fc.oneof(inner, value), { nil: undefined }),
        text,
      )
      .map(([flat, nested, note]): Record<string, unknown> => ({
        note,
        ...flat,
        ...(nested === undefined ? {} : { zeroeval: nested }),
      }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(outer, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        async (all, limit) => {
          const projectId = randomUUID();
          const spans = all.map((attributes, index) => span({ attributes, started_at: START + index }));
          await store.log.append({ projectId, spans });
          const expected = spans.filter(({ attributes }) => isCompletionOf(attributes, prompt)).reverse();
          const ids = expected.map(({ id }) => id);
          expect(await store.completions.newest(projectId, prompt, limit)).to.deep.equal(ids.slice(0, limit));
          for (const { id } of spans) {
            const found = await store.completions.find(projectId, prompt, id);
            expect(found?.id).to.equal(ids.includes(id) ? id : undefined);
          }
        },
      ),
      { numRuns: 10 },
    );
  });
});
