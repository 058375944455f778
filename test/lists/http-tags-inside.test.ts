import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { CheckedApi, span, uuid, type Row } from '../harness/checked-api.js';

const SESSION = uuid(100);
const OTHER = uuid(101);
const QUIET = uuid(102);

/** Two traces of one session and one of another; tags on spans, on traces, on sessions. */
const spans: Row[] = [
  span(1, { trace_id: uuid(11), session_id: SESSION, tags: { environment: 'dev', step: 'plan' } }),
  span(2, { trace_id: uuid(11), parent_span_id: uuid(1), tags: { step: 'search' }, trace_tags: { customer: 'acme' } }),
  span(3, {
    trace_id: uuid(12),
    session_id: SESSION,
    session_tags: { channel: 'chat' },
    tags: { environment: 'prod' },
  }),
  span(4, { trace_id: uuid(13), session_id: OTHER, tags: { environment: 'dev' }, trace_tags: { customer: 'other' } }),
  span(5, { trace_id: uuid(14), session_id: QUIET, name: 'quiet' }),
];

describe('tags of what traces and sessions hold', () => {
  let api: CheckedApi;

  before(async () => {
    api = await CheckedApi.boot();
    await api.post('spans', spans);
  });
  after(() => api.dispose());

  const found = async (list: 'spans' | 'traces' | 'sessions', query: string) => (await api.ids(list, query)).sort();

  it('the same filter finds a span, its trace and its session', async () => {
    expect(await found('spans', 'environment=dev')).to.deep.equal([uuid(1), uuid(4)]);
    expect(await found('traces', 'environment=dev')).to.deep.equal([uuid(11), uuid(13)]);
    expect(await found('sessions', 'environment=dev')).to.deep.equal([SESSION, OTHER]);
  });

  it('a tag of a trace finds its session, and no span', async () => {
    expect(await found('traces', 'customer=acme')).to.deep.equal([uuid(11)]);
    expect(await found('sessions', 'customer=acme')).to.deep.equal([SESSION]);
    expect(await found('spans', 'customer=acme')).to.deep.equal([]);
  });

  it('a tag of a session finds no trace', async () => {
    expect(await found('sessions', 'channel=chat')).to.deep.equal([SESSION]);
    expect(await found('traces', 'channel=chat')).to.deep.equal([]);
  });

  it('several tags may be at different places', async () => {
    expect(await found('traces', 'step=plan&step=search&customer=acme&environment=dev')).to.deep.equal([uuid(11)]);
    expect(await found('traces', 'customer=acme&environment=prod')).to.deep.equal([]);
    expect(await found('sessions', 'customer=acme&environment=prod&channel=chat')).to.deep.equal([SESSION]);
    expect(await found('sessions', 'customer=other&environment=prod')).to.deep.equal([]);
  });

  it('goes with filters, text, sorts, pages and counts', async () => {
    const counted = await api.send('GET', 'traces', 'environment=dev&count=true&limit=1&sort_by=name&sort_order=asc');
    expect(counted.headers.get('x-total-count')).to.equal('2');
    expect((counted.json as Row[]).map(({ id }) => id)).to.deep.equal([uuid(11)]);
    expect(await found('traces', 'environment=dev&names=span%204')).to.deep.equal([uuid(13)]);
    expect(await found('sessions', 'environment=dev&offset=1&limit=1')).to.have.length(1);
    expect(await found('traces', `id=${uuid(13)}&environment=dev`)).to.deep.equal([uuid(13)]);
    expect(await found('traces', `id=${uuid(12)}&environment=dev`)).to.deep.equal([]);
  });

  it('follows a span that is sent again, and one that is deleted', async () => {
    await api.post('spans', [span(6, { trace_id: uuid(15), tags: { release: 'one' } })]);
    expect(await found('traces', 'release=one')).to.deep.equal([uuid(15)]);
    await api.post('spans', [span(6, { trace_id: uuid(15), tags: { release: 'two' } })]);
    expect(await found('traces', 'release=one')).to.deep.equal([]);
    expect(await found('traces', 'release=two')).to.deep.equal([uuid(15)]);
    await api.server.request('DELETE', `/spans/${uuid(6)}`, { key: api.server.key });
    expect(await found('traces', 'release=two')).to.deep.equal([]);
  });

  it('answers which parameters it took as tags', async () => {
    const header = async (query: string) => (await api.send('GET', 'traces', query)).headers.get('x-tag-filters');
    expect(await header('limit=1')).to.equal(null);
    expect(await header('environment=dev&tags.limit=3&user%20name=x')).to.equal('environment, limit, user%20name');
    const many = Array.from({ length: 30 }, (_, index) => `t${index}=x`).join('&');
    expect(await header(many)).to.match(/^t0, t1, .*, t19, \.\.\.$/);
  });
});

describe('names that are no filters', () => {
  let api: CheckedApi;
  before(async () => {
    api = await CheckedApi.boot();
  });
  after(() => api.dispose());

  const refusals: readonly (readonly [list: 'spans' | 'traces' | 'sessions', name: string, detail: string])[] = [
    [
      'spans',
      'kind',
      'is a field, not a filter: to filter by it, use span_kind; for the tag with this name, use tags.kind',
    ],
    [
      'spans',
      'started_at',
      'is a field, not a filter: to filter by it, use started_after or started_before; for the tag with this name, use tags.started_at',
    ],
    [
      'spans',
      'input_data',
      'is a field that spans cannot be filtered by (q searches its text); for the tag with this name, use tags.input_data',
    ],
    ['spans', 'span_count', 'filters traces, not spans; for the tag with this name, use tags.span_count'],
    ['traces', 'span_kind', 'filters spans, not traces; for the tag with this name, use tags.span_kind'],
    [
      'traces',
      'name',
      'is a field, not a filter: to filter by it, use names; for the tag with this name, use tags.name',
    ],
    ['sessions', 'status', 'filters spans, not sessions; for the tag with this name, use tags.status'],
    ['spans', 'group_by', 'applies only to GET /spans:stats; for the tag with this name, use tags.group_by'],
    ['sessions', 'prefix', 'applies only to GET /sessions:facets; for the tag with this name, use tags.prefix'],
    ['traces', 'after', 'applies only to GET /traces:tail; for the tag with this name, use tags.after'],
    ['sessions', 'tags', 'is a field that sessions cannot be filtered by; for a tag, use tags.<key>=<value>'],
  ];
  for (const [list, name, detail] of refusals) {
    it(`GET /${list}?${name}=x says what to write`, async () => {
      expect(await api.refused('GET', list, `${name}=x`)).to.deep.equal({ [`?${name}`]: detail });
      if (name !== 'tags') expect(await api.get(list, `tags.${name}=x`)).to.deep.equal([]);
    });
  }

  it('are those of all calls about the same objects, which none takes for tags', async () => {
    const { operations } = await ApiDocument.of(api.server);
    const calls = operations
      .filter(({ path }) => /^\/(spans|traces|sessions)(:(stats|facets|tail))?$/.test(path))
      .filter(({ method }) => method === 'GET')
      .map(({ path, parameters }) => ({ path, about: path.split(':')[0], names: parameters.map(({ name }) => name) }));
    expect(calls).to.have.length(11);
    for (const { path, about, names } of calls) {
      const others = calls.filter((call) => call.about === about).flatMap((call) => call.names);
      const foreign = [...new Set(others)].filter((name) => !names.includes(name));
      const query = foreign.map((name) => `${name}=x`).join('&');
      const { status, json } = await api.server.request('GET', `${path}?${query}`);
      expect(status, `${path}?${query}`).to.equal(422);
      const details = new Map<string, string>(
        json.errors.map(({ pointer, detail }: Row) => [pointer as string, detail as string]),
      );
      for (const name of foreign) expect(details.get(`?${name}`), `${path}?${name}`).to.include(`use tags.${name}`);
    }
  });
});
