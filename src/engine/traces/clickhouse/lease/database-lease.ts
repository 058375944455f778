import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../errors.js';
import type { ClickHouseClient } from '../client/client.js';
import { mutationsEnded } from '../client/mutations.js';
import { literal, sql, type Sql } from '../client/sql.js';
import type { LastOwner } from './last-owner.js';
import { LeaseError } from './lease-error.js';
import {
  counts,
  LeaseTable,
  RENEWALS,
  type Claim,
  type Claimant,
  type Holder,
  type RenewedClaim,
} from './lease-table.js';
import type { Signals } from '../../../signals/signals.js';

export interface LeaseOptions {
  /** A client for the lease alone, so that it is not held up behind other statements. */
  readonly client: ClickHouseClient;
  /** Cluster that the tables are on; null: one server. */
  readonly cluster: string | null;
  /** The server that answers at the address; null: it has no id. */
  readonly serverUuid: string | null;
  /** How the database is called in messages. */
  readonly database: string;
  readonly ttlMs: number;
  readonly lastOwner: LastOwner;
  readonly observer: Pick<Signals, 'leaseTaken' | 'leaseRenewalFailed' | 'leaseLost'>;
  /** Called once, when another server has taken the lease over. */
  onLost(error: LeaseError): void;
}

/** Share of the lease's time without a renewal after which its owner stops writing, whatever another's clock may say. */
const TRUSTED = 0.75;
const LOOKED_AT_MS = 200;
/** How long a stop waits at most to give the lease back. */
const RELEASE_MS = 3_000;

/**
 * The right of one server to write to a database. Two servers that write to one database lead to wrong figures: each
 * rolls up only what it has committed itself, and recovers what looks half done while the other one is doing it.
 *
 * **What is guaranteed.** After a server has taken the lease, no statement of an earlier owner changes the tables any
 * more, however late it arrives: a process that was stopped in the middle of an insert, or one whose data a proxy held
 * back. ClickHouse has no compare-and-swap, so this rests on an order of two steps on each side:
 *
 * - A writing statement is (1) entered in `system.processes` and (2) then evaluates, once, the condition that the claim
 *   of its owner counts (`counts`, put into it by FencedClient). If it does not, nothing is stored.
 * - A new owner (1) stores its claim and (2) then reads `system.processes`, and waits until each writing statement in it
 *   has ended (LeaseTable.claim).
 *
 * A statement whose condition was evaluated before the claim was stored is entered in `system.processes` before the new
 * owner reads it: it is waited for, and recovery rolls up what it stored. Any other finds the claim and stores nothing. No
 * clock plays a part. The same argument has claims exclude each other: a claim is made on the condition that the holder
 * is as it was seen, and claims that met the condition at the same time wait for each other, so that all see the same
 * claims and agree on the greatest.
 *
 * **Time** only decides when a server that says nothing is given up: after `ttlMs` without a renewal, by the clock of
 * ClickHouse or by that of the one who watches, whichever comes first. A monotonic one, so that no one's wall clock
 * matters. Its owner counts from before it sent the last renewal that was confirmed, and stops to write a little earlier.
 * A clean stop gives the lease back; and what worked on this `DATA_DIR` before is known to have ended, see LastOwner.
 *
 * **Not guaranteed:** changes of the tables by migrations carry no condition; each may be run twice. On a cluster the
 * two steps hold for servers that address the same replica; between replicas, a claim is given some seconds to be
 * replicated, and the statements that run on other replicas are not waited for.
 */
export class DatabaseLease {
  readonly #options: LeaseOptions;
  readonly #table: LeaseTable;
  readonly #claim: Claim;
  #renewals: number;
  /** Until when this server may write, by the monotonic clock of its process. */
  #heldUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | null = null;
  #lost: LeaseError | null = null;
  readonly #closing = new AbortController();

  private constructor(options: LeaseOptions, table: LeaseTable, claim: RenewedClaim) {
    this.#options = options;
    this.#table = table;
    this.#claim = claim;
    this.#renewals = claim.renewals;
  }

  /**
   * Takes the lease as soon as no one has it.
   * @throws LeaseError `held` when another server has it and renews it; DomainError when ClickHouse does not answer.
   */
  static async take(options: LeaseOptions): Promise<DatabaseLease> {
    const { client, cluster, ttlMs, lastOwner, observer } = options;
    const table = new LeaseTable(client, cluster);
    const me: Claimant = { owner: randomUUID(), host: hostname(), pid: process.pid, ttlMs };
    const started = performance.now();
    await table.create();
    for (;;) {
      const seen = await table.holder();
      const free = seen === null || seen.released || seen.owner === lastOwner.read();
      const before = free ? seen : await givenUp(table, seen, options.database);
      const claim = await table.claim(before, me);
      if (claim === null) continue;
      lastOwner.write(me.owner);
      const lease = new DatabaseLease(options, table, claim);
      try {
        await lease.#begin();
      } catch (error) {
        await lease.release();
        throw error;
      }
      observer.leaseTaken({ epoch: claim.epoch, seconds: (performance.now() - started) / 1000 });
      return lease;
    }
  }

  /** The condition that writing statements carry, see {@link counts}. */
  get condition(): Sql {
    return counts(this.#claim);
  }

  /**
   * The condition of statements that add rows: on another replica they would add what is computed of less. A deletion reaches all
   * replicas whichever is told of it.
   */
  get inserting(): Sql {
    const { serverUuid } = this.#options;
    if (serverUuid === null) return this.condition;
    return sql`(${this.condition} AND serverUUID() = toUUID(${literal(serverUuid)}))`;
  }

  /** Whether this server may write now. */
  get held(): boolean {
    return this.#lost === null && performance.now() < this.#heldUntil;
  }

  /** @throws DomainError `unavailable` unless the lease is {@link held}. */
  check(): void {
    if (this.#lost !== null) throw refused(this.#lost.message, this.#lost);
    if (!this.held) throw refused('The lease on the database could not be renewed in time. Retry.');
  }

  /** Looks who has the lease, after ClickHouse has refused a statement. @returns whether another server has. */
  async isLost(): Promise<boolean> {
    if (this.#lost === null) this.#compare(await this.#table.holder());
    return this.#lost !== null;
  }

  /** Gives the lease back, so that the next server need not wait. */
  async release(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#renewing;
    this.#heldUntil = 0;
    if (this.#lost !== null) return;
    try {
      await this.#table.renew(this.#claim, this.#renewals + 1, true, { signal: AbortSignal.timeout(RELEASE_MS) });
    } catch (error) {
      this.#options.observer.leaseRenewalFailed({ error });
    }
  }

  async #begin(): Promise<void> {
    await this.#renew();
    this.#schedule();
    // Words that an earlier owner deleted may still be on their way out.
    await mutationsEnded(this.#options.client, { table: 'span_words' });
    this.check();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#renewing = this.#renew().finally(() => {
        this.#renewing = null;
        if (this.#lost === null && !this.#closing.signal.aborted) this.#schedule();
      });
    }, this.#options.ttlMs / RENEWALS);
    this.#timer.unref();
  }

  async #renew(): Promise<void> {
    const { ttlMs, observer } = this.#options;
    const sentAt = performance.now();
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(ttlMs), this.#closing.signal]);
      this.#renewals += 1;
      await this.#table.renew(this.#claim, this.#renewals, false, { signal });
      this.#compare(await this.#table.holder({ signal }));
      if (this.#lost === null) this.#heldUntil = sentAt + ttlMs * TRUSTED;
    } catch (error) {
      if (!this.#closing.signal.aborted) observer.leaseRenewalFailed({ error });
    }
  }

  /** @throws Error when the claim of this server is not there: its table was emptied, or a replica lags behind. */
  #compare(holder: Holder | null): void {
    if (holder?.owner === this.#claim.owner || this.#lost !== null) return;
    if (holder === null || holder.epoch < this.#claim.epoch)
      throw new Error('The claim of this server on the database is not found');
    const { database, observer, onLost } = this.#options;
    this.#lost = new LeaseError(
      'lost',
      `The database ${database} now belongs to ${nameOf(holder)}. This server lost contact for too long and is stopping, because two ` +
        'servers would corrupt metrics.',
    );
    observer.leaseLost({ reason: this.#lost.message });
    onLost(this.#lost);
  }
}

/**
 * Watches a holder until it has not been heard of for as long as its lease lasts, or gives it back.
 * @returns whom a claim may follow.
 * @throws LeaseError `held`
 */
async function givenUp(table: LeaseTable, seen: Holder, database: string): Promise<Holder | null> {
  const deadline = performance.now() + seen.ttlMs - Math.min(Math.max(seen.ageMs, 0), seen.ttlMs);
  while (performance.now() < deadline) {
    await sleep(Math.min(LOOKED_AT_MS, Math.max(deadline - performance.now(), 1)));
    const now = await table.holder();
    if (now === null || now.released) return now;
    if (isSame(now, seen)) continue;
    throw new LeaseError(
      'held',
      `The database ${database} is in use by ${nameOf(now)}. Stop that server first, or set another database for this one ` +
        'with CLICKHOUSE_DATABASE.',
    );
  }
  return seen;
}

function isSame(one: Holder, other: Holder): boolean {
  return one.owner === other.owner && one.renewals === other.renewals;
}

function nameOf({ host, pid, since }: Holder): string {
  return `another Spanhouse server (process ${pid} on ${host}, since ${since})`;
}

function refused(detail: string, cause?: unknown): DomainError {
  return new DomainError('unavailable', detail, { retryAfterSeconds: 1, ...(cause !== undefined && { cause }) });
}
