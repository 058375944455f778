import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { DeletedThing, Below } from '../../src/engine/traces/model/deletion/stored-spans.js';
import { DomainError } from '../../src/engine/errors.js';
import { sessionList, spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import { UNBOUNDED } from '../../src/engine/traces/write/disk-space.js';
import type { RepriceScope } from '../../src/engine/traces/model/prices/calculated-spans.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, rowsOf } from '../harness/trace-store.js';

const EVERYTHING: RepriceScope = { started_after: null, started_before: null, provider: null, model: null };
const NO_QUERY = new URLSearchParams();

const modelCall = () =>
  storedSpan({
    kind: 'llm',
    cost: 1,
    cost_calculated: true,
    attributes: { provider: 'acme', model: 'one', inputTokens: 1, outputTokens: 1 },
  });

describe('what a deletion means', () => {
  let opened: OpenedStore;
  /** How often there is still room on the disk; then once there is none. */
  let roomFor = Infinity;
  before(async () => {
    opened = await openStore({
      space: {
        ...UNBOUNDED,
        requireSpace() {
          roomFor -= 1;
          if (roomFor === 0) throw new DomainError('unavailable', 'the disk is full');
        },
      },
    });
  });
  after(() => opened.dispose());

  const ids = async (projectId: string) => {
    const { lists } = opened.store;
    const [spans, traces, sessions] = await Promise.all([
      rowsOf<{ id: string }>(await lists.spans(projectId, parseListQuery(spanList, NO_QUERY))),
      rowsOf<{ id: string; name: string }>(await lists.traces(projectId, parseListQuery(traceList, NO_QUERY))),
      rowsOf<{ id: string; name: string | null }>(
        await lists.sessions(projectId, parseListQuery(sessionList, NO_QUERY)),
      ),
    ]);
    return {
      spans: spans.map(({ id }) => id),
      traces: traces.map(({ name }) => name),
      sessions: sessions.map(({ name }) => name),
    };
  };

  /** As it is written down, to be performed later. */
  async function order(projectId: string, kind: DeletedThing['kind'], id: string) {
    const below = (await opened.store.deletions.below(projectId, kind, id)) as Below;
    const things: DeletedThing[] = [];
    for await (const page of below.things) things.push(...page);
    return () => opened.store.deletions.writeTombstones(projectId, things, below.upTo);
  }

  for (const when of ['before it begins', 'while it is under way'])
    it(`is also a span whose cost is calculated anew ${when}`, async () => {
      const { log, calculated } = opened.store;
      const projectId = randomUUID();
      const spans = [modelCall(), modelCall(), modelCall()] as const;
      await log.append({ projectId, spans });
      const revision = await calculated.open(projectId);
      const found = await revision.read(await revision.page(EVERYTHING, null, 10));
      const delayed = await order(projectId, 'span', spans[0].id);
      const replace = () =>
        revision.replace(found.map(({ version, span }) => ({ version, span: { ...span, cost: 2 } })));
      if (when === 'before it begins') await replace();
      const deleted = delayed();
      if (when === 'while it is under way') await replace();
      const staying = await deleted;
      revision.close();
      expect([...staying]).to.deep.equal([]);
      expect((await ids(projectId)).spans).to.have.members([spans[1].id, spans[2].id]);
    });

  it('is not a span that its client has sent again since, although its cost was calculated anew, too', async () => {
    const { log, calculated } = opened.store;
    const projectId = randomUUID();
    const span = modelCall();
    await log.append({ projectId, spans: [span] });
    const delayed = await order(projectId, 'span', span.id);
    await log.append({ projectId, spans: [span] });
    const revision = await calculated.open(projectId);
    await revision.replace(await revision.read(await revision.page(EVERYTHING, null, 10)));
    revision.close();
    expect([...(await delayed())]).to.deep.equal([span.id]);
    expect((await ids(projectId)).spans).to.deep.equal([span.id]);
  });

  it('is also a span that is sent again meanwhile, when that is accepted and not stored after all', async () => {
    const { log } = opened.store;
    const projectId = randomUUID();
    const [span, other] = [storedSpan(), storedSpan()];
    await log.append({ projectId, spans: [span, other] });
    const delayed = await order(projectId, 'span', span.id);
    const deleted = delayed();
    // Room when it is accepted, none when it is to be stored.
    roomFor = 2;
    const failed = await log.append({ projectId, spans: [span] }).catch((error: unknown) => error);
    expect(failed).to.include({ kind: 'unavailable' });
    expect([...(await deleted)]).to.deep.equal([]);
    expect((await ids(projectId)).spans).to.deep.equal([other.id]);
  });

  const session = (id: string, name: string) => ({ id, name, tags: {}, attributes: {} });
  const trace = (id: string, session_id: string, name: string) => ({
    ...{ id, session_id, name, started_at: 0, tags: {}, attributes: {} },
    ...{ status: null, ended_at: null, duration_ms: null, cost: null },
  });

  for (const when of ['before it begins', 'while it is under way'])
    it(`is not what is posted about a trace or session ${when}`, async () => {
      const { log } = opened.store;
      const projectId = randomUUID();
      const [sessionId, traceId] = [randomUUID(), randomUUID()];
      const span = storedSpan({ trace_id: traceId, session_id: sessionId });
      await log.append({
        ...{ projectId, spans: [span] },
        ...{ traces: [trace(traceId, sessionId, 'old')], sessions: [session(sessionId, 'old')] },
      });
      const delayed = await order(projectId, 'session', sessionId);
      const post = () =>
        log.append({
          ...{ projectId, traces: [trace(traceId, sessionId, 'new')], sessions: [session(sessionId, 'new')] },
        });
      if (when === 'before it begins') await post();
      const deleted = delayed();
      if (when === 'while it is under way') await post();
      await deleted;
      expect(await ids(projectId)).to.deep.equal({ spans: [], traces: ['new'], sessions: ['new'] });
      await (
        await order(projectId, 'session', sessionId)
      )();
      expect(await ids(projectId)).to.deep.equal({ spans: [], traces: [], sessions: [] });
    });
});
