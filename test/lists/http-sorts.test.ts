import { expect } from 'chai';
import {
  CheckedApi,
  definitions,
  each,
  listNames,
  span,
  START,
  uuid,
  type ListName,
  type Query,
  type Row,
} from '../harness/checked-api.js';
import { storeSample } from './sample.js';

/** What the interface says, and what came later, written anew. */
const sorts: Record<ListName, readonly string[]> = {
  spans: ['started_at', 'name', 'status', 'duration_ms', 'cost', 'kind', 'model', 'input_tokens', 'output_tokens'],
  traces: ['started_at', 'name', 'status', 'span_count', 'duration_ms', 'cost', 'input_tokens', 'output_tokens'],
  sessions: ['created_at', 'name', 'trace_count', 'cost', 'duration', 'input_tokens', 'output_tokens'],
};
const defaultSort = { spans: 'started_at', traces: 'started_at', sessions: 'created_at' };

/** Text by its bytes, numbers by their value. */
function compare(left: string | number, right: string | number): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
}

function expectSorted(rows: readonly Row[], field: string, descending: boolean): void {
  const values = rows.map((row) => row[field] as string | number | null);
  const firstNull = values.indexOf(null);
  const present = firstNull === -1 ? values : values.slice(0, firstNull);
  expect(
    values.slice(present.length).every((value) => value === null),
    `nulls last in ${JSON.stringify(values)}`,
  ).to.equal(true);
  for (let index = 1; index < present.length; index += 1) {
    const difference = compare(present[index - 1] ?? '', present[index] ?? '');
    expect(descending ? -difference : difference, `${present[index - 1]} before ${present[index]}`).to.be.at.most(0);
  }
}

describe('list order and pages', () => {
  let api: CheckedApi;

  before(async () => {
    api = await CheckedApi.boot();
    // Pages of one row are asked for many times: no more rows than have ties, nulls and an odd page of each size.
    await storeSample(api, 8);
  });
  after(() => api.dispose());

  /** All pages of one size, which must be every row of the whole list in its order. */
  async function expectPages(
    list: ListName,
    query: readonly (readonly [string, string])[],
    whole: readonly Row[],
  ): Promise<void> {
    // Of one row, so that every two neighbours are on different pages, and of so many that the last is not full.
    for (const size of [1, 7]) {
      const offsets = Array.from({ length: Math.ceil(whole.length / size) + 1 }, (_, index) => index * size);
      const pages = await each(offsets, (offset) => api.get(list, [...query, ['limit', size], ['offset', offset]]));
      for (const [index, page] of pages.entries())
        expect(page.length, `page ${index}`).to.equal(Math.min(size, Math.max(0, whole.length - index * size)));
      expect(pages.flat(), `pages of ${size}`).to.deep.equal(whole);
    }
  }

  for (const list of listNames) {
    describe(`GET /${list}`, () => {
      it('knows the sorts of the interface', async () => {
        expect(definitions[list].sorts).to.deep.equal(sorts[list]);
        for (const field of Object.keys(definitions[list].fields).filter((name) => !sorts[list].includes(name)))
          expect(await api.refused('GET', list, [['sort_by', field]])).to.have.keys('?sort_by');
      });

      it(`sorts by ${defaultSort[list]}, newest first, when nothing is said`, async () => {
        const rows = await api.get(list);
        expectSorted(rows, defaultSort[list], true);
        expect(rows).to.deep.equal(
          await api.get(list, [
            ['sort_by', defaultSort[list]],
            ['sort_order', 'desc'],
          ]),
        );
        expect(rows).to.deep.equal(await api.get(list, 'sort_order=desc'));
      });

      for (const field of sorts[list]) {
        for (const order of ['asc', 'desc'] as const) {
          it(`${field} ${order}: sorted, nulls last, every row once over pages of 1 and 7`, async () => {
            const query = [
              ['sort_by', field],
              ['sort_order', order],
            ] as const;
            const rows = await api.get(list, query);
            expect(new Set(rows.map(({ id }) => id)).size).to.equal(rows.length);
            expectSorted(rows, field, order === 'desc');
            await expectPages(list, query, rows);
          });
        }

        it(`${field}: the sample has ties${field === 'created_at' ? ' in nothing but time' : ''}`, async () => {
          const values = (await api.get(list)).map((row) => row[field]);
          const distinct = new Set(values).size;
          if (field === 'created_at') expect(distinct).to.be.greaterThan(1);
          else expect(distinct).to.be.within(2, values.length - 1);
        });
      }

      it('pages of a filtered list', async () => {
        const query = [
          ['has_error', 'false'],
          ['sort_by', 'name'],
        ] as const;
        const rows = await api.get(list, query);
        expect(rows.length).to.be.greaterThan(1);
        await expectPages(list, query, rows);
      });
    });
  }

  it('the spans of one trace, in pages', async () => {
    const query = [
      ['trace_id', uuid(103)],
      ['sort_order', 'asc'],
    ] as const;
    const rows = await api.get('spans', query);
    expect(rows).to.have.length(4);
    expectSorted(rows, 'started_at', false);
    await expectPages('spans', query, rows);
  });

  describe('when everything ties', () => {
    const COUNT = 1300;
    let tied: CheckedApi;

    before(async () => {
      tied = await CheckedApi.boot();
      // Two thirds start in the same microsecond, in several parts that are not merged yet.
      for (let from = 0; from < COUNT; from += 130) {
        const numbers = Array.from({ length: 130 }, (_, index) => from + index);
        await tied.post(
          'spans',
          numbers.map((number) =>
            span(number, {
              name: 'tie',
              session_id: uuid(2_000_000 + number),
              kind: 'tool',
              cost: 1,
              status: 'ok',
              duration_ms: 5,
              started_at: number % 3 === 0 ? '2026-01-31T10:00:01Z' : START,
            }),
          ),
        );
      }
    });
    after(() => tied.dispose());

    for (const list of listNames) {
      for (const order of ['asc', 'desc']) {
        it(`${list} ${order}: every row once, whatever the page and whatever way it is found`, async () => {
          for (const sort of new Set([defaultSort[list], 'name'])) {
            const page = (limit: number, offset: number) =>
              tied.ids(list, [
                ['sort_by', sort],
                ['sort_order', order],
                ['limit', limit],
                ['offset', offset],
                ['fields', 'id'],
              ]);
            const whole = (await each([0, 500, 1000], (offset) => page(500, offset))).flat();
            expect(new Set(whole).size).to.equal(COUNT);
            expect(whole).to.have.length(COUNT);
            const windows = [
              [1, 0],
              [1, 432],
              [2, 433],
              [7, 430],
              [500, 499],
              [500, 501],
              [1, 999],
              [1, 1000],
              [3, 998],
              [50, 1299],
            ] as const;
            await each(windows, async ([limit, offset]) => {
              expect(await page(limit, offset), `${limit} at ${offset}`).to.deep.equal(
                whole.slice(offset, offset + limit),
              );
            });
          }
        });
      }
    }

    it('a count does not depend on the page', async () => {
      for (const list of listNames) {
        for (const query of [
          'count=true&limit=1',
          'count=true&limit=1&offset=1299',
          'count=true&offset=5000',
        ] satisfies Query[]) {
          const response = await tied.send('GET', list, query);
          expect(response.headers.get('x-total-count')).to.equal(String(COUNT));
        }
      }
    });
  });
});
