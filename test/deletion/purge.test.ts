import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sessionList, spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, remove, rowsOf } from '../harness/trace-store.js';
import { statementOf } from '../harness/statement.js';

const PROJECT = randomUUID();
const START = Date.UTC(2026, 0, 31, 23, 59) * 1000;

const span = (id: string, trace_id: string, session_id: string, change: Partial<Span> = {}) =>
  storedSpan({
    id,
    trace_id,
    session_id,
    name: 'work',
    status: 'ok',
    started_at: START,
    cost: 0.1,
    input_data: 'in',
    output_data: 'out',
    ...change,
  });

describe('purging replaced and deleted spans', () => {
  let opened: OpenedStore;
  const [trace, session, moved] = [randomUUID(), randomUUID(), randomUUID()];
  const ids = Array.from({ length: 5 }, () => randomUUID());

  before(async () => {
    opened = await openStore();
  });
  after(() => opened.dispose());

  async function lists(): Promise<unknown[]> {
    const none = new URLSearchParams();
    const { store } = opened;
    return [
      await rowsOf(await store.lists.spans(PROJECT, parseListQuery(spanList, none))),
      await rowsOf(await store.lists.traces(PROJECT, parseListQuery(traceList, none))),
      await rowsOf(await store.lists.sessions(PROJECT, parseListQuery(sessionList, none))),
    ];
  }

  async function rows(table: string): Promise<number> {
    const [row] = await opened.client.query<{ rows: string }>(
      statementOf(`SELECT toString(count()) AS rows FROM ${table}`),
    );
    return Number(row?.rows);
  }

  it('leaves one row per living span, and every figure as it was', async () => {
    const { log, deletions } = opened.store;
    for (let round = 0; round < 4; round += 1) {
      const change = { started_at: START + round * 3600e6, cost: round / 10 };
      await log.append({
        projectId: PROJECT,
        spans: ids.map((id) => span(id, trace, round < 2 ? session : moved, change)),
      });
      await lists();
    }
    expect(await remove({ deletions }, PROJECT, 'span', ids[4] ?? '')).to.equal(true);
    const before = await lists();
    expect(await rows('spans')).to.equal(20);

    expect(await opened.store.purge()).to.be.greaterThan(0);

    expect(await rows('spans')).to.equal(4);
    expect(await rows('superseded')).to.equal(0);
    expect(await lists()).to.deep.equal(before);
  });

  it('does not bring anything back when the trace is recomputed afterwards', async () => {
    const [spans, traces] = (await lists()) as [unknown[], { created_at: string }[]];
    await opened.store.log.append({ projectId: PROJECT, spans: [span(ids[0] ?? '', trace, moved, { cost: 5 })] });
    const [spansAfter, tracesAfter] = (await lists()) as [unknown[], { created_at: string; cost: number }[]];
    expect(spansAfter).to.have.length(spans.length);
    expect(tracesAfter[0]?.created_at).to.equal(traces[0]?.created_at);
    expect(tracesAfter[0]?.cost).to.equal(5.9);
    await opened.store.purge();
    expect(await lists()).to.deep.equal([spansAfter, tracesAfter, (await lists())[2]]);
  });

  it('leaves no text of what was replaced or deleted, and what was created then stays so', async () => {
    const { log, deletions } = opened.store;
    const [gone, redacted, group] = [randomUUID(), randomUUID(), randomUUID()];
    const said = {
      name: 'secret name',
      session_name: 'secret session',
      trace_tags: { email: 'secret trace tag' },
      session_tags: { email: 'secret session tag' },
    };
    const replaced = span(randomUUID(), redacted, group, said);
    await log.append({ projectId: PROJECT, spans: [span(randomUUID(), gone, group, said), replaced] });
    const [, , sessionsAtFirst] = (await lists()) as [unknown, unknown, { id: string; created_at: string }[]];
    await log.append({ projectId: PROJECT, spans: [span(replaced.id, redacted, group)] });
    expect(await remove({ deletions }, PROJECT, 'trace', gone)).to.equal(true);
    const before = await lists();

    await opened.store.purge();

    const texts = `SELECT name, session_name, trace_tags, session_tags FROM facts
      WHERE toString(tuple(name, session_name, trace_tags, session_tags)) LIKE '%secret%'`;
    expect(await opened.client.query(statementOf(texts))).to.deep.equal([]);
    expect(await lists()).to.deep.equal(before);
    const facts = await rows('facts');

    // Recomputed from what is left, and purged once more.
    await log.append({ projectId: PROJECT, spans: [span(replaced.id, redacted, group, { cost: 7 })] });
    const [, traces, sessions] = (await lists()) as [
      unknown,
      { id: string; created_at: string }[],
      typeof sessionsAtFirst,
    ];
    await opened.store.purge();
    expect(await rows('facts')).to.equal(facts);
    expect((await lists()).slice(1)).to.deep.equal([traces, sessions]);
    const created = (found: readonly { id: string; created_at: string }[], id: string) =>
      found.find((one) => one.id === id)?.created_at;
    expect(created(sessions, group)).to.equal(created(sessionsAtFirst, group)).and.not.equal(undefined);
    expect(created(traces, redacted)).to.equal(created(before[1] as typeof traces, redacted));
  });

  it('keeps when a session was made that an imported span named first', async () => {
    const { log, transfer } = opened.store;
    const [imported, group] = [randomUUID(), randomUUID()];
    const dated = (each: Span, hour: number) => {
      const at = START - 1000 * 3600e6 + hour * 3600e6;
      return { span: each, writtenAt: at, receivedAt: at };
    };
    const made = async () => {
      const [, , sessions] = (await lists()) as [unknown, unknown, { id: string; created_at: string }[]];
      return sessions.find(({ id }) => id === group)?.created_at;
    };
    const root = storedSpan({ trace_id: imported, session_id: group });
    for (const each of [dated(storedSpan({ trace_id: imported }), 2), dated(root, 1)])
      expect(await transfer.takeSpans(PROJECT, [each])).to.include({ stored: 1 });
    const at = await made();
    for (let time = 0; time < 2; time += 1) {
      await log.append({ projectId: PROJECT, spans: [{ ...root, cost: time }] });
      await lists();
      await opened.store.purge();
      await log.append({ projectId: PROJECT, spans: [storedSpan({ trace_id: imported })] });
      expect(await made()).to.equal(at);
    }
    const facts = statementOf(`SELECT 1 FROM facts WHERE toString(trace_id) = '${imported}' AND deleted`);
    expect(await opened.client.query(facts), 'what tells it').to.have.length(1);
  });
});
