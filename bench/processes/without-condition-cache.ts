import { createClient } from '@clickhouse/client';

// Loaded into the server by `node --import`: its statements run without the cache that remembers which granules held
// nothing for a condition. A bench repeats its queries far more often than anybody would, and that cache answers repeats.

interface Statement {
  readonly clickhouse_settings?: Readonly<Record<string, unknown>>;
}
type Run = (this: unknown, statement: Statement) => unknown;

const client = createClient();
for (const method of ['query', 'exec'] as const) {
  const owner = ownerOf(client, method) as Record<typeof method, Run>;
  const original = owner[method];
  owner[method] = function (statement) {
    const clickhouse_settings = { ...statement.clickhouse_settings, use_query_condition_cache: 0 };
    return original.call(this, { ...statement, clickhouse_settings });
  };
}
await client.close();

function ownerOf(instance: object, method: string): object {
  for (let owner: object | null = instance; owner !== null; owner = Object.getPrototypeOf(owner) as object | null)
    if (Object.hasOwn(owner, method)) return owner;
  throw new Error(`the client has no method ${method}`);
}
