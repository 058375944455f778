import type { Socket } from 'node:net';
import { FairQuota } from '../../engine/work/fair-quota.js';
import { networkOf } from './client-address.js';

/** Connections open at once: bounded, and by fair shares, so that one client's never leave none to others. */
export class Connections {
  readonly #shares: FairQuota;

  constructor(maxConnections: number) {
    this.#shares = new FairQuota(maxConnections);
  }

  /** Counts a connection until it closes. False for one too many, which is not counted. */
  admit(socket: Socket): boolean {
    const network = networkOf(socket.remoteAddress ?? '');
    if (!this.#shares.take(network, 1)) return false;
    socket.once('close', () => this.#shares.giveBack(network, 1));
    return true;
  }
}

/** A connection that could not be taken, for want of file descriptors, is for its client to try again. */
export function ignoreFailedAccept(): void {
  return undefined;
}
