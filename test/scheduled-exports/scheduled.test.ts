import { expect } from 'chai';
import { parquetReadObjects } from 'hyparquet';
import { Bucket, type BucketRequest, type Fault } from '../backup/bucket.js';
import { span, uuid } from '../harness/checked-api.js';
import { SetAside } from '../../src/engine/traces/rollup/set-aside.js';
import { untilGone } from '../deletion/tombstone-gc.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { linesOf, objectsOf, type Row } from './objects.js';

describe('scheduled exports', function () {
  this.timeout(60_000);
  let bucket: Bucket;
  let server: TestServer;
  let path: string;

  before(async () => {
    bucket = await Bucket.start();
    server = await bootServer({ env: { ...bucket.env, EXPORT_TO: bucket.address }, exportedAtOnce: 1_000 });
    path = `/projects/${server.projectId}/scheduled-exports`;
  });
  afterEach(() => (bucket.onRequest = () => undefined));
  after(async () => {
    await server.dispose();
    await bucket.stop();
  });

  const send = async (list: string, body: unknown) =>
    expect((await server.request('POST', `/${list}`, { body })).status).to.equal(200);
  const create = async (more: object): Promise<Row> => {
    const { status, json, text } = await server.request('POST', path, {
      body: { name: 'calls', list: 'spans', every_minutes: 60, ...more },
    });
    expect(status, text).to.equal(201);
    return json;
  };
  /** Waits until it has been run, and nothing is due. */
  const settled = async ({ id }: Row): Promise<Row> => {
    for (;;) {
      const { json } = await server.request('GET', `${path}/${id}`);
      if (Date.parse(json.next_at) > Date.now() + 1000) return json;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const run = async (schedule: Row) => {
    expect((await server.request('POST', `${path}/${schedule['id']}:run`)).status).to.equal(200);
    return settled(schedule);
  };
  const rowsOf = async ({ id }: Row) => {
    const objects = await objectsOf(bucket, server.projectId, id);
    return [...objects.values()].map(linesOf);
  };

  it('have what is stored first, and then each version that was written since, once', async () => {
    await send(
      'spans',
      [0, 1, 2].map((n) => span(n, { kind: 'llm', cost: n })),
    );
    await send('spans', [span(3, { kind: 'tool' })]);
    const schedule = await create({ query: 'span_kind=llm&fields=name,cost' });
    expect(await settled(schedule)).to.include({ objects: 1, rows: 3, failures: 0, error: null });
    const [first = []] = await rowsOf(schedule);
    expect(first.map(({ id, name, cost }) => [id, name, cost])).to.deep.equal(
      [0, 1, 2].map((n) => [uuid(n), `span ${n}`, n]),
    );
    expect(first[0]).to.have.all.keys('id', 'trace_id', 'started_at', 'name', 'cost');

    expect(await run(schedule), 'nothing was written').to.include({ objects: 1, rows: 3 });
    await send('spans', [span(1, { kind: 'llm', name: 'again' })]);
    await server.request('DELETE', `/spans/${uuid(2)}`);
    await send('spans', [span(4, { kind: 'llm' }), span(5, { kind: 'tool' })]);
    const after = await run(schedule);
    expect(after).to.include({ objects: 2, rows: 5 });
    const [, second = []] = await rowsOf(schedule);
    expect(second.map(({ name }) => name)).to.deep.equal(['again', 'span 4']);
    const names = [...(await objectsOf(bucket, server.projectId, schedule['id'])).keys()];
    expect(after['last_object']).to.equal(names.at(-1));
  });

  it('have traces whenever anything was written to them, in several objects where there are many', async () => {
    const many = Array.from({ length: 3_200 }, (_, n) => span(10_000 + n, { tags: { many: '1' } }));
    for (let from = 0; from < many.length; from += 800) await send('spans', many.slice(from, from + 800));
    const schedule = await create({ list: 'traces', query: 'tags.many=1&fields=span_count', format: 'parquet' });
    expect(await settled(schedule)).to.include({ objects: 3, rows: 3_200 });
    await send('spans', [span(20_000, { trace_id: many[7]?.['trace_id'] })]);
    expect(await run(schedule)).to.include({ objects: 4, rows: 3_201 });
    const objects = [...(await objectsOf(bucket, server.projectId, schedule['id'])).values()];
    const rows = await Promise.all(objects.map((bytes) => parquetReadObjects({ file: Uint8Array.from(bytes).buffer })));
    expect(new Set(rows.slice(0, 3).flatMap((some) => some.map(({ id }) => id as string))).size).to.equal(3_200);
    expect(rows[3]).to.have.length(1);
    expect(rows[3]?.[0]).to.include({ id: many[7]?.['trace_id'], span_count: 2n });
  });

  it('have sessions, scores and feedback whenever they changed, too', async () => {
    const [one, other] = [uuid(60_001), uuid(60_002)];
    const at = (n: number, session_id: string, more = {}) => span(60_000 + n, { session_id, cost: 1, ...more });
    await send('spans', [at(1, one), at(2, one), at(3, other), at(4, other)]);
    const score = (value: number) => ({ entity_type: 'span', entity_id: uuid(60_001), name: 'exported', value });
    await send('scores', [score(1), { ...score(2), entity_id: uuid(60_002) }]);
    const say = (n: number, thumbs_up: boolean) =>
      server.request('POST', `/projects/${server.projectId}/spans/${uuid(60_000 + n)}/feedback`, {
        body: { thumbs_up, reason: `of ${n}` },
      });
    for (const n of [1, 2]) expect((await say(n, true)).status).to.equal(200);
    const schedules = [
      await create({ list: 'sessions', query: 'fields=trace_count,cost' }),
      await create({ list: 'scores', query: 'name=exported' }),
      await create({ list: 'feedback', query: '' }),
    ];
    for (const schedule of schedules) expect(await settled(schedule)).to.include({ objects: 1, rows: 2, error: null });

    // A trace leaves its session: both have changed. Of scores and feedback, one is given again.
    await send('spans', [at(2, other, { trace_id: at(2, one)['trace_id'] })]);
    await send('scores', [score(3)]);
    await say(2, false);
    for (const schedule of schedules) await run(schedule);
    const [sessions = [], scores = [], feedback = []] = await Promise.all(schedules.map(rowsOf));
    const byId = (rows: readonly Row[] = []) =>
      Object.fromEntries(rows.map(({ id, trace_count, cost }) => [id, [trace_count, cost]]));
    expect(sessions.map(byId)).to.deep.equal([
      { [one]: [2, 2], [other]: [2, 2] },
      { [one]: [1, 1], [other]: [3, 3] },
    ]);
    expect(scores.map((rows) => rows.map(({ value }) => value as number).sort())).to.deep.equal([[1, 2], [3]]);
    expect(feedback.map((rows) => rows.map(({ reason, thumbs_up }) => [reason, thumbs_up]))).to.deep.equal([
      [
        ['of 1', true],
        ['of 2', true],
      ],
      [['of 2', false]],
    ]);
    for (const schedule of schedules) expect(await run(schedule), 'nothing was written').to.include({ objects: 2 });
    for (const [list, query] of [
      ['scores', 'fields=id'],
      ['feedback', 'format=csv'],
      ['sessions', 'limit=1'],
    ])
      expect(
        (await server.request('POST', path, { body: { name: 'x', list, query, every_minutes: 9 } })).status,
        query,
      ).to.equal(422);
  });

  it('leave out traces whose figures are not right, and have them once they are', async () => {
    const { notCurrent } = SetAside.prototype;
    const [wrong, right, written] = [span(70_001), span(70_002), span(70_003)];
    const tags = { aside: '1' };
    await send(
      'spans',
      [wrong, right, written].map((one) => ({ ...one, tags })),
    );
    const aside = [wrong['trace_id'], written['trace_id']] as string[];
    SetAside.prototype.notCurrent = () => ({ traces: aside, sessions: [], stale: [] });
    try {
      const schedule = await create({ list: 'traces', query: 'tags.aside=1&fields=span_count' });
      expect(await settled(schedule)).to.include({ objects: 1, rows: 1 });
      expect(await run(schedule), 'still not right').to.include({ objects: 1, rows: 1 });
      aside.length = 0;
      // One of them changes: it comes as what it is then, once.
      await send('spans', [{ ...span(70_004), trace_id: written['trace_id'], tags }]);
      expect(await run(schedule)).to.include({ objects: 2, rows: 3 });
      const objects = (await rowsOf(schedule)).map((rows) => rows.map(({ id, span_count }) => [id, span_count]));
      expect(objects[0]).to.deep.equal([[right['trace_id'], 1]]);
      expect(objects[1]).to.have.deep.members([
        [wrong['trace_id'], 1],
        [written['trace_id'], 2],
      ]);
      expect(await run(schedule), 'none is left').to.include({ objects: 2, rows: 3 });
    } finally {
      SetAside.prototype.notCurrent = notCurrent;
    }
  });

  it('say why they failed, and make the same object again', async () => {
    const schedule = await create({ query: 'names=failing' });
    await settled(schedule);
    await send('spans', [span(30_000, { name: 'failing' }), span(30_001, { name: 'failing' })]);
    const keys: string[] = [];
    let fault: Fault = 'lost';
    bucket.onRequest = ({ method, key }: BucketRequest) => {
      if (method === 'PUT') keys.push(key);
      return method === 'PUT' ? fault : undefined;
    };
    const failed = await run(schedule);
    expect(failed).to.include({ failures: 1, objects: 0 });
    expect(failed['error'])
      .to.match(/did not respond/)
      .and.not.include('s3');
    // One of its versions is replaced meanwhile.
    await send('spans', [span(30_001, { name: 'failing', cost: 1 })]);
    fault = undefined;
    expect(await run(schedule)).to.include({ failures: 0, error: null, objects: 2, rows: 2 });
    const objects = await rowsOf(schedule);
    expect(objects.map((rows) => rows.map(({ id, cost }) => [id, cost]))).to.deep.equal([
      [[uuid(30_000), null]],
      [[uuid(30_001), 1]],
    ]);
    expect(new Set(keys).size).to.equal(2);
  });

  it('can be paused, changed and deleted, and are bounded', async () => {
    const schedule = await create({ query: 'names=none' });
    await settled(schedule);
    const at = `${path}/${schedule['id']}`;
    const changed = await server.request('PATCH', at, { body: { paused: true, every_minutes: 5, name: 'other' } });
    expect(changed.json).to.include({ paused: true, every_minutes: 5, name: 'other' });
    expect((await server.request('POST', `${at}:run`)).status).to.equal(409);
    expect((await server.request('DELETE', at)).status).to.equal(204);
    expect((await server.request('GET', at)).status).to.equal(404);
    const wrong = { name: 'x', list: 'spans', every_minutes: 1 };
    for (const query of ['limit=1', 'span_kind=', 'sort_by=cost'])
      expect((await server.request('POST', path, { body: { ...wrong, query } })).status, query).to.equal(422);
    expect((await server.request('POST', path, { body: { ...wrong, every_minutes: 0 } })).status).to.equal(422);
    const { projectId, key } = makeProject(server.dataDir);
    const known = ((await server.request('GET', path)).json as Row[])[0];
    const other = `/projects/${projectId}/scheduled-exports`;
    expect((await server.request('GET', `${other}/${known?.['id']}`, { key })).status).to.equal(404);
    for (let n = 0; n < 20; n += 1)
      expect((await server.request('POST', other, { body: wrong, key })).status).to.equal(201);
    expect((await server.request('POST', other, { body: wrong, key })).status).to.equal(409);
    expect((await server.request('DELETE', `/projects/${projectId}`, { key })).status).to.equal(202);
    await untilGone(server.dataDir, [projectId]);
  });
});
