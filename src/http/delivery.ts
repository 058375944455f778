import type { ServerResponse } from 'node:http';

export interface DeliveryLimits {
  /** An answer must be taken at least as fast; 0: as slowly as the client likes. */
  readonly minBytesPerSecond: number;
  /** Over how long the rate is taken. The first such time is not looked at. */
  readonly rateWindowMs: number;
}

/** How often within a window it is looked whether the answer waits for its client. */
const LOOKS = 10;

/**
 * Watches how fast a client takes an answer, until the function that this returns is called. Only a window counts in
 * which the answer has waited for the client at every look: while it waits for its source, the client is not to blame.
 *
 * @param tooSlow called once
 */
export function watchDelivery(
  response: ServerResponse,
  { minBytesPerSecond, rateWindowMs }: DeliveryLimits,
  tooSlow: () => void,
): () => void {
  if (minBytesPerSecond === 0) return () => undefined;
  const least = (minBytesPerSecond * rateWindowMs) / 1000;
  let windows = 0;
  let looks = 0;
  let waited = true;
  let before = taken(response);
  const timer = setInterval(() => {
    waited &&= response.writableNeedDrain || response.writableEnded;
    looks += 1;
    if (looks < LOOKS) return;
    const now = taken(response);
    const slow = waited && now - before < least;
    windows += 1;
    [looks, waited, before] = [0, true, now];
    if (!slow || windows === 1) return;
    clearInterval(timer);
    tooSlow();
  }, rateWindowMs / LOOKS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Bytes that the operating system has taken for the client, since the connection began. */
function taken({ socket }: ServerResponse): number {
  return socket === null ? 0 : socket.bytesWritten - socket.writableLength;
}
