import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import type { TraceStore } from '../../src/engine/traces/trace-store.js';
import { storedSpan } from '../harness/span.js';
import { COMMIT_LIMITS, openStore, reopenStore, withInsert, type OpenedStore } from '../harness/trace-store.js';
import { statementOf } from '../harness/statement.js';

const POISON = 'rows that the store cannot read';
/** Long enough that what is appended in one turn is committed together. */
const TOGETHER = COMMIT_LIMITS;

/** A request of one span, of a project of its own. */
function request(parts: Partial<Span> = {}) {
  const projectId = randomUUID();
  const span = storedSpan({ name: `of ${projectId}`, started_at: Date.now() * 1000, ...parts });
  return { projectId, spans: [span] };
}

type Request = ReturnType<typeof request>;

function deep(levels: number): unknown[] {
  let value: unknown[] = [];
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

/** The client with inserts that break off within their last row where they hold the poison. */
function poisoned(client: ClickHouseClient, inserted: Buffer[]): ClickHouseClient {
  return withInsert(client, (table, columns, format, given, options) => {
    const rows = Buffer.isBuffer(given) ? given : Buffer.concat(given);
    if (table === 'spans') inserted.push(rows);
    const whole = !rows.includes(POISON);
    return client.insert(table, columns, format, whole ? rows : rows.subarray(0, -1), options);
  });
}

describe('a request that cannot be stored', () => {
  let opened: OpenedStore;
  let store: TraceStore;
  const inserted: Buffer[] = [];

  before(async () => {
    opened = await openStore();
    store = await reopenStore(poisoned(opened.client, inserted), { commit: TOGETHER });
  });
  beforeEach(() => inserted.splice(0));
  after(async () => {
    await store.close();
    await opened.dispose();
  });

  /** Appends all in one turn. @returns what those that failed failed with, by place */
  async function append(requests: readonly Request[], to = store): Promise<Map<number, unknown>> {
    const results = await Promise.allSettled(requests.map((writes) => to.log.append(writes)));
    const failures = results.flatMap((result, at) =>
      result.status === 'rejected' ? [[at, result.reason] as const] : [],
    );
    return new Map(failures);
  }

  /** That exactly these spans are stored of the requests, whole and once, and counted in their traces. */
  async function expectStored(requests: readonly Request[], stored: readonly Request[], by = store): Promise<void> {
    const projects = requests.map(({ projectId }) => projectId);
    const rows = await opened.client.query<{ project: string; name: string; attributes: string }>(
      statementOf(
        'SELECT project_id AS project, name, attributes FROM spans WHERE project_id IN {projects:Array(String)}',
        { projects },
      ),
    );
    const expected = stored.map(({ projectId, spans: [span] }) => ({
      project: projectId,
      name: span?.name,
      attributes: JSON.stringify(span?.attributes),
    }));
    expect(rows).to.have.deep.members(expected);
    for (const { projectId, spans } of requests) {
      const ids = spans.map((span) => span.trace_id);
      const counts = [...(await by.lists.tracesById(projectId, ids)).values()].map((trace) => trace.span_count);
      expect(counts).to.deep.equal(stored.some((one) => one.projectId === projectId) ? [1] : []);
    }
  }

  it('fails alone when its rows cannot be encoded, whatever is committed with it and after it', async () => {
    const bad = () => request({ name: POISON, attributes: { deep: deep(100_000) } });
    const requests = [request(), bad(), request(), bad(), request()];
    const failures = await append(requests);
    expect([...failures.keys()]).to.deep.equal([1, 3]);
    expect(inserted, 'commits').to.have.length(1);
    const next = request();
    expect(await append([next])).to.deep.equal(new Map());
    await expectStored([...requests, next], [...requests.filter((_one, at) => !failures.has(at)), next]);
    expect(
      inserted.some((rows) => rows.includes(POISON)),
      'bytes of it reached the store',
    ).to.equal(false);
  });

  it('fails alone when the store cannot read its rows', async () => {
    const requests = Array.from({ length: 7 }, (_, at) => request(at === 2 || at === 6 ? { name: POISON } : {}));
    const failures = await append(requests);
    expect(inserted[0]?.includes(POISON), 'all in one commit').to.equal(true);
    expect([...failures.keys()]).to.deep.equal([2, 6]);
    for (const error of failures.values()) expect(error).to.be.instanceOf(DomainError);
    const next = request();
    expect(await append([next])).to.deep.equal(new Map());
    await expectStored([...requests, next], [...requests.filter((_one, at) => !failures.has(at)), next]);
  });

  it('is too large when it alone takes more than a request may, and overload when the queue has no room for it', async () => {
    const limits = { ...TOGETHER, maxRequestBytes: 200_000, queueMaxBytes: 300_000 };
    const narrow = await reopenStore(opened.client, { commit: limits });
    try {
      const large = (bytes: number) => request({ input_data: 'x'.repeat(bytes) });
      const requests = [large(150_000), large(201_000), large(180_000), large(100_000)];
      const failures = await append(requests, narrow);
      expect([...failures].map(([at, error]) => [at, (error as DomainError).kind])).to.deep.equal([
        [1, 'overloaded'],
        [2, 'overloaded'],
      ]);
      const alone = await append([requests[1] as Request], narrow);
      expect(alone.get(0)).to.be.instanceOf(DomainError).with.property('kind', 'too_large');
      await expectStored(requests, [requests[0] as Request, requests[3] as Request], narrow);
    } finally {
      await narrow.close();
    }
  });
});
