import { mkdtemp, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { connect } from '../src/engine/traces/clickhouse/client/client.js';
import { startEngine } from '../src/engine/traces/clickhouse/process/supervisor.js';
import { migrate } from '../src/engine/traces/migrations.js';
import { readMigrationFiles } from '../src/engine/files/migration-files.js';
import { schemaDirectory } from '../src/engine/files/schema-files.js';
import { statementOf } from '../test/harness/statement.js';
import { sql } from '../src/engine/traces/clickhouse/client/sql.js';

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
const directory = await mkdtemp('/dev/shm/zz-exact-');
const engine = await startEngine({ path: join(directory, 'ch'), database: 'spanhouse', memoryMb: 2048, maxReadSeconds: 600, logger });
const client = connect(engine.endpoint, { requestTimeoutMs: 3_600_000 });
const rounds = Number(process.argv[3] ?? 50);
const VARIANTS: Record<string, Record<string, string | number>> = {
  default: { use_query_condition_cache: 1, read_in_order_use_virtual_row: 1 },
  noVirtual: { use_query_condition_cache: 1, read_in_order_use_virtual_row: 0 },
  noCache: { use_query_condition_cache: 0, read_in_order_use_virtual_row: 1 },
  neither: { use_query_condition_cache: 0, read_in_order_use_virtual_row: 0 },
};
try {
  await migrate(client, readMigrationFiles(schemaDirectory('clickhouse')), null);
  const settings = await client.query(statementOf(`SELECT name, value, default FROM system.settings WHERE name LIKE '%virtual_row%' OR name LIKE '%limit_by%' OR name LIKE '%query_condition%' OR name LIKE '%top_k%' OR name LIKE '%runtime_filter%' OR name LIKE '%materialized_cte%' OR name LIKE '%lazy%' OR name LIKE '%skip_indexes_on%'`));
  for (const each of settings) console.log(JSON.stringify(each));
  const wrong: Record<string, number> = {};
  let ver = 1;
  for (let round = 0; round < rounds; round += 1) {
    const project = `p${round}`;
    const n = 200 + Math.floor(Math.random() * 3000);
    const ids = Array.from({ length: n }, () => randomUUID());
    const parts = 2 + Math.floor(Math.random() * 6);
    const newest = new Map<string, Map<string, { ver: number; deleted: boolean; number: number }>>();
    await client.command(sql`SYSTEM STOP MERGES scores`);
    const known: { id: string; entity: string; name: string }[] = [];
    for (let part = 0; part < parts; part += 1) {
      const rows: string[] = [];
      const put = (entity: string, name: string, id: string, number: number, deleted: boolean) => {
        ver += 1;
        rows.push(`(${ver}, '${project}', 'span', '${entity}', '${name}', '${id}', ${deleted ? 1 : 0}, 'sdk', 'numeric', ${number})`);
        known.push({ id, entity, name });
        const of = newest.get(name + entity) ?? new Map();
        newest.set(name + entity, of.set(id, { ver, deleted, number }));
      };
      const share = Math.random();
      for (const entity of ids) {
        if (Math.random() < share) put(entity, 'level', randomUUID(), Math.random(), false);
        if (Math.random() < share / 2) put(entity, 'stars', randomUUID(), Math.ceil(Math.random() * 5), false);
      }
      for (let k = 0; k < 20 && part > 0; k += 1) {
        const of = known[Math.floor(Math.random() * known.length)];
        if (of) put(of.entity, of.name, of.id, Math.random(), Math.random() < 0.5);
      }
      if (rows.length > 0) await client.command(statementOf(`INSERT INTO scores (ver, project_id, entity_type, entity_id, name, id, deleted, source, kind, number) VALUES ${rows.join(',')}`));
    }
    const truth = new Map<string, number>();
    for (const entity of ids) {
      const all = [...(newest.get(`level${entity}`)?.values() ?? [])].filter(({ deleted }) => !deleted).sort((a, b) => b.ver - a.ver);
      if (all[0]) truth.set(entity, all[0].ver);
    }
    const some = ids.filter(() => Math.random() < 0.5);
    const latest = (among: string) => `SELECT entity_id AS scored, ver, kind, number, text FROM (SELECT * EXCEPT (deleted) FROM (
  SELECT entity_type, name, entity_id, id, ver, deleted, kind, number, text FROM scores
  WHERE project_id = '${project}' AND ver <= ${ver}${among}
  ORDER BY entity_type, name, entity_id, id, ver DESC LIMIT 1 BY entity_type, name, entity_id, id
) WHERE NOT deleted)`;
    const list = (of: string[]) => `CAST('[${of.map((id) => `\\'${id}\\'`).join(',')}]', 'Array(UUID)')`;
    const queries: [string, string, string[]][] = [
      ['all', `SELECT toString(scored) AS id, ver FROM (SELECT scored, ver, kind, number, text FROM (${latest(" AND entity_type = 'span' AND name = 'level'")}) ORDER BY scored, ver DESC LIMIT 1 BY scored)`, ids],
      ['some', `SELECT toString(scored) AS id, ver FROM (SELECT scored, ver, kind, number, text FROM (${latest(` AND entity_type = 'span' AND name = 'level' AND entity_id IN ${list(some)}`)}) ORDER BY scored, ver DESC LIMIT 1 BY scored)`, some],
    ];
    for (const [variant, own] of Object.entries(VARIANTS))
      for (const [name, text, of] of queries) {
        try {
          const rows = await client.query<{ id: string; ver: string | number }>(statementOf(text), { settings: { ...own, max_query_size: '10000000' } as never });
          const got = new Map(rows.map((row) => [row.id, Number(row.ver)]));
          const bad = of.filter((id) => got.get(id) !== truth.get(id));
          if (bad.length > 0 || rows.length !== of.filter((id) => truth.has(id)).length) {
            wrong[`${variant} ${name}`] = (wrong[`${variant} ${name}`] ?? 0) + 1;
            console.log(round, variant, name, 'rows', rows.length, 'bad', bad.length, bad.slice(0, 3).map((id) => [id, got.get(id), truth.get(id)]));
          }
        } catch (error) {
          wrong[`${variant} ${name} error`] = (wrong[`${variant} ${name} error`] ?? 0) + 1;
          if (round < 2) console.log(String(error).slice(0, 300), String((error as { cause?: unknown }).cause).slice(0, 300));
        }
      }
    // the first rows by value
    const rowsOf = await client.query<{ id: string; number: number; ver: number | string }>(statementOf(`SELECT toString(entity_id) AS id, number, ver FROM scores WHERE project_id = '${project}' AND name = 'level' AND isNotNull(number) SETTINGS optimize_use_projections = 0`));
    for (const direction of ['DESC', 'ASC']) {
      const sign = direction === 'DESC' ? -1 : 1;
      const sorted = rowsOf.map(({ number }) => Number(number)).sort((a, b) => sign * (a - b));
      for (const look of [50, 200, 500, 1733, 4000]) {
        const order = `ORDER BY number ${direction} NULLS ${direction === 'DESC' ? 'FIRST' : 'LAST'}, entity_id ${direction} LIMIT ${look}`;
        const text = `SELECT entity_type AS type, toString(entity_id) AS scored, toString(ver) AS version, toString(number) AS hash FROM (SELECT * FROM (SELECT entity_type, entity_id, number, ver FROM scores
  WHERE project_id = '${project}' AND entity_type = 'span' AND name = 'level' AND isNotNull(number) ${order})) ${order}`;
        for (const [variant, own] of Object.entries(VARIANTS)) {
          const rows = await client.query<{ hash: string }>(statementOf(text), { settings: { ...own, preferred_optimize_projection_name: 'scores_by_value' } as never });
          const got = rows.map(({ hash }) => Number(hash));
          if (JSON.stringify(got) !== JSON.stringify(sorted.slice(0, look))) {
            const key = `${variant} top ${direction}`;
            wrong[key] = (wrong[key] ?? 0) + 1;
            console.log(round, key, look, got.length, sorted.length);
          }
        }
      }
    }
    if (round % 3 === 0) await client.command(sql`SYSTEM START MERGES scores`);
  }
  console.log(JSON.stringify(wrong));
} finally {
  await client.close();
  await engine.stop();
  await rm(directory, { recursive: true, force: true });
}
export function register(): void {}
