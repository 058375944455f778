import { expect } from 'chai';
import {
  CheckedApi,
  definitions,
  each,
  listNames,
  span,
  uuid,
  type ListName,
  type Row,
} from '../harness/checked-api.js';
import { Random } from '../../scripts/random.js';
import { seedOf } from '../harness/seed.js';
import type { Filter } from '../../src/engine/traces/model/list/definitions.js';
import { storeSample } from './sample.js';

const SEED = seedOf('FILTER_SEED');
/** Of the times and numbers of a field: each takes three queries. */
const ASKED_FOR = 8;

type Meaning = readonly [comparison: 'equal' | 'equal or null' | 'one of' | 'at least' | 'at most', field: string];

const shared = (duration: string): Record<string, Meaning> => ({
  id: ['equal', 'id'],
  started_after: ['at least', 'started_at'],
  started_before: ['at most', 'started_at'],
  created_after: ['at least', 'created_at'],
  created_before: ['at most', 'created_at'],
  names: ['one of', 'name'],
  has_error: ['equal', 'has_error'],
  duration_min: ['at least', duration],
  duration_max: ['at most', duration],
  cost_min: ['at least', 'cost'],
  cost_max: ['at most', 'cost'],
});

/** What every filter means, written anew: one that is not here fails, but for those of spans in http-calls.test.ts, and prices/unpriced.test.ts. */
const meanings: Record<ListName, Record<string, Meaning>> = {
  spans: {
    ...shared('duration_ms'),
    trace_id: ['equal', 'trace_id'],
    parent_span_id: ['equal or null', 'parent_span_id'],
    session_id: ['equal', 'session_id'],
    span_kind: ['equal', 'kind'],
    status: ['equal', 'status'],
    error_codes: ['one of', 'error_code'],
    models: ['one of', 'model'],
    providers: ['one of', 'provider'],
    prompt_slug: ['equal', 'prompt_slug'],
    prompt_version: ['equal', 'prompt_version'],
  },
  traces: { ...shared('duration_ms'), session_id: ['equal', 'session_id'], status: ['equal', 'status'] },
  sessions: shared('duration'),
};

/** The values to ask for: those that occur, their neighbours on either side, and some that do not occur. */
function candidates([comparison, field]: Meaning, rows: readonly Row[]): string[] {
  const known = [...new Set(rows.map((row) => row[field]).filter((value) => value !== null))];
  // Of times and numbers the ends, and others by the sources.
  const present = comparison === 'at least' || comparison === 'at most' ? some(known) : known;
  if (comparison === 'at least' || comparison === 'at most') {
    if (/^(created|started)_at$/.test(field))
      return present.flatMap((value) => [-1, 0, 1].map((micros) => shifted(value, micros)));
    const step = field === 'cost' ? 1e-12 : 1e-9;
    const near = present.flatMap((value) => [-step, 0, step].map((by) => (Number(value) + by).toPrecision(15)));
    return [...near, ...present.map(String), '-1', '-0', '0', '1e300', '+.5', '5.', '1E2'];
  }
  if (field === 'has_error') return ['true', 'false', '1', '0', 'TRUE', 'False'];
  if (field === 'prompt_version') return [...present.map(String), '99'];
  if (field === 'status') return ['unset', 'ok', 'error'];
  if (field === 'kind') return [...present.map(String), 'nothing', 'null'];
  const absent = /(^|_)id$/.test(field) ? [uuid(0xdead)] : ['nothing', 'null', 'NULL', '\\N', '%', "' OR 1=1 --"];
  const named = present.filter((value) => value !== '');
  return [...named.slice(0, 25).map(String), ...absent, ...(comparison === 'equal or null' ? ['null'] : [])];
}

/** The least and the most, and some in between. */
function some<T>(values: readonly T[]): T[] {
  const sorted = [...values].sort((one, other) => (one < other ? -1 : 1));
  const dice = new Random(SEED);
  while (sorted.length > ASKED_FOR) sorted.splice(dice.whole(1, sorted.length - 2), 1);
  return sorted;
}

function matches([comparison, field]: Meaning, text: string): (row: Row) => boolean {
  switch (comparison) {
    case 'at least':
      return (row) => row[field] !== null && order(row[field], text) >= 0;
    case 'at most':
      return (row) => row[field] !== null && order(row[field], text) <= 0;
    case 'equal or null':
      return (row) => (text === 'null' ? row[field] === null : row[field] === text);
    default:
      return (row) =>
        typeof row[field] === 'boolean'
          ? row[field] === /^(true|1)$/i.test(text)
          : row[field] !== null && String(row[field]) === text;
  }
}

function order(value: string | number, text: string): number {
  const other = typeof value === 'number' ? Number(text) : text;
  return value < other ? -1 : value > other ? 1 : 0;
}

/** A time of the sample moved by a few microseconds. */
function shifted(time: string, micros: number): string {
  const moved = Date.parse(`${time.slice(0, 19)}Z`) * 1000 + Number(time.slice(20, 26)) + micros;
  const seconds = Math.floor(moved / 1e6);
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(moved - seconds * 1e6).padStart(6, '0')}Z`;
}

/** As a client writes it: in a list of names, a comma and what could be taken for one are encoded once more. */
function written([comparison]: Meaning, value: string): string {
  return comparison === 'one of' ? value.replace(/%(?=(?:25)*2C)/gi, '%25').replaceAll(',', '%2C') : value;
}

describe(`list filters, FILTER_SEED=${SEED}`, () => {
  let api: CheckedApi;
  const all = {} as Record<ListName, Row[]>;

  before(async () => {
    api = await CheckedApi.boot();
    // No more rows than have every value of the sample.
    await storeSample(api, 8);
    for (const list of listNames) all[list] = await api.get(list);
  });
  after(() => api.dispose());

  for (const list of listNames) {
    describe(`GET /${list}`, () => {
      it('has a test for every filter', () => {
        const defined = (definitions[list].filters as readonly Filter[])
          .filter(({ ofSpans, comparison }) => ofSpans !== true && comparison !== 'unpriced')
          .map(({ parameter }) => parameter);
        expect(Object.keys(meanings[list]).sort()).to.deep.equal(defined.sort());
      });

      it('answers every field of the definition and no other', () => {
        expect(all[list].length).to.be.greaterThan(5);
        for (const row of all[list]) expect(Object.keys(row)).to.deep.equal(Object.keys(definitions[list].fields));
      });

      for (const [parameter, meaning] of Object.entries(meanings[list])) {
        it(parameter, async () => {
          const texts = candidates(meaning, all[list]);
          let found = 0;
          let leftOut = 0;
          await each(texts, async (text) => {
            const expected = all[list].filter(matches(meaning, text)).map(({ id }) => id);
            const ids = await api.ids(list, [[parameter, written(meaning, text)]]);
            expect(ids, `${parameter}=${text}`).to.deep.equal(expected);
            if (expected.length > 0) found += 1;
            if (expected.length < all[list].length) leftOut += 1;
          });
          // Values that all matched everything, or nothing, would show nothing.
          expect(found, 'queries that found something').to.be.greaterThan(0);
          expect(leftOut, 'queries that left something out').to.be.greaterThan(0);
        });
      }

      it('all filters together match what each of them matches', async () => {
        const [row] = all[list].filter(
          (row) => row['cost'] !== null && row['name'] !== null && (row['duration_ms'] ?? row['duration']) !== null,
        );
        const query = Object.entries(meanings[list]).flatMap(([parameter, meaning]) => {
          const value = row?.[meaning[1]];
          if (value === null && meaning[0] === 'equal or null') return [[parameter, 'null'] as const];
          return value === null ? [] : [[parameter, written(meaning, String(value))] as const];
        });
        expect(await api.ids(list, query)).to.deep.equal([row?.['id']]);
        expect(await api.ids(list, [...query, ['q', 'no such text']])).to.deep.equal([]);
      });

      it('ids are taken in upper case', async () => {
        const [row] = all[list];
        expect(await api.ids(list, [['id', String(row?.['id']).toUpperCase()]])).to.deep.equal([row?.['id']]);
      });

      it('both bounds of a range at once, and an empty range', async () => {
        const duration = list === 'sessions' ? 'duration' : 'duration_ms';
        for (const [stem, field] of [
          ['duration', duration],
          ['cost', 'cost'],
        ] as const) {
          const values = all[list].map((row) => row[field]).filter((value) => value !== null);
          const [low, high] = [Math.min(...values), Math.max(...values)];
          const range = (min: number, max: number) =>
            api.ids(list, [
              [`${stem}_min`, min],
              [`${stem}_max`, max],
            ]);
          const notNull = all[list].filter((row) => row[field] !== null).map(({ id }) => id);
          expect(notNull.length).to.be.lessThan(all[list].length);
          expect(await range(low, high)).to.deep.equal(notNull);
          expect(await range(high, low)).to.deep.equal(low === high ? notNull : []);
          expect(await range(low, low)).to.deep.equal(
            all[list].filter((row) => row[field] === low).map(({ id }) => id),
          );
        }
      });
    });
  }

  describe('lists of names', () => {
    const named = async (query: string) => new Set((await api.get('spans', query)).map(({ name }) => name));

    it('any of several', async () => {
      expect(await named('names=plain,100%25')).to.deep.equal(new Set(['plain', '100%']));
      expect(await named('names=plain,,nothing,')).to.deep.equal(new Set(['plain']));
    });
    it('a comma inside a name is written %2C once more encoded', async () => {
      expect(await named('names=a%252Cb')).to.deep.equal(new Set(['a,b']));
      expect(await named('names=a%252cb,plain')).to.deep.equal(new Set(['a,b', 'plain']));
      expect(await named('names=a%2Cb')).to.deep.equal(new Set());
      expect(await named('names=%25252C')).to.deep.equal(new Set(['%2C']));
    });
    it('a repeated parameter is taken as it is', async () => {
      expect(await named('names=a%2Cb&names=plain')).to.deep.equal(new Set(['a,b', 'plain']));
      expect(await named('names=a,b&names=%252C')).to.deep.equal(new Set(['a,b', '%2C']));
    });
    it('error codes alike', async () => {
      const codes = async (query: string) =>
        new Set((await api.get('spans', query)).map(({ error_code }) => error_code));
      expect(await codes('error_codes=E1,Value%22Error')).to.deep.equal(new Set(['E1', 'Value"Error']));
      expect(await codes('error_codes=E%252C1')).to.deep.equal(new Set(['E,1']));
      expect(await codes('error_codes=E,1&error_codes=E1')).to.deep.equal(new Set(['E,1', 'E1']));
    });
    it('up to a thousand, none of them is empty text only', async () => {
      const many = Array.from({ length: 999 }, (_, index) => `n${index}`);
      expect(await named(`names=plain,${many.join(',')}`)).to.deep.equal(new Set(['plain']));
      expect(await api.refused('GET', 'spans', `names=plain,x,${many.join(',')}`)).to.have.keys('?names');
      expect(await api.refused('GET', 'spans', 'names=')).to.have.keys('?names');
      expect(await api.refused('GET', 'spans', 'names=,')).to.have.keys('?names');
      expect(await api.refused('GET', 'spans', 'error_codes=')).to.have.keys('?error_codes');
    });
  });

  it('a kind is found or refused as it is taken or refused when spans come', async () => {
    const kinds = ['vector_store', 'embedding', 'agent', 'a', 'x9_', 'k'.repeat(32)];
    const none = [
      '',
      'No Kind!',
      'Not A Kind',
      'LLM',
      'llm ',
      'llm\n',
      'llm,tool',
      '9x',
      '_x',
      'é',
      'null ',
      'k'.repeat(33),
    ];
    for (const kind of [...kinds, ...none]) {
      const body = [span(99_000, { trace_id: uuid(99_000), kind, tags: { probe: 'kinds' } })];
      const { status } = await api.send('POST', 'spans', '', { body });
      expect(status, kind).to.equal(kinds.includes(kind) ? 200 : 422);
      if (status === 200) expect(await api.ids('spans', [['span_kind', kind]]), kind).to.deep.equal([uuid(99_000)]);
      else expect(await api.refused('GET', 'spans', [['span_kind', kind]]), kind).to.have.all.keys('?span_kind');
    }
    expect((await api.server.request('DELETE', `/spans/${uuid(99_000)}`)).status).to.equal(204);
  });

  it('an unknown kind or an unknown trace is just no match', async () => {
    expect(await api.get('spans', 'span_kind=vector_store')).to.deep.equal([]);
    expect(await api.get('spans', [['trace_id', uuid(0xbeef)]])).to.deep.equal([]);
    // A trace that was stated, but has no spans.
    expect(await api.get('spans', [['trace_id', uuid(900)]])).to.deep.equal([]);
  });
});
