import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { unhurried } from '../durability/program.js';
import { CheckedApi, each, listNames, span, START, uuid, type ListName, type Row } from './checked-api.js';
import { malformedQuery, malformedRequest, seeded, type MalformedRequest, type Random } from './malformed-requests.js';
import type { TestResponse } from './harness.js';

const SEED = Number(process.env['MALFORMED_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const COUNT = Number(process.env['MALFORMED_COUNT'] ?? 1000);
/** What a server that shares two cores with other tests may take for a request it refuses, and for one that it stores. */
const SLOW_MS = { refused: 2000, taken: 10_000 };
const AT_ONCE = 16;
const REFUSALS = new Set([400, 413, 415, 422, 431, 403]);

/** Ids that lie far apart: a byte changed in one must not make it another. */
function seededId(...of: number[]): string {
  const hash = createHash('sha256')
    .update([SEED, ...of].join(' '))
    .digest('hex');
  return `c${hash.slice(1, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

describe(`malformed requests (MALFORMED_SEED=${SEED})`, () => {
  let api: CheckedApi;

  before(async () => {
    api = await CheckedApi.boot();
    await api.post('spans', [span(1, { session_id: uuid(3), tags: { a: 'b' } })]);
  });
  after(() => api.dispose());

  const element = (list: ListName, id: string): Row => {
    const [traceId, sessionId] = [id.replace(/^./, 'a'), id.replace(/^./, 'b')];
    const attributes = { a: { b: [1] } };
    const tags = { a: 'b' };
    if (list === 'spans')
      return {
        id,
        trace_id: traceId,
        session_id: sessionId,
        name: 'span',
        started_at: START,
        tags,
        attributes,
        cost: 1,
      };
    if (list === 'traces') return { id, session_id: sessionId, name: 'trace', started_at: START, tags, attributes };
    return { id, project_id: api.server.projectId, name: 'session', tags, attributes };
  };

  /** Sends all and answers the ids that were refused. */
  async function sendAll(
    label: string,
    make: (random: Random, index: number) => MalformedRequest & { ids?: string[] },
    path: string,
  ): Promise<{ refused: string[]; statuses: Map<number, number> }> {
    const refused: string[] = [];
    const statuses = new Map<number, number>();
    await each(
      Array.from({ length: COUNT }, (_, index) => index),
      async (index) => {
        // A generator of its own, so that one request can be sent again without those before it.
        const random = seeded(SEED + index * 7919);
        const { method, query, body, headers, kind, ids } = make(random, index);
        const shown = `${label} ${index}, ${kind}: ${query}${body === undefined ? '' : ` ${String(body).slice(0, 300)}`}`;
        const started = performance.now();
        const response = await api.server.request(method, `${path}${query}`, {
          ...(body === undefined ? {} : { body }),
          headers,
        });
        const limit = unhurried(response.status === 200 ? SLOW_MS.taken : SLOW_MS.refused);
        expect(performance.now() - started, `ms, ${response.status}, ${shown}`).to.be.lessThan(limit);
        expectClear(response, shown);
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        if (response.status !== 200) refused.push(...(ids ?? []));
      },
      AT_ONCE,
    );
    return { refused, statuses };
  }

  function expectClear(response: TestResponse, shown: string): void {
    if (response.status === 200) {
      expect(response.json, shown).to.be.an('array');
      return;
    }
    expect(REFUSALS.has(response.status), `${response.status} ${response.text.slice(0, 300)}, ${shown}`).to.equal(true);
    expect(response.headers.get('content-type'), shown).to.equal('application/problem+json');
    expect(response.json, shown).to.include.keys('type', 'title', 'status', 'detail', 'request_id');
    expect(response.json.status, shown).to.equal(response.status);
    expect(response.json.request_id, shown).to.equal(response.headers.get('x-request-id'));
    if (response.status === 422) expect(response.json.errors, shown).to.have.length.within(1, 100);
    expect(response.text.length, shown).to.be.lessThan(50_000);
    expect(response.text, shown).to.not.match(/node_modules|ClickHouse|DB::|\.js:\d/);
  }

  async function expectWell(number: number): Promise<void> {
    expect((await api.server.request('GET', '/healthz', { key: null })).status).to.equal(200);
    expect((await api.server.request('GET', '/readyz', { key: null })).status).to.equal(200);
    await api.post('spans', [span(number, { name: 'well' })]);
    expect(await api.one('spans', uuid(number))).to.include({ name: 'well' });
  }

  for (const [place, list] of listNames.entries()) {
    it(`POST /${list}: ${COUNT} bodies`, async function () {
      this.timeout(120_000);
      const { refused, statuses } = await sendAll(
        `POST /${list}`,
        (random, index) => {
          const elements = [seededId(place, index, 0), seededId(place, index, 1)].map((id) => element(list, id));
          return { ...malformedRequest(random, elements), ids: elements.map(({ id }) => id as string) };
        },
        `/${list}`,
      );
      // Mutations that never get past the parser, or are never refused, would show little.
      expect(statuses.get(422) ?? 0, JSON.stringify([...statuses])).to.be.greaterThan(COUNT / 5);
      expect(statuses.get(400) ?? 0, JSON.stringify([...statuses])).to.be.greaterThan(COUNT / 50);
      const stored = new Set<string>();
      const limit = list === 'spans' ? 10_000 : 500;
      for (let offset = 0; ; offset += limit) {
        const page = await api.ids(list, [
          ['limit', limit],
          ['offset', offset],
          ['fields', 'id'],
        ]);
        for (const id of page) stored.add(id);
        if (page.length < limit) break;
      }
      expect(refused.filter((id) => stored.has(id))).to.deep.equal([]);
      await expectWell(10_000_000 * (place + 1));
    });

    it(`GET /${list}: ${COUNT} queries`, async function () {
      this.timeout(120_000);
      const { statuses } = await sendAll(`GET /${list}`, (random) => malformedQuery(random, list), `/${list}`);
      expect(statuses.get(422) ?? 0, JSON.stringify([...statuses])).to.be.greaterThan(COUNT / 5);
      await expectWell(10_000_000 * (place + 1) + 9_500_000);
    });
  }

  it('is quiet afterwards', async () => {
    await wait(200);
    const { text } = await api.server.request('GET', '/metrics', { key: null });
    expect(text).to.not.match(/http_request_duration_seconds_count\{[^}]*status="5\d\d"/);
  });
});
