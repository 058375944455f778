import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { CheckedApi, span, uuid, type Row } from '../harness/checked-api.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { TailClient, type TailOptions } from '../harness/tail-client.js';
import { secondProject } from '../prompts/prompt-api.js';

describe('following spans and traces', function () {
  this.timeout(120_000);
  let api: CheckedApi;
  let server: TestServer;
  let otherKey: string;
  let open: TailClient[] = [];
  let next = 1;

  const limits = { answerWindowMs: 2_000, answerMinBytesPerSecond: 100_000 };
  const tail = async (path: string, options: TailOptions = {}) => {
    const client = await TailClient.open(server, path, options);
    open.push(client);
    return client;
  };
  const following = async (path: string, options: TailOptions = {}) => {
    const client = await tail(path, options);
    expect(client.status, client.body).to.equal(200);
    return client;
  };
  const post = (spans: readonly Row[], key?: string) =>
    (key === undefined ? api : api.withKey(key)).post('spans', spans);
  const some = (count: number, more: Row = {}) => Array.from({ length: count }, () => span(next++, more));
  const ids = (rows: readonly Row[]) => rows.map(({ id }) => id as string);

  before(async () => {
    server = await bootServer({ limits });
    api = await CheckedApi.of(server);
    otherKey = secondProject(server).key;
  });
  after(async () => {
    await server.stop();
    await rm(server.dataDir, { recursive: true, force: true });
  });
  afterEach(async () => {
    for (const client of open) client.close();
    await Promise.all(open.map((client) => client.until(() => client.closed)));
    open = [];
  });

  it('tells of spans as the list has them, of changed ones again, and of nobody else’s', async () => {
    const client = await following('/spans:tail');
    expect(client.headers).to.include({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store, no-transform',
    });
    await post(some(1), otherKey);
    const [first = {}] = some(1, { input_data: 'a\nb {"c": [1]} 😀', attributes: { a: ['\n'] }, cost: 1e-12 });
    await post([first]);
    await client.until(() => client.rows.length > 0);
    expect(client.rows).to.deep.equal([await api.one('spans', first['id'] as string)]);
    await post([{ ...first, name: 'changed' }]);
    await client.until(() => client.rows.length > 1);
    expect(client.rows[1]).to.include({ id: first['id'], name: 'changed' });
    expect(client.skipped).to.equal(0);
  });

  it('tells of traces with their figures', async () => {
    const client = await following('/traces:tail?fields=id,span_count,root_span_input,tags');
    const one = await following(`/traces:tail?id=${uuid(5_000_000)}&fields=id,span_count`);
    const whole = await following('/spans:tail?fields=input_data');
    const cut = await following('/spans:tail?fields=input_data&text_limit=100');
    const trace_id = uuid(5_000_000);
    const input_data = 'question'.repeat(100);
    await post(some(1, { trace_id, input_data, trace_tags: { t: 'v' } }));
    await client.until(() => client.rows.length > 0);
    expect(client.rows).to.deep.equal([{ id: trace_id, span_count: 1, root_span_input: input_data, tags: { t: 'v' } }]);
    await post(some(2, { trace_id, parent_span_id: uuid(1) }));
    await client.until(() => client.rows.at(-1).span_count === 3);
    await post(some(1));
    await one.until(() => one.rows.at(-1)?.span_count === 3);
    expect(new Set(ids(one.rows))).to.deep.equal(new Set([trace_id]));
    await whole.until(() => whole.rows.some((row) => row.input_data === input_data));
    const beginning = `${'question'.repeat(8)}que\n[… 700 characters left out here …]\n`;
    await cut.until(() => cut.rows.some(({ input_data: text }) => text?.startsWith(beginning)));
  });

  it('takes the filters of the list', async () => {
    const session_id = uuid(6_000_000);
    const found = some(1, {
      name: 'find me',
      kind: 'llm',
      session_id,
      input_data: 'A needle',
      tags: { t: 'v', limit: '1' },
    });
    const own = some(1, { tags: { 'spanhouse.judge': uuid(9) } });
    const queries = [
      'names=find%20me',
      'span_kind=llm&t=v',
      'tags.limit=1',
      'q=NEEDLE&fields=id',
      `session_id=${session_id}`,
      `trace_id=${found[0]?.['trace_id']}`,
      `id=${found[0]?.['id']}`,
      'started_after=2020-01-01&has_error=false&t=v',
    ];
    const clients = await Promise.all(queries.map((query) => following(`/spans:tail?${query}`)));
    const traces = await following('/traces:tail?q=needle&t=v&fields=id');
    const internal = await following('/spans:tail?internal=only');
    await post([...some(3, { tags: { t: 'w' } }), ...found, ...own]);
    for (const [index, client] of clients.entries()) {
      await client.until(() => client.rows.length > 0);
      expect(ids(client.rows), queries[index]).to.deep.equal(ids(found));
    }
    await traces.until(() => traces.rows.length > 0);
    expect(traces.rows).to.deep.equal([{ id: found[0]?.['trace_id'] }]);
    await internal.until(() => internal.rows.length > 0);
    expect(ids(internal.rows)).to.deep.equal(ids(own));
  });

  it('names how many more there were, and sends the newest', async () => {
    const client = await following('/spans:tail?fields=id');
    const spans = some(700);
    await post(spans);
    await client.until(() => client.rows.length > 0);
    expect(client.named('gap').map(({ data }) => data)).to.deep.equal([{ skipped: 500 }]);
    expect(new Set(ids(client.rows))).to.deep.equal(new Set(ids(spans.slice(500))));
  });

  it('sends no event of more than a megabyte', async () => {
    const client = await following('/spans:tail');
    await post(some(5, { input_data: 'x'.repeat(400_000) }));
    await client.until(() => client.rows.length > 0);
    expect(client.rows).to.have.length(2);
    expect(client.skipped).to.equal(3);
    await post(some(1, { input_data: 'x'.repeat(2_000_000) }));
    await client.until(() => client.skipped === 4);
  });

  it('tells of everything, at most twice a second', async () => {
    const client = await following('/spans:tail?fields=id');
    const started = performance.now();
    const sent: Row[] = [];
    while (performance.now() - started < 2_000) {
      const spans = some(1);
      await post(spans);
      sent.push(...spans);
      // More than 200 in half a second would be told as a gap.
      await delay(10);
    }
    await client.until(() => client.rows.length === sent.length);
    const seconds = (performance.now() - started) / 1000;
    expect(client.named('rows').length).to.be.at.most(Math.ceil(seconds * 2) + 1);
    expect(ids(client.rows).sort()).to.deep.equal(ids(sent).sort());
  });

  it('goes on where it was, by header or parameter, also on a server that was started again', async () => {
    const before = await following('/spans:tail?fields=id');
    await post(some(1));
    await before.until(() => before.rows.length > 0);
    before.close();
    const missed = some(2);
    await post(missed);
    const after = await following(`/spans:tail?fields=id&after=${before.lastId}`);
    await after.until(() => after.rows.length > 0);
    expect(ids(after.rows).sort()).to.deep.equal(ids(missed).sort());

    await server.stop();
    expect([after.closed, after.complete], 'ended, and not cut off').to.deep.equal([true, true]);
    server = await bootServer({ limits, dataDir: server.dataDir });
    api = await CheckedApi.of(server);
    const late = some(1);
    await post(late);
    const again = await following(`/spans:tail?fields=id&after=0`, { headers: { 'last-event-id': after.lastId } });
    await again.until(() => again.rows.length > 0);
    expect(ids(again.rows)).to.deep.equal(ids(late));
    expect(again.skipped).to.equal(0);
  });

  it('names what is too long ago as a gap that nobody counted, and goes on', async () => {
    const client = await following('/spans:tail?fields=id&after=1');
    await client.until(() => client.named('gap').length > 0);
    expect(client.named('gap')[0]?.data).to.deep.equal({ skipped: null });
    const ahead = await following(`/spans:tail?fields=id&after=${Number.MAX_SAFE_INTEGER}`);
    const spans = some(1);
    await post(spans);
    await ahead.until(() => ahead.rows.length > 0);
    expect(ids(ahead.rows)).to.deep.equal(ids(spans));
  });

  it('refuses ids that are none, and parameters that it does not have', async () => {
    for (const id of ['x', '-1', '1.5', '9'.repeat(400), '9007199254740993', '1 OR 1=1', '']) {
      const { status, json } = await server.request('GET', '/spans:tail', { headers: { 'last-event-id': id } });
      expect([status, json.errors[0].pointer], id).to.deep.equal([422, 'Last-Event-ID']);
    }
    for (const query of [
      'after=x',
      'after=-1',
      'limit=5',
      'offset=1',
      'sort_by=name',
      'count=true',
      'kind=llm',
      'span_kind=',
    ]) {
      const { status } = await server.request('GET', `/spans:tail?${query}`);
      expect(status, query).to.equal(422);
    }
    expect((await server.request('GET', '/spans:tail', { key: null })).status).to.equal(401);
    expect((await server.request('HEAD', '/spans:tail')).status).to.equal(200);
  });

  it('takes twenty of a project, and again when one has left', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, (_, index) => following(`/spans:tail?t=${index}`)));
    const refused = await tail('/traces:tail');
    expect(refused.status).to.equal(429);
    expect(refused.headers['retry-after']).to.equal('5');
    await following('/spans:tail', { key: otherKey });
    clients[0]?.close();
    let status = 429;
    while (status === 429) status = (await tail('/traces:tail')).status;
    expect(status).to.equal(200);
  });

  it('ends when the key is revoked, which tells nothing more', async () => {
    const { json } = await server.request('POST', `/projects/${server.projectId}/api-keys`, {
      body: { name: 'brief' },
    });
    const client = await following('/spans:tail?fields=id', { key: json.key });
    await server.request('DELETE', `/projects/${server.projectId}/api-keys/${json.id}`);
    await post(some(1));
    await client.until(() => client.closed);
    expect([client.complete, client.rows]).to.deep.equal([true, []]);
  });

  it('reads nothing for a client that does not read, which is cut off', async () => {
    // How many tails the server has done with.
    const ended = async () => {
      const { text } = await server.request('GET', '/metrics', { key: null });
      return /http_request_duration_seconds_count\{[^}]*route="\/spans:tail"[^}]*status="200"[^}]*\} (\d+)/.exec(
        text,
      )?.[1];
    };
    const before = await ended();
    const client = await following('/spans:tail');
    client.pause();
    const other = await following('/spans:tail?fields=id');
    // Beyond what the operating system takes for it.
    for (let sent = 0; sent < 20; sent += 1) {
      await post(some(2, { input_data: 'y'.repeat(400_000) }));
      await other.until(() => other.rows.length === 2 * (sent + 1));
    }
    while ((await ended()) === before) await delay(300);
    client.resume();
    await client.until(() => client.closed);
    expect(client.complete).to.equal(false);
  });

  it('counts as answered once it began, in the figures of requests', async () => {
    const figure = async (name: 'count' | 'sum') => {
      const { text } = await server.request('GET', '/metrics', { key: null });
      const labels = '[^}]*route="/traces:tail"[^}]*status="200"[^}]*';
      return Number(new RegExp(`http_request_duration_seconds_${name}\\{${labels}\\} (\\S+)`).exec(text)?.[1] ?? 0);
    };
    const [count, sum] = [await figure('count'), await figure('sum')];
    const client = await following('/traces:tail');
    await delay(1_500);
    client.close();
    await client.until(() => client.closed);
    while ((await figure('count')) === count) await delay(20);
    expect((await figure('sum')) - sum).to.be.below(1.5);
  });
});
