import type { ClickHouseClient, QueryOptions } from '../../src/engine/traces/clickhouse/client/client.js';

/** The client, with a look at each command before it is sent; it waits for that. */
export function watched(
  client: ClickHouseClient,
  look: (statement: string, options?: QueryOptions) => void | Promise<void>,
): ClickHouseClient {
  return {
    query: (...given) => client.query(...given),
    stream: (...given) => client.stream(...given),
    text: (...given) => client.text(...given),
    insert: (...given) => client.insert(...given),
    async command(statement, options) {
      await look(statement.render().text, options);
      await client.command(statement, options);
    },
    ping: () => client.ping(),
    close: () => client.close(),
  };
}
