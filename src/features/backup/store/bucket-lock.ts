import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { DomainError } from '../../../engine/errors.js';
import type { PlaceLock } from './place.js';

/** An object as it is at one moment. */
export interface LockObject {
  readonly text: string;
  readonly etag: string;
  /** How long ago it was written, by the clock of the bucket. */
  readonly ageMs: number;
}

/** What the lock needs of a bucket. */
export interface LockBucket {
  readonly address: string;
  readLock(): Promise<LockObject | null>;
  /**
   * @param over the object to be replaced; null: there is none
   * @returns its tag; null: someone else wrote it first
   */
  writeLock(text: string, over: string | null): Promise<string | null>;
  removeLock(): Promise<void>;
}

interface Holder {
  readonly id: string;
  readonly machine: string;
  readonly host: string;
  readonly pid: number;
  readonly since: string;
}

const RENEW_MS = 20_000;
/** No one who lives leaves it alone for so long. */
const DEAD_AFTER_MS = 90_000;

/**
 * A lock on a bucket: an object that is written only where there is none, and again and again while it is held. Where the
 * service knows no conditions (`If-None-Match`), the one of two who wrote first finds out by the next renewal, and before
 * a backup is finished in any case.
 */
export class BucketLock implements PlaceLock {
  readonly #bucket: LockBucket;
  readonly #text: string;
  readonly #timer: NodeJS.Timeout;
  #etag: string;
  #isLost = false;
  #renewing: Promise<void> = Promise.resolve();

  private constructor(bucket: LockBucket, text: string, etag: string) {
    this.#bucket = bucket;
    this.#text = text;
    this.#etag = etag;
    // One that fails is made up for by the next, and at the latest by `requireHeld`.
    this.#timer = setInterval(() => void this.#renew().catch(() => undefined), RENEW_MS).unref();
  }

  /** @throws DomainError `conflict` while another process that lives has it */
  static async take(bucket: LockBucket): Promise<BucketLock> {
    const found = await bucket.readLock();
    const holder = found === null ? null : holderOf(found.text);
    if (found !== null && isAlive(found, holder)) throw new DomainError('conflict', taken(bucket.address, holder));
    const me: Holder = {
      id: randomUUID(),
      machine: machine(),
      host: hostname(),
      pid: process.pid,
      since: new Date().toISOString(),
    };
    const text = JSON.stringify(me);
    const etag = await write(bucket, text, found?.etag ?? null);
    if (etag === null) throw new DomainError('conflict', taken(bucket.address, null));
    return new BucketLock(bucket, text, etag);
  }

  async requireHeld(): Promise<void> {
    await this.#renew();
    if (this.#isLost)
      throw new DomainError(
        'conflict',
        `Another backup started in ${this.#bucket.address} in the meantime: run this one again after it finishes`,
      );
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing.catch(() => undefined);
    // Where it cannot be removed, it counts as dead soon.
    const found = await this.#bucket.readLock().catch(() => null);
    if (found?.text === this.#text) await this.#bucket.removeLock().catch(() => undefined);
  }

  #renew(): Promise<void> {
    this.#renewing = this.#renewing.catch(() => undefined).then(() => this.#write());
    return this.#renewing;
  }

  async #write(): Promise<void> {
    if (this.#isLost) return;
    const found = await this.#bucket.readLock();
    const etag = found?.text === this.#text ? await write(this.#bucket, this.#text, this.#etag) : null;
    if (etag === null) this.#isLost = true;
    else this.#etag = etag;
  }
}

/** @returns null when someone else has it */
async function write(bucket: LockBucket, text: string, over: string | null): Promise<string | null> {
  const etag = await bucket.writeLock(text, over);
  if (etag !== null) return etag;
  // An attempt whose answer was lost stands in the way of the next one.
  const found = await bucket.readLock();
  return found?.text === text ? found.etag : null;
}

function isAlive({ ageMs }: LockObject, holder: Holder | null): boolean {
  if (ageMs > DEAD_AFTER_MS) return false;
  if (holder?.machine !== machine()) return true;
  try {
    process.kill(holder.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function taken(address: string, holder: Holder | null): string {
  const by = holder === null ? '' : ` by process ${holder.pid} on ${holder.host}, since ${holder.since}`;
  return (
    `Another backup is being written to ${address}${by}: wait until it finishes. ` +
    `If it was killed, run this again in ${DEAD_AFTER_MS / 1000} seconds`
  );
}

function holderOf(text: string): Holder | null {
  try {
    const { id, machine, host, pid, since } = JSON.parse(text) as Partial<Record<keyof Holder, unknown>>;
    if (!Number.isSafeInteger(pid) || Number(pid) < 1) return null;
    return { id: String(id), machine: String(machine), host: String(host), pid: Number(pid), since: String(since) };
  } catch {
    return null;
  }
}

/** Names where a process id means the same process: one start of one machine, and in it one container. */
function machine(): string {
  const of = (read: () => string) => {
    try {
      return read();
    } catch {
      return '';
    }
  };
  const boot = of(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const container = of(() => readlinkSync('/proc/self/ns/pid'));
  return createHash('sha256').update(`${hostname()}\n${boot}\n${container}`).digest('hex');
}
