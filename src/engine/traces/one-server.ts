import { RETRIES } from '../work/backoff.js';
import { BackgroundLoop } from '../work/background-loop.js';
import { connect, type ClickHouseClient, type ClickHouseEndpoint } from './clickhouse/client/client.js';
import { sql } from './clickhouse/client/sql.js';

/** A ClickHouse server, as it names itself. */
export interface ServerIdentity {
  readonly host: string;
  /** Made when it first started, and the same since; null: it has none. */
  readonly uuid: string | null;
}

interface Answer {
  readonly host: string;
  readonly uuid: string;
  /** Id of its own tables: another one where two were set up from copies of the same files. */
  readonly installed: string;
}

const NO_UUID = '00000000-0000-0000-0000-000000000000';
/**
 * Connections that are opened together, so that a balancer gives them to all of its servers, whether it goes by turns or by load.
 */
const PROBES = 8;
const ROUNDS = 2;
const WATCHED = 3;

/**
 * Asks by connections of their own who answers at an address.
 * @returns one of each server; a balancer that sends all of them to the same is not noticed
 * @throws DomainError
 */
export async function serversAt(endpoint: ClickHouseEndpoint): Promise<ServerIdentity[]> {
  const client = fresh(endpoint, PROBES);
  try {
    const found = new Map<string, ServerIdentity>();
    for (let round = 0; round < ROUNDS; round += 1)
      for (const answer of await asked(client, PROBES))
        found.set(`${answer.host} ${answer.uuid} ${answer.installed}`, identityOf(answer));
    return [...found.values()];
  } finally {
    await client.close();
  }
}

/** Notices that an address leads to another server than before: a balancer got one more, or a name another address. */
export class ServerWatch {
  readonly #client: ClickHouseClient;
  readonly #loop: BackgroundLoop;

  /** @param onOther called once, with the other one */
  constructor(
    endpoint: ClickHouseEndpoint,
    known: ServerIdentity,
    { everyMs, onOther }: { readonly everyMs: number; readonly onOther: (other: ServerIdentity) => void },
  ) {
    this.#client = fresh(endpoint, WATCHED);
    this.#loop = new BackgroundLoop({
      round: async () => {
        const other = (await asked(this.#client, WATCHED)).map(identityOf).find((one) => nameOf(one) !== nameOf(known));
        if (other === undefined) return everyMs;
        onOther(other);
        return Infinity;
      },
      // Others tell that it does not answer.
      onFailure: () => undefined,
      retry: RETRIES.soon,
    });
    this.#loop.wakeIn(everyMs);
  }

  async close(): Promise<void> {
    await this.#loop.close();
    await this.#client.close();
  }
}

/** What stays the same while a server is started again, in a new container perhaps. */
function nameOf({ host, uuid }: ServerIdentity): string {
  return uuid ?? host;
}

function fresh(endpoint: ClickHouseEndpoint, maxConnections: number): ClickHouseClient {
  return connect({ ...endpoint, database: 'system' }, { maxConnections, reuseConnections: false });
}

async function asked(client: ClickHouseClient, times: number): Promise<Answer[]> {
  const answers = Array.from({ length: times }, () =>
    client.query<Answer>(
      sql`SELECT hostName() AS host, toString(serverUUID()) AS uuid,
         (SELECT toString(max(uuid)) FROM system.databases WHERE name = 'system') AS installed`,
    ),
  );
  return (await Promise.all(answers)).flat();
}

function identityOf({ host, uuid }: Answer): ServerIdentity {
  return { host, uuid: uuid === NO_UUID ? null : uuid };
}
