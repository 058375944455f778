import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { unhurried } from '../harness/program.js';
import { statementOf } from '../harness/statement.js';

const WITHIN_MS = 60_000;
const OURS = `WHERE database = currentDatabase()`;

/** Lets ClickHouse remove parts as soon as others stand in for them: eight minutes later otherwise. */
export async function removeOldPartsAtOnce(client: ClickHouseClient): Promise<void> {
  for (const name of await names(client, `SELECT name FROM system.tables ${OURS} AND engine LIKE '%MergeTree'`))
    await client.command(statementOf(`ALTER TABLE ${name} MODIFY SETTING old_parts_lifetime = 0`));
}

/**
 * Has old parts removed, until they are or the condition holds. By itself ClickHouse does so when it has time, on a busy machine
 * minutes later; whoever drops a partition, also one that is not there, waits for it.
 */
export async function oldPartsRemoved(client: ClickHouseClient, enough: () => boolean): Promise<void> {
  const old = await names(client, `SELECT DISTINCT table AS name FROM system.parts ${OURS} AND NOT active`);
  const end = Date.now() + unhurried(WITHIN_MS);
  while (Date.now() < end && !enough()) {
    for (const name of old) await client.command(statementOf(`ALTER TABLE ${name} DROP PARTITION ID '197001'`));
    await sleep(1_000);
  }
  if (!enough()) console.log(`parts that are left:\n${await states(client)}`);
}

/** All parts, with what keeps them: whoever looks at a failure wants to know whether they count. */
async function states(client: ClickHouseClient): Promise<string> {
  const parts = statementOf(
    `SELECT table, name, active, refcount, removal_state FROM system.parts ${OURS} ORDER BY table, name`,
  );
  return (await client.query<object>(parts)).map((part) => JSON.stringify(part)).join('\n');
}

async function names(client: ClickHouseClient, query: string): Promise<string[]> {
  return (await client.query<{ name: string }>(statementOf(query))).map(({ name }) => name);
}
