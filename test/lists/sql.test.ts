import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  sessionList,
  spanList,
  traceList,
  type ListDefinition,
} from '../../src/engine/traces/model/list/definitions.js';
import type { ListQuery } from '../../src/engine/traces/model/list/query.js';
import { parseListQuery } from '../../src/http/list-query.js';
import {
  countOf,
  idPage,
  idsHolding,
  rollupMatches,
  rollupPage,
  spanMatches,
  spanPage,
} from '../../src/engine/traces/list/compile.js';
import { MEASURES } from '../../src/engine/traces/model/list/statistics.js';
import { bucketsBetween } from '../../src/engine/traces/model/list/buckets.js';
import type { Objects } from '../../src/engine/traces/list/properties.js';
import { figuresOf, largestGroups, timeRange, valuesOf } from '../../src/engine/traces/list/statistics.js';
import { accessPathsOf } from '../../src/engine/traces/list/rows.js';
import type { ReadScope } from '../../src/engine/traces/read/scope.js';
import { sessionSource, spanSource, traceSource, type ListSource } from '../../src/engine/traces/list/sources.js';
import type { Sql } from '../../src/engine/traces/clickhouse/client/sql.js';

/*
 * The SQL of representative lists, kept in golden/*.sql so that a change of it is seen in review. After a change that is
 * meant: UPDATE_GOLDEN=1 npm test -- test/lists/sql.test.ts, then read the difference.
 */

const UPDATE = process.env['UPDATE_GOLDEN'] === '1';
// The tests run from dist/test/lists; the golden files lie beside their source.
const golden = new URL('../../../test/lists/golden/', import.meta.url);
const PROJECT = '0197f3a0-0000-7000-8000-000000000001';
const SCOPE = { projectId: PROJECT, upTo: 50_000_000_000_000 };
const ID = '00000000-0000-4000-8000-000000000001';

const parsed = (list: ListDefinition, text: string) => parseListQuery(list, new URLSearchParams(text));
const spans = (text: string) => spanPage(SCOPE, parsed(spanList, text));
const rollup = (source: ListSource, text: string, scope: ReadScope = SCOPE) => {
  const query: ListQuery = parsed(source.list, text);
  return rollupPage(source, scope, query, accessPathsOf(source, query)[0]);
};

const objects = (source: ListSource, text: string, scope: ReadScope = SCOPE): Objects => {
  const query = parsed(source.list, text);
  const matches =
    source === spanSource ? spanMatches(scope, query) : rollupMatches(source, scope, query, { by: 'all' });
  return { source, scope, matches };
};
const buckets = bucketsBetween(1_774_566_000e6, 1_774_900_000e6, 86_400, 'Europe/Berlin');

const cases: Readonly<Record<string, () => Sql>> = {
  'spans-newest': () => spans('limit=50'),
  'spans-newest-unsettled': () => spanPage({ ...SCOPE, unsettled: [ID] }, parsed(spanList, 'limit=50')),
  'traces-newest-unsettled': () => rollup(traceSource, 'limit=50', { ...SCOPE, unsettled: [ID] }),
  'sessions-unsettled': () =>
    rollup(sessionSource, 'has_error=true', { ...SCOPE, unsettled: [ID], unsettledSessions: [ID] }),
  'spans-of-trace': () => spans(`trace_id=${ID}&sort_order=asc`),
  'spans-roots': () => spans('parent_span_id=null&fields=id,name'),
  'spans-every-filter': () =>
    spans(
      `id=${ID}&trace_id=${ID}&parent_span_id=${ID}&session_id=${ID}&span_kind=llm&status=ok&error_codes=a,b&created_after=2026-01-31T10:00:00.000001Z` +
        '&created_before=2026-02-01&names=a%252Cb,c&has_error=true&duration_min=1&duration_max=2.5&cost_min=0.1&cost_max=1e-12&fields=id',
    ),
  'spans-tags-and-text': () => spans("environment=prod&environment=test&tags.limit=it's&tags.=x&q=refund&fields=id"),
  'spans-with-text-at-times': () =>
    spanPage(
      {
        ...SCOPE,
        within: [
          { from: 1769853600000001, to: 1769853700000000 },
          { from: 1769900000000000, to: 1769900000000000 },
        ],
      },
      parsed(spanList, 'q=refund&fields=id'),
    ),
  'spans-of-session': () => spans(`session_id=${ID}&fields=id`),
  'spans-of-session-unsettled': () =>
    spanPage({ ...SCOPE, unsettled: [ID] }, parsed(spanList, `session_id=${ID}&fields=id`)),
  'spans-internal': () => spans('internal=only&fields=id'),
  'traces-id-page': () => idPage(traceSource, SCOPE, parsed(traceList, 'has_error=true&limit=50'), { by: 'all' }),
  'traces-holding-text': () => idsHolding(traceSource, SCOPE, parsed(traceList, 'q=refund'), [ID]),
  'sessions-holding-text': () =>
    idsHolding(sessionSource, { ...SCOPE, within: [] }, parsed(sessionList, 'q=refund'), [ID]),
  'traces-holding-tags': () => idsHolding(traceSource, SCOPE, parsed(traceList, 'service=api&user=1&user=2'), [ID]),
  'sessions-holding-tag': () => idsHolding(sessionSource, SCOPE, parsed(sessionList, 'service=api'), [ID]),
  'sessions-with-tags-unsettled': () =>
    rollup(sessionSource, 'service=api&user=1&fields=id', { ...SCOPE, unsettled: [ID], unsettledSessions: [ID] }),
  'traces-started': () => rollup(traceSource, 'started_after=2026-01-31&limit=20&fields=id'),
  'traces-started-with-error': () => rollup(traceSource, 'started_after=2026-01-31&has_error=true&fields=id'),
  'traces-internal': () => rollup(traceSource, 'internal=true&started_before=2026-01-31&fields=id'),
  'spans-outside-experiments': () =>
    spanPage({ ...SCOPE, hasMarked: true, unsettled: [ID] }, parsed(spanList, 'fields=id')),
  'spans-of-experiment': () =>
    spanPage({ ...SCOPE, hasMarked: true }, parsed(spanList, `experiment_id=${ID}&fields=id`)),
  'traces-outside-experiments': () => rollup(traceSource, 'fields=id', { ...SCOPE, hasMarked: true, aside: [ID] }),
  'traces-outside-many-experiments': () => {
    const query = parsed(traceList, 'fields=id');
    const [edge] = accessPathsOf(traceSource, query);
    if (edge.by !== 'edge') throw new Error('it is not looked for at the edge');
    return rollupPage(traceSource, { ...SCOPE, hasMarked: true }, query, { ...edge, meant: true });
  },
  'traces-of-experiment': () => rollup(traceSource, `experiment_id=${ID}&fields=id`, { ...SCOPE, hasMarked: true }),
  'spans-by-cost': () => spans('sort_by=cost&sort_order=asc&limit=7&offset=14&fields=id,cost'),
  'spans-count': () => countOf(spanMatches(SCOPE, parsed(spanList, `trace_id=${ID}&has_error=true`))),
  'traces-newest': () => rollup(traceSource, ''),
  'traces-by-id': () => rollup(traceSource, `id=${ID}`),
  'traces-filtered': () =>
    rollup(
      traceSource,
      `session_id=${ID}&status=error&duration_min=1000&cost_max=2&sort_by=duration_ms&q=refund&service=api&fields=id`,
    ),
  'traces-count': () =>
    countOf(rollupMatches(traceSource, SCOPE, parsed(traceList, 'has_error=true&names=checkout'), { by: 'all' })),
  'stats-of-spans': () =>
    figuresOf(objects(spanSource, 'has_error=true'), { measures: MEASURES, scores: [], buckets, grouped: null }),
  'stats-of-traces-by-tag': () =>
    figuresOf(objects(traceSource, 'cost_min=1', { ...SCOPE, unsettled: [ID] }), {
      measures: ['count', 'errors'],
      scores: [],
      buckets: null,
      grouped: { property: { by: 'tag', key: "it's" }, texts: ['a', null, "b'"] },
    }),
  'stats-of-traces-by-score': () =>
    figuresOf(objects(traceSource, 'cost_min=1'), {
      measures: ['count'],
      scores: ["it's"],
      buckets: null,
      grouped: { property: { by: 'score', name: 'tone' }, texts: ['tcalm', null] },
    }),
  'stats-largest-groups': () => largestGroups(objects(spanSource, ''), { by: 'field', field: 'name' }),
  'stats-time-range': () => timeRange(objects(sessionSource, '')),
  'facets-of-sessions': () =>
    valuesOf(objects(sessionSource, 'x=y'), { of: { by: 'tag keys' }, prefix: "p'", limit: 7 }),
  'sessions-oldest': () => rollup(sessionSource, 'sort_order=asc&limit=2&offset=4'),
  'sessions-filtered': () =>
    rollup(
      sessionSource,
      'has_error=false&names=a&names=b&created_after=1769853600&sort_by=name&q=refund&fields=id,name',
    ),
};

/** The statement with its parameters as it is sent, each on a line of its own. */
function rendered(statement: Sql): string {
  const { text, params } = statement.render();
  const values = Object.entries(params).map(([name, value]) => `-- ${name} = ${JSON.stringify(value)}`);
  return `${text.trimEnd()}\n${values.join('\n')}\n`;
}

describe('SQL of the lists', () => {
  for (const [name, statement] of Object.entries(cases)) {
    it(name, () => {
      const file = new URL(`${name}.sql`, golden);
      const text = rendered(statement());
      if (UPDATE) writeFileSync(file, text);
      expect(existsSync(file), `${name}.sql is missing: run with UPDATE_GOLDEN=1`).to.equal(true);
      expect(text).to.equal(readFileSync(file, 'utf8'));
    });
  }

  it('has no golden file without a case', () => {
    expect(readdirSync(golden).sort()).to.deep.equal(
      Object.keys(cases)
        .map((name) => `${name}.sql`)
        .sort(),
    );
  });

  it('puts no text of a client into a statement', () => {
    const hostile = "'; DROP TABLE spans; --";
    const encoded = encodeURIComponent(hostile);
    for (const list of [spanList, traceList, sessionList]) {
      const query = parsed(list, `names=${encoded}&${encoded}=${encoded}&q=${encoded}`);
      const source = list.name === 'traces' ? traceSource : sessionSource;
      const statement =
        list.name === 'spans'
          ? spanPage(SCOPE, query)
          : rollupPage(source, SCOPE, query, accessPathsOf(source, query)[0]);
      const { text, params } = statement.render();
      expect(text).to.not.include('DROP');
      expect(Object.values(params).flat()).to.include(hostile);
    }
  });

  it('may name as many ids as a look at the first rows does', () => {
    const ids = Array.from({ length: 40_000 }, () => ID);
    const query = parsed(sessionList, 'q=refund&service=api&user=1');
    const { text } = idsHolding(sessionSource, { ...SCOPE, unsettled: [ID] }, query, ids).render();
    expect(text).to.include(ID);
  });

  it('is the same text for queries that differ in values only', () => {
    const text = (query: string) => spans(query).render().text;
    expect(text('names=a&cost_min=1&x=y&limit=5')).to.equal(text('names=b&cost_min=2&z=w&limit=500'));
  });
});
