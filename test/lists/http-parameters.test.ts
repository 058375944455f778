import { expect } from 'chai';
import { filteredField, type Filter } from '../../src/engine/traces/model/list/definitions.js';
import { defaultQuery } from '../../src/engine/traces/model/list/query.js';
import { parseListQuery } from '../../src/http/list-query.js';
import {
  CheckedApi,
  definitions,
  each,
  listNames,
  uuid,
  type ListName,
  type Query,
  type Row,
} from '../harness/checked-api.js';
import { storeSample, TRACES } from './sample.js';

const bounds: Record<ListName, { limit: number; most: number; rows: number }> = {
  spans: { limit: 5000, most: 10_000, rows: TRACES * 4 },
  traces: { limit: 50, most: 500, rows: TRACES + 3 },
  sessions: { limit: 50, most: 500, rows: 9 },
};

const badTexts: Record<string, readonly string[]> = {
  uuid: [
    '',
    'x',
    'null ',
    '0000',
    `${uuid(1)}0`,
    `{${uuid(1)}}`,
    uuid(1).replaceAll('-', '').slice(1),
    'gggggggg-0000-4000-8000-000000000000',
    "' OR ''='",
  ],
  'date-time': [
    '',
    'x',
    'yesterday',
    '2026-13-01',
    '2026-02-30',
    '2026-01-31T25:00:00Z',
    '2026-01-31T10:00:00+25:00',
    '1969-12-31T23:59:59Z',
    '2255-01-01',
    '9999-12-31',
    '-1',
    'NaN',
    '1e99',
    'null',
    '12:30',
    'T10',
    '2026-01-31T10:00:00Z; --',
  ],
  number: [
    '',
    'x',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e400',
    '0x10',
    '1,5',
    '1 ',
    ' 1',
    '1_000',
    'null',
    '--1',
    '.',
    'e5',
    '1e',
  ],
  boolean: ['', 'yes', 'no', 'x', '2', '-1', 'null', 't', 'true ', 'constructor', '__proto__'],
  kind: ['', 'x y', 'LLM', 'No Kind!', 'llm,tool', '7', 'x'.repeat(33)],
  status: ['', 'x', 'OK', 'Error', 'null', 'ok,error', 'ok '],
};

const badOfType: Record<string, readonly string[] | undefined> = {
  id: badTexts['uuid'],
  time: badTexts['date-time'],
  number: badTexts['number'],
  integer: badTexts['number'],
  money: badTexts['number'],
  boolean: badTexts['boolean'],
  kind: badTexts['kind'],
  status: badTexts['status'],
  // Text of any kind is just no match, up to a length.
  text: ['x'.repeat(10_001)],
};

const isAnyOf = ({ comparison }: Filter) => comparison === 'anyOf' || comparison === 'anyModel';

describe('list parameters', () => {
  let api: CheckedApi;

  before(async () => {
    api = await CheckedApi.boot();
    await storeSample(api);
  });
  after(() => api.dispose());

  for (const list of listNames) {
    describe(`GET /${list}`, () => {
      const { limit, most, rows } = bounds[list];
      const refuses = async (parameter: string, texts: readonly string[]) => {
        await each(texts, async (text) => {
          const issues = await api.refused('GET', list, [[parameter, text]]);
          expect(Object.keys(issues), `${parameter}=${text}`).to.deep.equal([`?${parameter}`]);
        });
      };

      it('limit: from 1 to its maximum', async () => {
        expect(definitions[list].defaultLimit).to.equal(limit);
        expect(definitions[list].maxLimit).to.equal(most);
        expect(await api.ids(list, 'limit=1')).to.have.length(1);
        expect(await api.ids(list, 'limit=3')).to.have.length(3);
        expect(await api.ids(list, [['limit', most]])).to.have.length(rows);
        await refuses('limit', [
          '0',
          String(most + 1),
          '-1',
          '1.5',
          '1.0',
          'abc',
          '',
          '1e2',
          '0x1',
          ' 1',
          '+1',
          '99999999999999999999',
          'null',
        ]);
      });

      it('offset: from 0', async () => {
        const all = await api.ids(list);
        expect(all).to.have.length(rows);
        expect(await api.ids(list, 'offset=0')).to.deep.equal(all);
        expect(await api.ids(list, 'offset=1')).to.deep.equal(all.slice(1));
        expect(await api.ids(list, [['offset', rows - 1]])).to.deep.equal(all.slice(-1));
        expect(await api.ids(list, [['offset', rows]])).to.deep.equal([]);
        expect(await api.ids(list, 'offset=100000000')).to.deep.equal([]);
        await refuses('offset', ['100000001', '-1', '1.5', 'abc', '', '1e2', 'null']);
      });

      it('a bad value of any filter is refused and named', async () => {
        for (const filter of definitions[list].filters) {
          const { parameter, comparison } = filter;
          const bad = isAnyOf(filter)
            ? ['', ',', 'x'.repeat(10_001)]
            : badOfType[filteredField(definitions[list], filter)?.type ?? ''];
          expect(bad, `no bad values for ${parameter}`).to.not.equal(undefined);
          await refuses(
            parameter,
            comparison === 'isOrNull' ? (bad ?? []).filter((text) => text !== 'null') : (bad ?? []),
          );
        }
      });

      it('a bad sort_by, sort_order, count or fields is refused and named', async () => {
        await refuses('sort_by', [
          '',
          'x',
          'attributes',
          'id',
          'started_at desc',
          'NAME',
          'project_id',
          '1',
          '__proto__',
          'constructor',
        ]);
        await refuses('sort_order', ['', 'x', 'ASC', 'Desc', 'ascending', '1']);
        await refuses('count', badTexts['boolean'] ?? []);
        await refuses('fields', ['', 'x', 'id,x', 'id,', 'ID', '*', 'id name', '__proto__']);
        await refuses('text_limit', ['', '0', '99', '-100', '100.5', 'x', '100001', 'null']);
        await refuses('q', ['x'.repeat(10_001)]);
      });

      it('every bad parameter of a query is named', async () => {
        const issues = await api.refused(
          'GET',
          list,
          'limit=0&offset=-1&sort_by=x&sort_order=x&has_error=x&cost_min=x&id=1&count=x&created_after=x',
        );
        expect(issues).to.have.all.keys(
          '?limit',
          '?offset',
          '?sort_by',
          '?sort_order',
          '?has_error',
          '?cost_min',
          '?id',
          '?count',
          '?created_after',
        );
      });

      it('a parameter given twice is refused, but for lists of names and of fields', async () => {
        for (const { parameter, comparison } of definitions[list].filters.filter((filter) => !isAnyOf(filter))) {
          expect(
            await api.refused('GET', list, [
              [parameter, uuid(1)],
              [parameter, uuid(1)],
            ]),
            comparison,
          ).to.have.any.keys(`?${parameter}`);
        }
        for (const parameter of ['limit', 'offset', 'sort_by', 'sort_order', 'count', 'q'])
          expect(
            await api.refused('GET', list, [
              [parameter, '1'],
              [parameter, '1'],
            ]),
          ).to.have.any.keys(`?${parameter}`);
        const [row] = await api.get(list, 'fields=id&fields=name');
        expect(Object.keys(row ?? {})).to.deep.equal(['id', 'name']);
      });

      it('count=true counts what matches, not the page', async () => {
        const total = async (query: Query) => (await api.send('GET', list, query)).headers.get('x-total-count');
        expect(await total('count=true')).to.equal(String(rows));
        expect(await total('count=1&limit=1')).to.equal(String(rows));
        expect(
          await total([
            ['count', 'true'],
            ['offset', rows + 5],
          ]),
        ).to.equal(String(rows));
        expect(await total('')).to.equal(null);
        expect(await total('count=false')).to.equal(null);
        expect(await total('count=true&names=no%20such%20name')).to.equal('0');
        const failed = await api.ids(list, 'has_error=true');
        expect(await total('count=true&has_error=true&limit=1')).to.equal(String(failed.length));
      });

      it('fields=: any subset, in the order of the definition', async () => {
        const known = Object.keys(definitions[list].fields);
        const [whole] = await api.get(list, 'limit=1');
        await each(known, async (name) => {
          expect(
            await api.get(list, [
              ['fields', name],
              ['limit', 1],
            ]),
          ).to.deep.equal([{ [name]: whole?.[name] }]);
        });
        const [reversed] = await api.get(list, [
          ['fields', [...known].reverse().join(',')],
          ['limit', 1],
        ]);
        expect(Object.keys(reversed ?? {})).to.deep.equal(known);
        expect(reversed).to.deep.equal(whole);
        expect(Object.keys((await api.get(list, 'fields=name,id,id&limit=1'))[0] ?? {})).to.deep.equal(['id', 'name']);
      });

      it('fields= leaves filters and sorts as they are', async () => {
        const sorted = await api.ids(list, 'sort_by=cost&sort_order=asc&cost_min=0');
        const trimmed = await api.get(list, 'sort_by=cost&sort_order=asc&cost_min=0&fields=id');
        expect(trimmed).to.deep.equal(sorted.map((id) => ({ id })));
      });
    });
  }

  it('none: the query is the default one', () => {
    for (const list of Object.values(definitions))
      expect(parseListQuery(list, new URLSearchParams())).to.deep.equal(defaultQuery(list));
  });

  it('null given twice is refused like any value', async () => {
    expect(await api.refused('GET', 'spans', `parent_span_id=null&parent_span_id=${uuid(1)}`)).to.have.keys(
      '?parent_span_id',
    );
  });

  it('are documented as they are read', async () => {
    const { json } = await api.server.request('GET', '/openapi.json', { key: null });
    for (const list of listNames) {
      const shown = new Map<string, Row>(json.paths[`/${list}`].get.parameters.map((one: Row) => [one['name'], one]));
      expect([...shown.keys()]).to.deep.equal([
        ...definitions[list].filters.map(({ parameter }) => parameter),
        ...['sort_by', 'sort_order', 'limit', 'offset', 'count', 'q', 'fields', 'text_limit'],
        ...(definitions[list].hasInternal ? ['internal', 'experiments', 'experiment_id'] : []),
        ...['scores', 'tags'],
      ]);
      expect(shown.get('limit')?.['schema']).to.include({ minimum: 1, maximum: bounds[list].most, type: 'integer' });
      expect(shown.get('names'), 'separated by commas').to.include({ style: 'form', explode: false });
      expect(shown.get('names')?.['schema']).to.deep.include({ type: 'array', minItems: 1, maxItems: 1000 });
      expect(shown.get('tags'), 'parameters of any other name').to.include({ style: 'form', explode: true });
      expect([...shown.values()].filter(({ required }) => required)).to.deep.equal([]);
      if (list !== 'spans') continue;
      const [id, none] = shown.get('parent_span_id')?.['schema'].anyOf;
      expect([id.$ref, none.const]).to.deep.equal(['#/components/schemas/Id', 'null']);
    }
  });

  it('a query that is not UTF-8 is 400', async () => {
    for (const query of ['q=%FF', 'names=%E0%A4%A', '%C0%80=x', 'a=%']) {
      const response = await api.server.request('GET', `/spans?${query}`);
      expect(response.status, query).to.equal(400);
      expect(response.headers.get('content-type')).to.equal('application/problem+json');
    }
  });
});
