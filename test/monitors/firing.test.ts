import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { span, uuid, type Row } from '../harness/checked-api.js';
import { makeProject } from '../harness/projects.js';
import { seedOf } from '../harness/seed.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { seeded } from '../http/malformed-requests.js';
import { compare, condition, history } from './histories.js';

const SEED = seedOf('MONITORS_SEED');
const CONDITIONS = 12;
const SPANS = 150;

describe(`monitors (MONITORS_SEED=${SEED})`, function () {
  this.timeout(60_000);
  let server: TestServer;
  let path: string;

  before(async () => {
    server = await sharedServer();
    path = `/projects/${server.projectId}/monitors`;
  });
  after(() => server.dispose());

  const make = async (body: Row): Promise<Row> => {
    const sent = { name: 'mine', window_minutes: 15, ...body };
    const { status, json, text } = await server.request('POST', path, { body: sent });
    expect(status, text).to.equal(201);
    return json as Row;
  };
  const change = async ({ id }: Row, body: Row): Promise<Row> => {
    const { status, json, text } = await server.request('PATCH', `${path}/${id}`, { body });
    expect(status, text).to.equal(200);
    return json as Row;
  };
  /** Waits until it was looked at. */
  const looked = async ({ id }: Row): Promise<Row> => {
    for (;;) {
      const { json } = await server.request('GET', `${path}/${id}`);
      if (json.checked_at !== null) return json as Row;
      await sleep(10);
    }
  };
  /** Has it be looked at again. */
  const again = async (monitor: Row): Promise<Row> => {
    await change(monitor, { enabled: false });
    // Its last look is forgotten once the loop has heard of it.
    for (;;) {
      const { json } = await server.request('GET', `${path}/${monitor['id']}`);
      if (json.checked_at === null) break;
      await sleep(10);
    }
    return looked(await change(monitor, { enabled: true }));
  };
  const historyOf = async ({ id }: Row): Promise<Row[]> => (await server.request('GET', `${path}/${id}/history`)).json;

  it('would have fired when a recount says so', async () => {
    const spans = await history(server, SEED, SPANS);
    const random = seeded(SEED + 1);
    for (let n = 0; n < CONDITIONS; n += 1) await compare(server, spans, condition(random));
  });

  it('fire, keep their state without data, and recover, as spans come and go', async () => {
    const started_at = new Date(Date.now() - 6 * 60_000).toISOString();
    const calls = (from: number, count: number, more: Row) =>
      Array.from({ length: count }, (_, n) => span(500_000 + from + n, { started_at, name: 'live', ...more }));
    const send = async (rows: Row[]) =>
      expect((await server.request('POST', '/spans', { body: rows })).status).to.equal(200);
    const rate = { measure: 'error_rate', operator: 'above', threshold: 0.5, recovery_threshold: 0.2 };
    let monitor = await make({ ...rate, query: 'names=live', minimum_count: 4 });
    expect(monitor).to.include({ state: 'no_data', kept_state: null, list: 'spans', compared_with: 'constant' });
    expect(await looked(monitor)).to.include({ state: 'no_data', value: null, count: 0 });
    await send(calls(0, 4, { status: 'error' }));
    monitor = await again(monitor);
    expect(monitor).to.include({ state: 'firing', kept_state: 'firing', value: 1, count: 4, error: null });
    await send(calls(10, 6, { status: 'ok' }));
    expect(await again(monitor), 'between both thresholds').to.include({ state: 'firing', value: 0.4 });
    // Not checked while some of them are deleted, and others are not.
    await change(monitor, { enabled: false });
    for (let n = 0; n < 10; n += 1) await server.request('DELETE', `/spans/${uuid(500_000 + (n < 4 ? n : n + 6))}`);
    expect(await again(monitor)).to.include({ state: 'no_data', kept_state: 'firing', count: 0 });
    await send(calls(20, 9, { status: 'ok' }));
    expect(await again(monitor)).to.include({ state: 'ok', kept_state: 'ok', value: 0 });
    const states = (await historyOf(monitor)).map(({ state }) => state as string);
    expect(states).to.deep.equal(['ok', 'no_data', 'firing']);
    const changed = await change(monitor, { condition: { ...rate, window_minutes: 60, threshold: 0.9 } });
    expect(changed).to.include({ state: 'no_data', kept_state: null, checked_at: null, query: '' });
  });

  it('fire for a judge only when all of the interval is bad, and for the share of feedback', async () => {
    const project = `/projects/${server.projectId}`;
    const judge = { name: 'j', evaluation_type: 'binary', prompt: 'Is it good?', enabled: false };
    const judge_id = (await server.request('POST', `${project}/judges`, { body: judge })).json.id as string;
    const spans = Array.from({ length: 12 }, (_, n) => span(700_000 + n, { name: 'judged', kind: 'llm' }));
    await server.request('POST', '/spans', { body: spans });
    const database = openDatabase(join(server.dataDir, DATABASE_FILE));
    const evaluate = async (from: number, to: number) => {
      for (const { id } of spans.slice(from, to)) {
        const path = `${project}/judges/${judge_id}/evaluations`;
        const sent = await server.request('POST', path, { body: { span_id: id, evaluation_result: false } });
        expect(sent.status, sent.text).to.equal(201);
      }
      // Windows end up to two hours ago.
      database
        .prepare('UPDATE evaluations SET created_at = created_at - ? WHERE judge_id = ?')
        .run(3 * 3600e6, judge_id);
    };
    const body = { measure: 'judge_pass_rate', judge_id, operator: 'below', threshold: 0.5, window_minutes: 1440 };
    await evaluate(0, 3);
    const monitor = await looked(await make(body));
    expect(monitor, 'of three nobody knows').to.include({ state: 'ok', value: 0, count: 3 });
    await evaluate(3, 12);
    expect(await again(monitor)).to.include({ state: 'firing', value: 0, count: 12 });
    const tested = await server.request('POST', `${path}:test`, { body });
    expect(tested.json).to.include({ fired: 1 });
    for (const { id } of spans.slice(0, 4)) {
      const sent = await server.request('POST', `${project}/spans/${id}/feedback`, { body: { thumbs_up: true } });
      expect(sent.status, sent.text).to.be.within(200, 201);
    }
    database
      .prepare('UPDATE feedback SET updated_at = updated_at - ? WHERE project_id = ?')
      .run(3 * 3600e6, server.projectId);
    database.close();
    const liked = { measure: 'feedback_share', operator: 'above', threshold: 0.9, window_minutes: 1440 };
    expect(await looked(await make(liked))).to.include({ state: 'firing', value: 1, count: 4 });
  });

  it('change their state while they are muted, and notify once that ends', async () => {
    const { projectId, key } = makeProject(server.dataDir);
    const ask = async (method: string, place: string, body?: Row) =>
      (await server.request(method, `/projects/${projectId}/${place}`, { key, ...(body && { body }) })).json;
    // Never reached: what waits for it is listed all the same.
    const hook = await ask('POST', 'webhooks', { name: 'x', kind: 'webhook', target: 'http://127.0.0.1/x' });
    const told = async () => {
      const deliveries = (await ask('GET', `webhooks/${hook.id}/deliveries`)) as Row[];
      return deliveries.map(({ event }) => event as string);
    };
    const quiet = { name: 'quiet', measure: 'count', operator: 'below', threshold: 1, window_minutes: 5 };
    const monitor = await ask('POST', 'monitors', { ...quiet, muted_until: '2050-01-01T00:00:00Z' });
    while ((await ask('GET', `monitors/${monitor.id}`)).state !== 'firing') await sleep(10);
    expect(await told()).to.deep.equal([]);
    await ask('PATCH', `monitors/${monitor.id}`, { muted_until: null });
    while ((await told()).length === 0) await sleep(10);
    expect(await told()).to.deep.equal(['monitor.fired']);
  });

  it('come to the same measured together as alone', async () => {
    const now = Date.now();
    const kinds = ['llm', 'tool', 'agent'];
    const spans = Array.from({ length: 60 }, (_, n) =>
      span(800_000 + n, {
        ...{ name: `step ${n % 4}`, kind: kinds[n % 3], status: n % 5 === 0 ? 'error' : 'ok', cost: n / 100 },
        ...{ started_at: new Date(now - (n + 1) * 20_000).toISOString(), duration_ms: n * 10 },
        ...{ tags: { team: n % 2 === 0 ? 'red' : 'blue' }, trace_tags: {} },
        attributes: { provider: 'openai', model: n % 3 === 0 ? 'gpt-4o' : 'o3', inputTokens: n, outputTokens: 1 },
      }),
    );
    const own = [
      span(800_100, { name: 'step 1', tags: { 'spanhouse.judge': uuid(1) }, started_at: spans[0]?.started_at }),
    ];
    expect((await server.request('POST', '/spans', { body: [...spans, ...own] })).status).to.equal(200);
    const filters = ['names=step 1', 'span_kind=llm', 'has_error=true', 'team=red', 'models=gpt-4o', 'internal=true'];
    filters.push('names=step 1&names=step 2&team=blue', 'cost_min=0.3', 'names=nobody', 'q=nothing', '');
    const measures = ['count', 'error_count', 'cost', 'tokens', 'duration_p95'];
    const condition = { operator: 'above', threshold: 1e9, window_minutes: 30 };
    const made: Row[] = [];
    for (const query of filters)
      for (const measure of measures) made.push(await make({ ...condition, measure, query }));
    for (const monitor of made) {
      const { query, measure, checked_at, value, count, error } = await looked(monitor);
      expect(error).to.equal(null);
      const end = Date.parse(checked_at as string) * 1000;
      const times = `started_after=${(end - 30 * 60e6 + 1) / 1e6}&started_before=${end / 1e6}`;
      const asked = `/spans:stats?${query as string}&${times}&measures=count,errors,cost,tokens,duration`;
      const { json, text } = await server.request('GET', asked);
      const { totals } = json ?? {};
      const { input, output } = (totals?.tokens ?? {}) as { input?: number | null; output?: number | null };
      const wanted: Record<string, number | null> = {
        ...{ count: totals?.count, error_count: totals?.error_count, duration_p95: totals?.duration_ms?.p95 ?? null },
        cost: totals?.cost == null ? null : Number(totals.cost),
        tokens: input == null && output == null ? null : (input ?? 0) + (output ?? 0),
      };
      expect([query, measure, value, count], text.slice(0, 300)).to.deep.equal([
        ...[query, measure, wanted[measure as string], totals?.count],
      ]);
    }
  });

  it('refuse what they could not look at', async () => {
    const body = { name: 'x', measure: 'count', window_minutes: 5, operator: 'above', threshold: 1 };
    const refusals: readonly (readonly [Row, string])[] = [
      [{ window_minutes: 7 }, '/window_minutes'],
      [{ measure: 'score_mean' }, '/score'],
      [{ score: 'x' }, '/score'],
      [{ measure: 'judge_pass_rate', judge_id: uuid(1) }, '/judge_id'],
      [{ measure: 'feedback_share', query: 'names=x' }, '/query'],
      [{ query: 'started_after=1d' }, '/query'],
      [{ recovery_threshold: 2 }, '/recovery_threshold'],
      [{ muted_until: 'soon' }, '/muted_until'],
      [{ other: 1 }, '/other'],
    ];
    for (const [more, pointer] of refusals) {
      const { status, json } = await server.request('POST', path, { body: { ...body, ...more } });
      expect([status, json.errors?.[0]?.pointer], JSON.stringify(more)).to.deep.equal([422, pointer]);
    }
    expect((await server.request('POST', path, { body: { ...body, query: 'span_kind=' } })).status).to.equal(422);
    expect((await server.request('GET', `${path}/${uuid(1)}`)).status).to.equal(404);
  });

  it('are of one project, bounded, and go with it', async () => {
    const mine = await make({ measure: 'count', operator: 'above', threshold: 1 });
    const { projectId, key } = makeProject(server.dataDir);
    const other = `/projects/${projectId}/monitors`;
    expect((await server.request('GET', `${other}/${mine['id']}`, { key })).status).to.equal(404);
    const body = { name: 'x', measure: 'count', window_minutes: 5, operator: 'above', threshold: 1, enabled: false };
    for (let n = 0; n < 200; n += 1) expect((await server.request('POST', other, { body, key })).status).to.equal(201);
    expect((await server.request('POST', other, { body, key })).status).to.equal(409);
    expect((await server.request('DELETE', `${path}/${mine['id']}`)).status).to.equal(204);
    expect((await server.request('GET', `${path}/${mine['id']}`)).status).to.equal(404);
    expect((await server.request('DELETE', `/projects/${projectId}`, { key })).status).to.equal(202);
  });
});
