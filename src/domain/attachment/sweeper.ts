import type { AttachmentObserver, AttachmentVault, FindNamingVersions } from './vault.js';

const INTERVAL_MS = 10 * 60_000;
/** What is freed together is swept together. */
const SOON_MS = 1_000;

/** Sweeps the vault: at the start, for what a crash left behind, now and then, and soon after images became free. */
export class AttachmentSweeper {
  readonly #vault: Pick<AttachmentVault, 'sweep'>;
  readonly #findVersions: FindNamingVersions;
  readonly #observer: Pick<AttachmentObserver, 'attachmentSweepFailed'>;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;

  constructor(
    vault: Pick<AttachmentVault, 'sweep'>,
    findVersions: FindNamingVersions,
    observer: Pick<AttachmentObserver, 'attachmentSweepFailed'>,
  ) {
    this.#vault = vault;
    this.#findVersions = findVersions;
    this.#observer = observer;
    this.soon();
  }

  soon(): void {
    this.#schedule(SOON_MS);
  }

  /** Ends a sweep under way, after what it is at. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(delayMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (!this.#closing.signal.aborted) this.#timer = setTimeout(() => void this.#run(), delayMs).unref();
  }

  async #run(): Promise<void> {
    // One at a time; what became free meanwhile is swept right after.
    if (this.#running !== null) {
      this.soon();
      return;
    }
    this.#schedule(INTERVAL_MS);
    this.#running = this.#sweep();
    await this.#running;
    this.#running = null;
  }

  async #sweep(): Promise<void> {
    try {
      await this.#vault.sweep(this.#findVersions, this.#closing.signal);
    } catch (error) {
      this.#observer.attachmentSweepFailed({ error });
    }
  }
}
