import { join } from 'node:path';
import { connect } from '../src/engine/traces/clickhouse/client/client.js';
import { startEngine } from '../src/engine/traces/clickhouse/process/supervisor.js';
import { statementOf } from '../test/harness/statement.js';
import { openReader } from '../src/engine/traces/read/row-reader.js';
import { LIST_SETTINGS } from '../src/engine/traces/list/list-reads.js';
import { spanLines, rollupPage } from '../src/engine/traces/list/compile.js';
import { defaultQuery } from '../src/engine/traces/model/list/query.js';
import { spanList, traceList, sessionList } from '../src/engine/traces/model/list/definitions.js';
import { spanSource, traceSource, sessionSource } from '../src/engine/traces/list/sources.js';
import { accessPathsOf } from '../src/engine/traces/list/rows.js';
import { objectScores } from '../src/engine/traces/list/object-scores.js';
import { idSet } from '../src/engine/traces/list/rows.js';
import { sql, value, type Sql } from '../src/engine/traces/clickhouse/client/sql.js';
import { PROJECT_ID } from './rows.js';
import { fill } from '../src/engine/traces/list/newest-score-statements.js';

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
const engine = await startEngine({ path: join(process.argv[3] ?? '', 'clickhouse'), database: 'spanhouse', memoryMb: 4096, maxReadSeconds: 600, logger });
const client = connect(engine.endpoint, { requestTimeoutMs: 3_600_000 });
try {
  console.log(JSON.stringify(await client.query(sql`SELECT table, count() AS parts, sum(rows) AS rows, sum(marks) AS marks, sum(bytes_on_disk) AS bytes, groupUniqArray(part_type) AS t FROM system.parts WHERE active AND database = 'spanhouse' AND table IN ('spans','scores','newest_scores','traces','trace_starts','sessions') GROUP BY table`), null, 1));
  const [last] = await client.query<{ v: string }>(sql`SELECT toString(max(ver)) AS v FROM scores`);
  const scope = { projectId: PROJECT_ID, upTo: Number(last?.v), hasMarked: false };
  const reader = openReader(client, { timeoutSeconds: 60, maxResultBytes: 200e6 }, { ...LIST_SETTINGS, result_overflow_mode: 'throw' });
  const NAMES = ['quality', 'ok', 'rare'];
  const ID = sql`toString(id)`;
  const query = (list: typeof spanList, fields: string[]) => ({ ...defaultQuery(list), limit: 50, fields });
  const page = spanLines(scope, query(spanList, ['id', 'name']), [ID]);
  const lines = await reader.lines(page);
  const ids = lines.map(({ extra }) => extra[0] ?? '');
  const selected = sql`toString(scored) AS id, name, kind, number, text`;
  const old = sql`SELECT ${selected} FROM (
  SELECT * FROM (${objectScores(spanSource, scope, { columns: ['name', 'kind', 'number', 'text'], names: NAMES, ids: idSet(ids) })}) ORDER BY scored, name, ver DESC LIMIT 1 BY scored, name
) ORDER BY scored, name LIMIT 100 BY scored`;
  const where = sql`project_id = ${value(PROJECT_ID, 'String')} AND entity_type = 'span' AND name IN ${value(NAMES, 'Array(String)')} AND entity_id IN ${idSet(ids)}
  AND ver <= ${value(scope.upTo, 'UInt64')}`;
  const flat = sql`SELECT toString(entity_id) AS id, name, kind, number, text, deleted FROM scores
WHERE ${where}
ORDER BY entity_id, name, ver DESC LIMIT 1 BY entity_id, name`;
  const bare = sql`SELECT toString(entity_id) AS id, name, kind, number, text, deleted, ver FROM scores WHERE ${where}`;
  const own = sql`SELECT toString(entity_id) AS id, name, kind, number, text, deleted, ver FROM scores WHERE project_id = ${value(PROJECT_ID, 'String')} AND entity_type = 'span' AND entity_id IN ${idSet(ids)} AND ver <= ${value(scope.upTo, 'UInt64')}`;
  const BY_KEY = { settings: { optimize_use_projections: 0, use_skip_indexes: 0 } } as const;
  const cases: [string, () => Promise<unknown>][] = [
    ['SELECT 1', () => reader.rows(sql`SELECT 1`)],
    ['SELECT 1, other settings', () => reader.rows(sql`SELECT 1`, BY_KEY)],
    ['page of spans', () => reader.lines(page)],
    ['old, other settings', () => reader.rows(old, BY_KEY)],
    ['flat, other settings', () => reader.rows(flat, BY_KEY)],
    ['flat', () => reader.rows(flat)],
    ['flat, settings in text', () => reader.rows(sql`${flat} SETTINGS optimize_use_projections = 0, use_skip_indexes = 0`)],
    ['flat, settings in text, one thread', () => reader.rows(sql`${flat} SETTINGS optimize_use_projections = 0, use_skip_indexes = 0, max_threads = 1`)],
    ['bare', () => reader.rows(bare)],
    ['bare, settings in text', () => reader.rows(sql`${bare} SETTINGS optimize_use_projections = 0, use_skip_indexes = 0`)],
    ['bare, no analysis', () => reader.rows(sql`${bare} SETTINGS optimize_use_projections = 0, use_skip_indexes = 0, query_plan_enable_optimizations = 0, max_threads = 1`)],
    ['own, by index', () => reader.rows(own)],
    ['none found', () => reader.rows(sql`SELECT toString(entity_id) AS id, name, kind, number, text, deleted, ver FROM scores WHERE project_id = 'x' AND entity_id IN ${idSet(ids)} SETTINGS optimize_use_projections = 0, use_skip_indexes = 0`)],
  ];
  const pages = [
    ['traces', traceSource, query(traceList, ['id', 'name']), 'trace'],
    ['sessions', sessionSource, query(sessionList, ['id', 'name']), 'session'],
  ] as const;
  for (const [name, source, asked] of pages) {
    const [access] = accessPathsOf(source, asked);
    const statement = rollupPage(source, scope, asked, access, [ID]);
    const of = (await reader.lines(statement)).map(({ extra }) => extra[0] ?? '');
    for (const [index, each] of NAMES.entries()) {
      const filling = { source, name: each, filling: 900 + index, generation: 0 };
      const [there] = await client.query<{ n: string }>(sql`SELECT toString(count()) AS n FROM newest_scores WHERE filling = ${value(900 + index, 'UInt64')} AND entity_type = ${value(name.slice(0, -1), 'String')}`);
      if (there?.n === '0') await client.command(fill(scope, filling));
    }
    const stored = sql`SELECT toString(scored) AS id, name, kind, number, text FROM (SELECT scored, name, kind, number, text, generation FROM newest_scores
    WHERE project_id = ${value(PROJECT_ID, 'String')} AND entity_type = ${value(name.slice(0, -1), 'String')} AND ((name = 'quality' AND filling = 900 AND generation <= 0) OR (name = 'ok' AND filling = 901 AND generation <= 0) OR (name = 'rare' AND filling = 902 AND generation <= 0)) AND scored IN ${idSet(of)})`;
    cases.push([`page of ${name}`, () => reader.lines(statement)]);
    cases.push([`stored of ${name}, other settings`, () => reader.rows(stored, BY_KEY)]);
    cases.push([`stored of ${name}`, () => reader.rows(stored)]);
    cases.push([`stored of ${name}, settings in text`, () => reader.rows(sql`${stored} SETTINGS optimize_use_projections = 0, use_skip_indexes = 0`)]);
    const tuple = sql`SELECT toString(scored) AS id, name, kind, number, text FROM newest_scores
    WHERE project_id = ${value(PROJECT_ID, 'String')} AND entity_type = ${value(name.slice(0, -1), 'String')} AND name IN ('quality','ok','rare') AND filling IN (900, 901, 902) AND generation = 0 AND scored IN ${idSet(of)} SETTINGS optimize_use_projections = 0, use_skip_indexes = 0`;
    cases.push([`stored of ${name}, by sets`, () => reader.rows(tuple)]);
  }
  const taken = new Map<string, number[]>(cases.map(([name]) => [name, []]));
  for (let run = 0; run < 40; run += 1)
    for (const [name, call] of cases) {
      await reader.lines(page);
      const began = performance.now();
      await call();
      if (run > 4) taken.get(name)?.push(performance.now() - began);
    }
  for (const [name, times] of taken) {
    const sorted = times.sort((a, b) => a - b);
    console.log(name.padEnd(45), 'min', sorted[0]?.toFixed(2), 'p25', sorted[Math.floor(sorted.length / 4)]?.toFixed(2), 'p50', sorted[Math.floor(sorted.length / 2)]?.toFixed(2));
  }
  for (const each of [flat, old, cases.length ? bare : bare] as Sql[]) {
    const stats = await client.query(sql`SELECT 1`);
    void stats;
    const explained = await client.query<{ explain: string }>(sql`EXPLAIN indexes = 1 ${each} SETTINGS optimize_use_projections = 0, use_skip_indexes = 0`);
    console.log(explained.map(({ explain }) => explain).join('\n'));
  }
} finally {
  await client.close();
  await engine.stop();
}
export function register(): void {}
