import { DomainError } from '../errors.js';
import { refusalCode } from './clickhouse/client/client-errors.js';
import { connect, type ClickHouseClient, type ClickHouseEndpoint } from './clickhouse/client/client.js';
import { identifierLiteral } from './clickhouse/client/literals.js';
import { serversAt, type ServerIdentity } from './one-server.js';
import { empty, literal, quotedIdentifier, sql, value } from './clickhouse/client/sql.js';

/**
 * The release, year and month, that the migrations and settings were written for: that of the embedded engine. Any
 * newer one will do.
 */
export const NEEDED_VERSION = '26.7';

export type ExternalServerErrorKind =
  | 'no_answer' // no one answers at the address
  | 'refused_user' // unknown user or wrong password
  | 'several_servers' // more than one answers at the address
  | 'too_old' // it, or a replica of the cluster, is older than `NEEDED_VERSION`
  | 'unknown_cluster' // it knows no cluster of that name
  | 'no_database'; // the database does not exist, and the user may not create it

/** The operator's own ClickHouse cannot be used. The message is fit to print before exiting with 1. */
export class ExternalServerError extends Error {
  readonly kind: ExternalServerErrorKind;

  constructor(kind: ExternalServerErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ExternalServerError';
    this.kind = kind;
  }
}

export interface ExternalServerOptions {
  /** Cluster that the tables are on; null: one server. */
  readonly cluster: string | null;
  /** Called when only the server addressed was checked: the user may not ask the other replicas, or they cannot be reached. */
  onReplicasUnknown?(reason: unknown): void;
}

interface Found {
  readonly host: string;
  readonly version: string;
  /** 1 when the server has the database, else 0. */
  readonly present: number;
}

/** @returns the server that answers at an address @throws ExternalServerError `several_servers` */
export async function requireOneServer(endpoint: ClickHouseEndpoint): Promise<ServerIdentity> {
  const [only, ...others] = await serversAt(endpoint);
  if (only === undefined || others.length > 0)
    throw severalServers(endpoint, only === undefined ? [] : [only, ...others]);
  return only;
}

/** Why a server does not continue when others than one answer at its address. */
export function severalServers({ url }: ClickHouseEndpoint, servers: readonly ServerIdentity[]): ExternalServerError {
  const names = servers.map(({ host, uuid }) => (uuid === null ? host : `${host} (${uuid})`));
  return new ExternalServerError(
    'several_servers',
    `${servers.length} ClickHouse servers respond at ${new URL(url).host}: ${names.join(', ')}. One may lack what another ` +
      'has stored, which makes metrics wrong. Set CLICKHOUSE_URL to the address of one server, ' +
      'not of a load balancer or a name that resolves to several.',
  );
}

/** The one database that every ClickHouse has: a statement that names a missing one is refused, whatever it says. */
const ALWAYS_THERE = 'system';

const REFUSED_USER: ReadonlySet<number> = new Set([192, 193, 194, 516]); // AUTHENTICATION_FAILED and its elder kin
const UNKNOWN_CLUSTER: ReadonlySet<number> = new Set([170, 701]); // BAD_GET, CLUSTER_DOESNT_EXIST
const NOT_ALLOWED: ReadonlySet<number> = new Set([164, 497]); // READONLY, ACCESS_DENIED

/**
 * Makes sure that a ClickHouse of the operator's is recent enough, and that its database exists. The database is created
 * only when it is missing: a user who may not create one needs no right for it.
 * @returns the one server that answers there
 * @throws ExternalServerError, also when a replica of the cluster that can be asked is too old; DomainError for other failures.
 */
export async function prepareExternalServer(
  endpoint: ClickHouseEndpoint,
  options: ExternalServerOptions,
): Promise<ServerIdentity> {
  const client = connect({ ...endpoint, database: ALWAYS_THERE });
  try {
    const own = await addressed(client, endpoint);
    const server = await requireOneServer(endpoint);
    const found = [own, ...(await replicas(client, endpoint, options))];
    for (const { host, version } of found) checkVersion(host, version);
    if (found.some(({ present }) => present === 0)) await createDatabase(client, endpoint, options.cluster);
    return server;
  } finally {
    await client.close();
  }
}

/** @throws ExternalServerError `too_old` */
function checkVersion(host: string, version: string): void {
  const [needYear = 0, needMonth = 0] = NEEDED_VERSION.split('.').map(Number);
  const [year = 0, month = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  if (year > needYear || (year === needYear && month >= needMonth)) return;
  throw new ExternalServerError(
    'too_old',
    `The ClickHouse at ${host} has version ${version}; upgrade it to ${NEEDED_VERSION} or newer`,
  );
}

async function addressed(client: ClickHouseClient, endpoint: ClickHouseEndpoint): Promise<Found> {
  const { host } = new URL(endpoint.url);
  try {
    const [row] = await client.query<{ version: string }>(sql`SELECT version() AS version`);
    const database = value(endpoint.database, 'String');
    const databases = await client.query(sql`SELECT name FROM system.databases WHERE name = ${database}`);
    return { host, version: row?.version ?? 'unknown', present: databases.length };
  } catch (error) {
    if (refusedWith(error, REFUSED_USER))
      throw new ExternalServerError(
        'refused_user',
        `The ClickHouse at ${host} rejects ${userOf(endpoint)}: correct CLICKHOUSE_USER and CLICKHOUSE_PASSWORD`,
        error,
      );
    if (error instanceof DomainError && error.kind === 'unavailable')
      throw new ExternalServerError('no_answer', `Cannot use the ClickHouse at ${host}: ${error.message}`, error);
    throw error;
  }
}

/** Every replica that answers; nothing for one server, and where replicas may not or cannot be asked. */
async function replicas(
  client: ClickHouseClient,
  { url, database }: ClickHouseEndpoint,
  { cluster, onReplicasUnknown }: ExternalServerOptions,
): Promise<Found[]> {
  if (cluster === null) return [];
  try {
    return await client.query<Found>(
      sql`SELECT hostName() AS host, version() AS version, max(name = ${value(database, 'String')}) AS present
       FROM clusterAllReplicas(${literal(cluster)}, system.databases) GROUP BY host, version`,
      { settings: { skip_unavailable_shards: 1 } },
    );
  } catch (error) {
    if (refusedWith(error, UNKNOWN_CLUSTER))
      throw new ExternalServerError(
        'unknown_cluster',
        `The ClickHouse at ${new URL(url).host} has no cluster ${cluster}: set CLICKHOUSE_CLUSTER to one of ` +
          'those that `SELECT cluster FROM system.clusters` shows',
        error,
      );
    // Creating tables on a cluster takes no right to read from it.
    onReplicasUnknown?.(error);
    return [];
  }
}

/** Creates the database, unless another server that starts at the same time just has. */
async function createDatabase(
  client: ClickHouseClient,
  endpoint: ClickHouseEndpoint,
  cluster: string | null,
): Promise<void> {
  const everywhere = cluster === null ? empty : sql` ON CLUSTER ${literal(cluster)}`;
  const statement = sql`CREATE DATABASE IF NOT EXISTS ${quotedIdentifier(endpoint.database)}${everywhere}`;
  try {
    await client.command(statement);
  } catch (error) {
    if (!refusedWith(error, NOT_ALLOWED)) throw error;
    const [user, name] = [userOf(endpoint), identifierLiteral(endpoint.database)];
    const rights = [`ALL ON ${name}.*`, ...(cluster === null ? [] : ['CLUSTER ON *.*'])];
    const grant = `GRANT${everywhere.render().text}`;
    const byHand = [statement.render().text, ...rights.map((right) => `${grant} ${right} TO ${user}`)];
    throw new ExternalServerError(
      'no_database',
      `The user ${user} cannot see or create the database ${name} on the ClickHouse at ${new URL(endpoint.url).host}. ` +
        `Ask an administrator to run there:\n${byHand.map((line) => `  ${line};`).join('\n')}`,
      error,
    );
  }
}

function refusedWith(error: unknown, codes: ReadonlySet<number>): boolean {
  const code = refusalCode(error);
  return code !== null && codes.has(code);
}

/** The user as SQL names it; one in the URL comes first, as it does for the client. */
function userOf({ url, username }: ClickHouseEndpoint): string {
  return identifierLiteral(decodeURIComponent(new URL(url).username) || username);
}
