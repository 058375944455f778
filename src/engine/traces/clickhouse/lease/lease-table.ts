import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../errors.js';
import type { ClickHouseClient, QueryOptions } from '../client/client.js';
import { forCluster } from '../client/cluster.js';
import { identifier, literal, number, sql, type Sql } from '../client/sql.js';

const NAME = 'server_lease';
const LEASE_TABLE = identifier(NAME);

/** How often a lease is renewed in the time that it lasts without a renewal. */
export const RENEWALS = 5;
const STATEMENTS_END_WITHIN_MS = 60_000;
const STATEMENTS_LOOKED_AT_MS = 100;
/** On a cluster, how long a claim is given to reach the replicas that others may ask. */
const REPLICATION_MS = 2_000;
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Who claims the lease: one start of one server. */
export interface Claimant {
  /** Made for this start alone, a UUID. */
  readonly owner: string;
  readonly host: string;
  readonly pid: number;
  readonly ttlMs: number;
}

/** A claim that was made. */
export interface Claim {
  readonly epoch: number;
  readonly owner: string;
}

/** A claim and how often it has been renewed, the release counted in. */
export interface RenewedClaim extends Claim {
  readonly renewals: number;
}

/** The claim that counts, as its latest row has it. */
export interface Holder extends RenewedClaim {
  readonly released: boolean;
  readonly host: string;
  readonly pid: number;
  /** ISO 8601, by the clock of ClickHouse. */
  readonly since: string;
  /** How long the claim lasts without a renewal, by its own row. */
  readonly ttlMs: number;
  /** Time since the latest renewal, by the clock of ClickHouse. */
  readonly ageMs: number;
}

interface HolderRow {
  readonly epoch: string;
  readonly owner: string;
  readonly renewals: string;
  readonly released: number;
  readonly host: string;
  readonly pid: number;
  readonly since: string;
  readonly ttl_ms: number;
  readonly age_ms: string;
}

/** The rows of claims. The claim of the highest epoch counts, and among several the one of the greatest owner. */
export class LeaseTable {
  readonly #client: ClickHouseClient;
  readonly #cluster: string | null;

  constructor(client: ClickHouseClient, cluster: string | null) {
    this.#client = client;
    this.#cluster = cluster;
  }

  /** Creates the table, not by a migration, as those run under the lease. Merges leave the latest row of each claim. */
  async create(): Promise<void> {
    await this.#client.command(
      forCluster(
        sql`CREATE TABLE IF NOT EXISTS ${LEASE_TABLE} (epoch UInt64, owner UUID, renewals UInt64, released UInt8,
           renewed_at DateTime64(3, 'UTC'), taken_at DateTime64(3, 'UTC'), host String, pid UInt32, ttl_ms UInt32)
         ENGINE = ReplacingMergeTree(renewals) ORDER BY (epoch, owner)
         SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
        this.#cluster,
      ),
    );
  }

  /** The claim that counts; null: no one has ever claimed the lease. */
  async holder(options: QueryOptions = {}): Promise<Holder | null> {
    const [row] = await this.#client.query<HolderRow>(
      sql`SELECT toString(epoch) AS epoch, toString(owner) AS owner, toString(renewals) AS renewals, released, host, pid,
         formatDateTime(taken_at, '%Y-%m-%dT%H:%i:%SZ') AS since, ttl_ms,
         toString(dateDiff('millisecond', renewed_at, now64(3))) AS age_ms
       FROM ${LEASE_TABLE} AS l ORDER BY l.epoch DESC, l.owner DESC, l.renewals DESC LIMIT 1`,
      options,
    );
    if (row === undefined) return null;
    return {
      epoch: Number(row.epoch),
      owner: row.owner,
      renewals: Number(row.renewals),
      released: row.released === 1,
      host: row.host,
      pid: row.pid,
      since: row.since,
      ttlMs: row.ttl_ms,
      ageMs: Number(row.age_ms),
    };
  }

  /**
   * Claims the lease after a holder that is as it was seen, and waits until every statement has ended that ClickHouse
   * began before it knew of the claim: those of earlier owners, and claims of others made at the same time. So whether
   * the claim counts is final when this returns. The claim is renewed meanwhile.
   * @returns null when the claim does not count.
   */
  async claim(seen: Holder | null, { owner, host, pid, ttlMs }: Claimant): Promise<RenewedClaim | null> {
    const epoch = (seen?.epoch ?? 0) + 1;
    const before = sql`(${number(seen?.epoch ?? 0)}, ${uuid(seen?.owner ?? NOBODY)}, ${number(seen?.renewals ?? 0)})`;
    await this.#client.command(
      sql`INSERT INTO ${LEASE_TABLE}
       SELECT ${number(epoch)}, ${literal(owner)}, 0, 0, now64(3), now64(3), ${literal(host)}, ${number(pid)}, ${number(ttlMs)}
       WHERE (SELECT max((epoch, owner, renewals)) FROM ${LEASE_TABLE}) = ${before}`,
    );
    if (this.#cluster !== null) await sleep(REPLICATION_MS);
    const renewals = await this.#othersEnded({ epoch, owner }, ttlMs / RENEWALS);
    const now = await this.holder();
    return now?.owner === owner ? { epoch, owner, renewals } : null;
  }

  /** Adds a row to a claim unless another one counts. */
  async renew(claim: Claim, renewals: number, released: boolean, options: QueryOptions = {}): Promise<void> {
    await this.#client.command(
      sql`INSERT INTO ${LEASE_TABLE}
       SELECT epoch, owner, ${number(renewals)}, ${number(released ? 1 : 0)}, now64(3), taken_at, host, pid, ttl_ms FROM ${LEASE_TABLE}
       WHERE epoch = ${number(claim.epoch)} AND owner = ${uuid(claim.owner)} AND ${counts(claim)}
       ORDER BY renewals DESC LIMIT 1`,
      options,
    );
  }

  /** Waits for statements of others. @returns renewals of the claim meanwhile. @throws DomainError when one does not end. */
  async #othersEnded(claim: Claim, renewEveryMs: number): Promise<number> {
    const deadline = performance.now() + STATEMENTS_END_WITHIN_MS;
    let [renewals, renewedAt] = [0, performance.now()];
    let running = await this.#others(claim.owner);
    while (running.length > 0) {
      if (performance.now() > deadline)
        throw new DomainError('unavailable', 'A statement of an earlier server is still running on ClickHouse', {
          retryAfterSeconds: 5,
        });
      await sleep(STATEMENTS_LOOKED_AT_MS);
      if (performance.now() - renewedAt > renewEveryMs) {
        [renewals, renewedAt] = [renewals + 1, performance.now()];
        await this.renew(claim, renewals, false);
      }
      const now = new Set(await this.#others(claim.owner));
      running = running.filter((id) => now.has(id));
    }
    return renewals;
  }

  /** Statements that name the lease but not this owner, as the statement that looks for them itself does. */
  async #others(owner: string): Promise<string[]> {
    const rows = await this.#client.query<{ query_id: string }>(
      sql`SELECT query_id FROM system.processes WHERE current_database = currentDatabase()
         AND position(query, ${literal(NAME)}) > 0 AND position(query, ${literal(owner)}) = 0`,
    );
    return rows.map(({ query_id }) => query_id);
  }
}

/** A condition, 1 or 0, that ClickHouse evaluates: whether this claim is the one that counts. */
export function counts({ epoch, owner }: Claim): Sql {
  return sql`ifNull((SELECT max((epoch, owner)) = (${number(epoch)}, ${uuid(owner)}) FROM ${LEASE_TABLE}), 0)`;
}

/** An owner's id in the statement's text, by which its statements are told from others while they run. */
function uuid(id: string): Sql {
  return sql`toUUID(${literal(id)})`;
}
