import { BackgroundLoop } from '../../engine/work/background-loop.js';
import type { AttachmentVault } from './vault.js';
import type { FindReferenceVersions } from '../../engine/traces/model/attachments.js';
import type { Signals } from '../../engine/signals/signals.js';

const INTERVAL_MS = 10 * 60_000;
/** Wait after images became free, so that one sweep removes all that are freed together. */
const SOON_MS = 1_000;

/** Sweeps the vault: at the start, for what a crash left behind, now and then, and soon after images became free. */
export class AttachmentSweeper {
  readonly #vault: Pick<AttachmentVault, 'sweep'>;
  readonly #findVersions: FindReferenceVersions;
  readonly #loop: BackgroundLoop;

  constructor(
    vault: Pick<AttachmentVault, 'sweep'>,
    findVersions: FindReferenceVersions,
    observer: Pick<Signals, 'attachmentSweepFailed'>,
  ) {
    this.#vault = vault;
    this.#findVersions = findVersions;
    this.#loop = new BackgroundLoop({
      round: () => this.#sweep(),
      onFailure: (error) => observer.attachmentSweepFailed({ error }),
    });
    this.soon();
  }

  soon(): void {
    this.#loop.wakeIn(SOON_MS);
  }

  /** Ends a sweep under way, after the image or batch that it is at. */
  async close(): Promise<void> {
    await this.#loop.close();
  }

  async #sweep(): Promise<number> {
    await this.#vault.sweep(this.#findVersions, this.#loop.signal);
    return INTERVAL_MS;
  }
}
