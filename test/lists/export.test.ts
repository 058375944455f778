import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { parquetReadObjects } from 'hyparquet';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';
import { CheckedApi, span, START, uuid, type ListName, type Row } from '../harness/checked-api.js';

const TIED = 1_100;
const SINGLE = 400;
const moment = (second: number) => new Date(Date.parse(START) + 1000 * second).toISOString().replace('Z', '000Z');

describe('exports of lists', function () {
  this.timeout(60_000);
  let api: CheckedApi;

  const file = (list: ListName, query = '') => api.server.request('GET', `/${list}:export?${query}`);
  const lines = async (list: ListName, query = ''): Promise<Row[]> => {
    const { status, text } = await file(list, query);
    expect(status, text.slice(0, 300)).to.equal(200);
    return text === ''
      ? []
      : text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Row);
  };
  const rows = async (query: string) => {
    const answer = await fetch(`${api.server.url}/spans:export?${query}`, {
      headers: { Authorization: `Bearer ${api.server.key}` },
    });
    return Buffer.from(await answer.arrayBuffer());
  };

  before(async () => {
    api = await CheckedApi.boot();
    const spans = Array.from({ length: TIED + SINGLE }, (_, n) =>
      span(n, {
        kind: n % 2 === 0 ? 'llm' : 'tool',
        started_at: n < TIED ? START : moment(n % 400),
        session_id: uuid(9_000_000 + (n % 150)),
        input_data: n % 30 === 0 ? 'x'.repeat(300_000) : `"in"\n${n}`,
        cost: n / 1e12,
        attributes: { n, large: { list: [1, null] } },
        tags: { half: String(n % 2) },
      }),
    );
    for (let from = 0; from < spans.length; from += 500) await api.post('spans', spans.slice(from, from + 500));
  });
  after(() => api.dispose());

  it('have every object once, newest first, also of one moment and with large texts', async () => {
    const listed = await api.get('spans', 'limit=10000');
    expect(listed).to.have.length(TIED + SINGLE);
    expect(await lines('spans')).to.deep.equal(listed);
    const traces = await lines('traces');
    expect(new Set(traces.map(({ id }) => id)).size).to.equal(TIED + SINGLE);
    expect(traces).to.have.length(TIED + SINGLE);
    expect(traces.slice(0, 500)).to.deep.equal(await api.get('traces', 'limit=500'));
    expect(await lines('sessions')).to.deep.equal(await api.get('sessions', 'limit=500'));
  });

  it('take the filters and fields of the list, and say which tags they took', async () => {
    const asked = `span_kind=llm&half=0&started_before=${moment(200)}&started_after=${moment(1)}`;
    const found = await api.get('spans', `${asked}&fields=id,trace_id,started_at,cost&limit=10000`);
    expect(found.length).to.be.within(20, 600);
    const { text, headers } = await file('spans', `${asked}&fields=cost`);
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Row),
    ).to.deep.equal(found);
    expect(headers.get('x-tag-filters')).to.equal('half');
    expect(headers.get('content-disposition')).to.equal('attachment; filename="spans.jsonl"');
    expect(await lines('traces', 'names=none')).to.deep.equal([]);
    expect((await file('spans', 'sort_by=cost')).json.errors[0].pointer).to.equal('?sort_by');
    expect((await file('spans', 'format=xml')).status).to.equal(422);
  });

  it('are CSV with a line of names', async () => {
    const [listed] = await api.get('spans', `id=${uuid(1)}`);
    const table = parse<Record<string, string>>(await rows(`id=${uuid(1)}&format=csv`), { columns: true });
    expect(table).to.have.length(1);
    expect(Object.keys(table[0] ?? {})).to.deep.equal(Object.keys(spanList.fields));
    expect(table[0]).to.deep.include({
      input_data: '"in"\n1',
      cost: String(listed?.['cost']),
      attributes: JSON.stringify(listed?.['attributes']),
      parent_span_id: '',
    });
    expect(parse(await rows('names=none&format=csv')), 'names alone').to.have.length(1);
  });

  it('are Parquet of several groups, with times and numbers as such', async () => {
    const listed = await api.get('spans', 'limit=10000&fields=id,trace_id,started_at,cost,tags,has_error,duration_ms');
    const bytes = await rows('format=parquet');
    const found = await parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
    expect(found).to.have.length(listed.length);
    for (const [index, row] of listed.entries()) {
      const { started_at, ...same } = found[index] ?? {};
      expect((started_at as Date).toISOString().slice(0, 23)).to.equal(String(row['started_at']).slice(0, 23));
      const { id, trace_id, cost, has_error, duration_ms } = row;
      expect(same).to.deep.include({ id, trace_id, cost, has_error, duration_ms, tags: JSON.stringify(row['tags']) });
    }
    expect(
      await parquetReadObjects({ file: Uint8Array.from(await rows('names=none&format=parquet')).buffer }),
    ).to.deep.equal([]);
  });

  it('have all scores, and all feedback of the project, with the filters of their lists', async () => {
    const { request, projectId } = api.server;
    const scores = Array.from({ length: 700 }, (_, n) => ({
      ...{ entity_type: 'span', entity_id: uuid(n), name: n % 2 === 0 ? 'good' : 'mood' },
      value: n % 2 === 0 ? n : `"calm"\n${n}`,
    }));
    expect((await request('POST', '/scores', { body: scores })).status).to.equal(200);
    const known = (await request('GET', '/scores?limit=1000')).json as Row[];
    const read = async (path: string) => {
      const { status, text } = await request('GET', path);
      expect(status, text.slice(0, 300)).to.equal(200);
      return text
        .trimEnd()
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
    };
    expect(await read('/scores:export')).to.deep.equal(known);
    expect(await read('/scores:export?name=good&value_min=600')).to.deep.equal(
      known.filter(({ name, value }) => name === 'good' && value >= 600),
    );
    expect((await request('GET', '/scores:export?limit=5')).status).to.equal(422);

    const project = `/projects/${projectId}`;
    await request('POST', '/v1/tasks/exported/prompt/versions/ensure', { body: { content: 'x' } });
    const given = Array.from({ length: 25 }, (_, n) => ({ thumbs_up: n % 3 === 0, reason: `"why"\n${n}` }));
    for (const [n, body] of given.entries()) {
      const path = n % 2 === 0 ? `/v1/prompts/exported/completions/${uuid(n)}` : `${project}/spans/${uuid(n)}`;
      expect((await request('POST', `${path}/feedback`, { body })).status).to.equal(200);
    }
    const all = await read('/feedback:export');
    expect(all.map(({ completion_id }) => completion_id)).to.deep.equal(given.map((_, n) => uuid(24 - n)));
    const listed = (await request('GET', `${project}/prompts/exported/feedback?limit=100`)).json.feedback as Row[];
    expect(await read(`/feedback:export?prompt_id=${listed[0]?.['prompt_id']}`)).to.deep.equal(
      listed.map(({ prompt_version: _, ...feedback }) => feedback),
    );
    expect(await read('/feedback:export?thumbs_up=true')).to.have.length(9);
    const { text } = await request('GET', '/feedback:export?format=csv&thumbs_up=true');
    const table = parse<Record<string, string>>(text, { columns: true });
    expect(table.map(({ reason }) => reason)).to.include('"why"\n24');
    expect(JSON.parse(table[0]?.['created_by'] ?? '')).to.have.keys('id', 'name', 'email');
    const answer = await fetch(`${api.server.url}/feedback:export?format=parquet`, {
      headers: { Authorization: `Bearer ${api.server.key}` },
    });
    const rowsRead = await parquetReadObjects({ file: await answer.arrayBuffer() });
    expect(rowsRead.map(({ thumbs_up }) => thumbs_up)).to.deep.equal(all.map(({ thumbs_up }) => thumbs_up));
    expect((rowsRead[0]?.['created_at'] as Date).toISOString().slice(0, 19)).to.equal(
      all[0]?.['created_at'].slice(0, 19),
    );
  });

  it('are two at once, and end with their client', async () => {
    const clients = [new AbortController(), new AbortController()];
    const ask = (signal?: AbortSignal) =>
      fetch(`${api.server.url}/spans:export`, {
        headers: { Authorization: `Bearer ${api.server.key}` },
        ...(signal && { signal }),
      });
    const open = await Promise.all(clients.map(({ signal }) => ask(signal)));
    expect(open.map(({ status }) => status)).to.deep.equal([200, 200]);
    const third = await ask();
    expect(third.status).to.equal(429);
    expect(third.headers.get('retry-after')).to.equal('5');
    await third.text();
    clients[0]?.abort();
    for (let status = 429; status !== 200;) {
      const again = await ask();
      await again.text();
      status = again.status;
    }
    clients[1]?.abort();
  });
});
