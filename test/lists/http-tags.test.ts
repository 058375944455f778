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
import { listQueries } from '../../src/http/list-query.js';

/** Keys and values alike: whatever a client may call a thing, and whatever SQL, URLs or ClickHouse give a meaning to. */
const texts = [
  'plain',
  '"double"',
  "it's",
  "''",
  'back\\slash',
  'ends with \\',
  '\\\\',
  '\\N',
  '\\n',
  '\\x41',
  "\\'",
  'a.b.c',
  '.',
  '100%',
  '%41',
  '%2C',
  'a,b',
  'ключ',
  'é',
  'e\u0301',
  '🧪',
  '👩‍👩‍👧',
  'with space',
  ' around ',
  '=&?#+;/',
  '+',
  'tab\tnew\nline\rreturn',
  '\b\f\v\u0007\u001b',
  'nul\0inside',
  '\0',
  '[1]',
  "['x']",
  '{p1:String}',
  '{',
  '$1',
  '`',
  '--',
  '/* */',
  '; DROP TABLE spans',
  'NULL',
  'null',
  'true',
  '0',
  '\u2028',
  '\ufeff',
  '\uffff',
  '\u{10ffff}',
  '__proto__',
  'constructor',
  'toString',
  'tags.',
  'tags.limit',
  'a'.repeat(1000),
];
const parameters = listNames.flatMap((list) => Object.keys(listQueries[list].schema.properties));
const fields = listNames.flatMap((list) => Object.keys(definitions[list].fields));
/** Names that are parameters or fields, of whichever list: as tags they are written `tags.<key>`. */
const known = new Set([...parameters, ...fields]);
const names = [...new Set([...texts, '', ...known])];

interface Tagged {
  readonly number: number;
  readonly key: string;
  readonly value: string;
}

/** Each text is a key once; its value is another text, and the empty one. */
const objects: Tagged[] = names.map((key, number) => ({
  number,
  key,
  value: number % 11 === 3 ? '' : (texts[(number * 7 + 5) % texts.length] ?? ''),
}));

/** An own property of any name, `__proto__` too. */
const tagsOf = (...pairs: (readonly [string, string])[]): Row => Object.fromEntries(pairs);

describe('tag filters', () => {
  let api: CheckedApi;

  before(async () => {
    api = await CheckedApi.boot();
    const spans = objects.map(({ number, key, value }) => {
      // The value also stands under another key, and the key with another value in the next object: neither may match.
      const own = tagsOf([key, value], ['common', 'yes'], [`decoy ${number}`, value], [`parity`, String(number % 2)]);
      const near = tagsOf([key, `${value} `], [`decoy ${number}`, value]);
      const common = (tags: Row, id: number) =>
        span(id, { session_id: uuid(2_000_000 + id), tags, trace_tags: tags, session_tags: tags });
      return [common(own, number), common(near, 10_000 + number)];
    });
    await api.post('spans', spans.flat());
  });
  after(() => api.dispose());

  const idOf = (list: ListName, number: number) =>
    uuid({ spans: 0, traces: 1_000_000, sessions: 2_000_000 }[list] + number);

  for (const list of listNames) {
    describe(`GET /${list}`, () => {
      it('finds every key and value that the tags of an object may have', async () => {
        await each(objects, async ({ number, key, value }) => {
          const expected = [idOf(list, number)];
          const label = `${JSON.stringify(key)} = ${JSON.stringify(value)}`;
          expect(await api.ids(list, [[`tags.${key}`, value]]), `tags. ${label}`).to.deep.equal(expected);
          if (known.has(key) || key.startsWith('tags.')) return;
          expect(await api.ids(list, [[key, value]]), label).to.deep.equal(expected);
        });
      });

      it('answers the tags as they were sent', async () => {
        const rows = await each([0, 500], (offset) =>
          api.get(list, [
            ['limit', 500],
            ['offset', offset],
            ['common', 'yes'],
          ]),
        );
        const found = new Map(rows.flat().map(({ id, tags }) => [id as string, tags as Row]));
        for (const { number, key, value } of objects) {
          const tags = found.get(idOf(list, number)) ?? {};
          expect(Object.hasOwn(tags, key), JSON.stringify(key)).to.equal(true);
          expect(Object.getOwnPropertyDescriptor(tags, key)?.value, JSON.stringify(key)).to.equal(value);
        }
      });

      it('a value under another key, a part of a value or another case does not match', async () => {
        expect(await api.get(list, 'decoy=yes')).to.deep.equal([]);
        expect(await api.get(list, 'common=ye')).to.deep.equal([]);
        expect(await api.get(list, 'common=YES')).to.deep.equal([]);
        expect(await api.get(list, 'Common=yes')).to.deep.equal([]);
        expect(await api.get(list, 'yes=common')).to.deep.equal([]);
      });

      it('a missing tag is not an empty one', async () => {
        expect(await api.get(list, 'no_such_tag=')).to.deep.equal([]);
        const [empty] = objects.filter(({ value }) => value === '');
        const key = empty?.key ?? '';
        expect(await api.ids(list, [[`tags.${key}`, '']])).to.deep.equal([idOf(list, empty?.number ?? 0)]);
        const bare = await api.ids(list, `tags.${encodeURIComponent(key)}`);
        expect(bare).to.deep.equal([idOf(list, empty?.number ?? 0)]);
      });

      it('several tags: all must match', async () => {
        const [first, second] = objects;
        const pair = (tag: Tagged | undefined) => [`tags.${tag?.key}`, tag?.value ?? ''] as const;
        expect(await api.ids(list, [pair(first), ['common', 'yes'], ['parity', '0']])).to.deep.equal([idOf(list, 0)]);
        expect(await api.ids(list, [pair(first), ['common', 'yes'], ['parity', '1']])).to.deep.equal([]);
        expect(await api.ids(list, [pair(first), pair(second)])).to.deep.equal([]);
      });

      it('the same tag repeated: any of its values, whichever way it is written', async () => {
        const both = await api.ids(list, 'parity=0&parity=1&limit=500');
        expect(both).to.have.length(objects.length);
        expect(await api.ids(list, 'parity=0&tags.parity=1&limit=500')).to.deep.equal(both);
        expect(await api.ids(list, 'parity=0&parity=x&limit=500')).to.have.length(
          objects.filter(({ number }) => number % 2 === 0).length,
        );
        expect(
          await api.ids(list, [
            ['parity', 'x'],
            ['parity', 'y'],
          ]),
        ).to.deep.equal([]);
        expect(await api.ids(list, [['parity', "0','1"]])).to.deep.equal([]);
      });

      it('tags go with filters, sorts and counts', async () => {
        const response = await api.send(
          'GET',
          list,
          'common=yes&parity=1&has_error=false&count=true&limit=2&sort_by=name',
        );
        expect(response.json).to.have.length(2);
        expect(response.headers.get('x-total-count')).to.equal(
          String(objects.filter(({ number }) => number % 2 === 1).length),
        );
      });

      it('a hundred different tags, and no more', async () => {
        const many = (count: number) => Array.from({ length: count }, (_, index) => [`t${index}`, 'x'] as const);
        expect(await api.get(list, many(100))).to.deep.equal([]);
        expect(await api.refused('GET', list, many(101))).to.have.keys('?tags');
      });

      it('the longest query that fits into a request', async () => {
        for (const filler of ["'", '\t', '\\', 'é', '🧪']) {
          const value = filler.repeat(Math.floor(15_000 / (filler === "'" ? 3 : encodeURIComponent(filler).length)));
          expect(await api.get(list, [['common', value]]), JSON.stringify(filler)).to.deep.equal([]);
        }
      });
    });
  }
});
