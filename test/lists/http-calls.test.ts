import { expect } from 'chai';
import { promptApi } from '../prompts/prompt-api.js';
import { CheckedApi, span, uuid, type ListName, type Row } from '../harness/checked-api.js';

const SESSION = uuid(100);
const OTHER = uuid(101);

const called = (number: number, attributes: Row, more: Row = {}) => span(number, { kind: 'llm', attributes, ...more });

/** Three traces, the first two of one session; the last span of the first trace is another call. */
const spans: Row[] = [
  called(
    1,
    {
      provider: 'openai',
      model: 'gpt-4o',
      inputTokens: 10,
      outputTokens: '5',
      prompt_slug: 'greeting',
      prompt_version: 1,
    },
    { trace_id: uuid(11), session_id: SESSION },
  ),
  called(
    2,
    {
      model: 'openai/gpt-4o',
      inputTokens: 1,
      outputTokens: 2,
      cacheReadTokens: 4,
      prompt_slug: 'farewell',
      prompt_version: '2',
    },
    { trace_id: uuid(11), parent_span_id: uuid(1) },
  ),
  called(3, { provider: 'azure', model: 'gpt-4o', inputTokens: 7 }, { trace_id: uuid(12), session_id: SESSION }),
  called(
    4,
    { provider: 'acme', model: 'acme/house', zeroeval: { task: 'greeting', prompt_version: 2 } },
    { trace_id: uuid(13), session_id: OTHER, kind: 'tts' },
  ),
  called(
    5,
    { provider: 'openai', model: 'gpt-4o', inputTokens: 18, outputTokens: 7 },
    { trace_id: uuid(13), kind: 'agent' },
  ),
];

const FIELDS =
  'provider,model,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,prompt_slug,prompt_version';

describe('what spans say of their calls', () => {
  let api: CheckedApi;

  before(async () => {
    api = await CheckedApi.boot();
    await api.post('spans', spans);
  });
  after(() => api.dispose());

  const found = async (list: ListName, query: string) => (await api.ids(list, query)).sort();
  /** The numbers of what a query finds, in each list. */
  const everywhere = async (query: string) => ({
    spans: await found('spans', query),
    traces: await found('traces', query),
    sessions: await found('sessions', query),
  });
  const call = async (id: string) => {
    const [row] = await api.get('spans', `id=${id}&fields=${FIELDS}`);
    return Object.values(row ?? {});
  };

  it('is read of the attributes that make the price', async () => {
    expect(await call(uuid(1))).to.deep.equal(['openai', 'gpt-4o', 10, 5, null, null, 'greeting', 1]);
    expect(await call(uuid(2)), 'cached tokens that were counted apart').to.deep.equal([
      'openai',
      'gpt-4o',
      5,
      2,
      4,
      null,
      'farewell',
      2,
    ]);
    expect(await call(uuid(3))).to.deep.equal(['azure', 'gpt-4o', 7, null, null, null, null, null]);
    expect(await call(uuid(4)), 'of speech').to.deep.equal(['acme', 'house', null, null, null, null, 'greeting', 2]);
    expect(await call(uuid(5)), 'of a wrapper').to.deep.equal(Array(8).fill(null));
  });

  it('is summed in traces and sessions', async () => {
    const sums = async (list: ListName) =>
      (await api.get(list, 'sort_by=input_tokens')).map((row) => [
        row['id'],
        row['input_tokens'],
        row['output_tokens'],
      ]);
    expect(await sums('traces')).to.deep.equal([
      [uuid(11), 15, 7],
      [uuid(12), 7, null],
      [uuid(13), null, null],
    ]);
    expect(await sums('sessions')).to.deep.equal([
      [SESSION, 22, 7],
      [OTHER, null, null],
    ]);
  });

  it('finds spans, their traces and sessions by model, however it was written', async () => {
    const any = { spans: [1, 2, 3].map(uuid), traces: [uuid(11), uuid(12)], sessions: [SESSION] };
    expect(await everywhere('models=gpt-4o')).to.deep.equal(any);
    const openai = { spans: [1, 2].map(uuid), traces: [uuid(11)], sessions: [SESSION] };
    expect(await everywhere('models=openai/gpt-4o')).to.deep.equal(openai);
    expect(await everywhere('providers=openai')).to.deep.equal(openai);
    const both = { spans: [1, 2, 4].map(uuid), traces: [uuid(11), uuid(13)], sessions: [SESSION, OTHER] };
    expect(await everywhere('models=openai/gpt-4o,house')).to.deep.equal(both);
    expect(await everywhere('providers=openai,acme')).to.deep.equal(both);
    expect(await everywhere('models=gpt')).to.deep.equal({ spans: [], traces: [], sessions: [] });
  });

  it('finds them by prompt and version, of one span', async () => {
    expect(await everywhere('prompt_slug=greeting')).to.deep.equal({
      spans: [1, 4].map(uuid),
      traces: [uuid(11), uuid(13)],
      sessions: [SESSION, OTHER],
    });
    expect(await everywhere('prompt_slug=greeting&prompt_version=2')).to.deep.equal({
      spans: [uuid(4)],
      traces: [uuid(13)],
      sessions: [OTHER],
    });
    expect(await found('traces', `prompt_slug=greeting&id=${uuid(11)}&models=gpt-4o`)).to.deep.equal([uuid(11)]);
    expect(await found('traces', `prompt_slug=farewell&id=${uuid(13)}`)).to.deep.equal([]);
    expect(await api.refused('GET', 'traces', 'prompt_version=latest')).to.have.property('?prompt_version');
  });

  it('goes with text, tags, sorts, pages and counts', async () => {
    await api.post('spans', [
      called(6, { model: 'm' }, { input_data: 'zebra', tags: { step: 'one' }, session_id: uuid(102) }),
    ]);
    expect(await found('traces', 'models=m&q=zebra&step=one')).to.deep.equal([uuid(1_000_006)]);
    expect(await found('sessions', 'models=m&q=zebra&step=one')).to.deep.equal([uuid(102)]);
    expect(await found('traces', 'models=gpt-4o&q=zebra')).to.deep.equal([]);
    const counted = await api.send('GET', 'traces', 'models=gpt-4o&count=true&limit=1&sort_by=output_tokens');
    expect(counted.headers.get('x-total-count')).to.equal('2');
    expect((counted.json as Row[]).map(({ id }) => id)).to.deep.equal([uuid(11)]);
  });

  it('follows a span that is sent again, and one that is deleted', async () => {
    const sent = called(7, { model: 'first', inputTokens: 3 }, { trace_id: uuid(17), session_id: uuid(107) });
    await api.post('spans', [sent]);
    expect(await found('sessions', 'models=first')).to.deep.equal([uuid(107)]);
    await api.post('spans', [{ ...sent, attributes: { model: 'second', inputTokens: 4 } }]);
    expect(await found('sessions', 'models=first')).to.deep.equal([]);
    expect(await found('traces', 'models=second')).to.deep.equal([uuid(17)]);
    expect((await api.one('sessions', uuid(107)))['input_tokens']).to.equal(4);
    await api.server.request('DELETE', `/spans/${uuid(7)}`);
    expect(await found('traces', 'models=second')).to.deep.equal([]);
  });

  it('names the prompt that an id of it or of a version stands for', async () => {
    const made = (await promptApi(api.server).ensure('a/support bot', { content: 'Help.' })).json;
    await api.post('spans', [
      called(21, { zeroeval: { prompt_version_id: made.id.toUpperCase() }, prompt_slug: 'elsewhere' }),
      called(22, { prompt_slug: made.prompt_id, prompt_version: 9 }),
      called(23, { prompt_version_id: uuid(99) }),
    ]);
    const named = await api.get('spans', 'prompt_slug=a/support%20bot&sort_by=name&sort_order=asc');
    expect(
      named.map(({ id, prompt_version, prompt_version_id }) => [id, prompt_version, prompt_version_id]),
    ).to.deep.equal([
      [uuid(21), 1, made.id],
      [uuid(22), 9, null],
    ]);
    expect(await api.one('spans', uuid(23))).to.include({ prompt_slug: null, prompt_version_id: uuid(99) });
  });

  it('is the same of spans that come by OpenTelemetry', async () => {
    const attributes = Object.entries({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 3,
      prompt_slug: 'greeting',
    }).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: value } : { stringValue: value },
    }));
    const trace = '5b8efff798038103d269b633813fc60c';
    const sent = {
      traceId: trace,
      spanId: 'eee19b7ec3c1b174',
      name: 'chat',
      startTimeUnixNano: '1769853600000000000',
      endTimeUnixNano: '1769853601000000000',
      attributes,
    };
    const body = { resourceSpans: [{ scopeSpans: [{ spans: [sent] }] }] };
    expect((await api.server.request('POST', '/v1/traces', { body })).status).to.equal(200);
    const [row] = await api.get('spans', `models=gpt-4o-mini&fields=${FIELDS}`);
    expect(Object.values(row ?? {})).to.deep.equal(['openai', 'gpt-4o-mini', 12, 3, null, null, 'greeting', null]);
  });

  it('keeps fields of these names that a client sends, and not those of an answer that is sent back', async () => {
    const [answer] = await api.post('spans', [
      span(31, { kind: 'llm', provider: 'acme', model: 'acme/one', input_tokens: 4 }),
    ]);
    expect(answer).to.include({ provider: 'acme', model: 'one', input_tokens: null });
    expect(answer?.['attributes']).to.deep.equal({ provider: 'acme', model: 'acme/one', input_tokens: 4 });
    const [again] = await api.post('spans', [answer]);
    expect({ ...again, created_at: '' }).to.deep.equal({ ...answer, created_at: '' });
  });

  it('leaves tags of these names to be filtered by', async () => {
    await api.post('spans', [span(41, { tags: { model: 'small' } })]);
    expect(await found('spans', 'model=small')).to.deep.equal([uuid(41)]);
    expect(await found('traces', 'model=small')).to.deep.equal([uuid(1_000_041)]);
  });

  it('takes what is hostile for nothing', async () => {
    const attributes = {
      provider: ['x'],
      model: { name: 'x' },
      inputTokens: -1,
      outputTokens: 'many',
      cacheReadTokens: 1e300,
      prompt_slug: 'x'.repeat(200),
      prompt_version: 1.5,
      prompt_version_id: 'none',
      zeroeval: null,
    };
    const [answer] = await api.post('spans', [called(51, attributes)]);
    for (const name of [...FIELDS.split(','), 'prompt_version_id']) expect(answer?.[name], name).to.equal(null);
    const [odd] = await api.post('spans', [
      called(52, { model: 'a\ud800\u0000', inputTokens: 1.4, outputTokens: 1e12 }),
    ]);
    const { created_at: _at, ...said } = odd ?? {};
    expect(await api.one('spans', uuid(52))).to.include({ model: said['model'], input_tokens: 1, output_tokens: 1e12 });
  });
});
