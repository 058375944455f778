export interface ArrivalLimits {
  /** A body must be there this long after its headers. */
  readonly readTimeoutMs: number;
  /** A body that would not be there in time at this rate must come at least as fast; 0: none must. */
  readonly minBytesPerSecond: number;
  /** Over how long the rate is taken. The first such time is not looked at. */
  readonly rateWindowMs: number;
}

/** A body on its way. */
export interface Arriving {
  /** Bytes that are there. */
  arrived(): number;
  /** Bytes that it will have; infinite when no one says. */
  expected(): number;
  /** Refuses the body because it arrives too late or too slowly. @param why a sentence */
  giveUp(why: string): void;
}

/** Watches a body until the function that this returns is called. One timer, which most bodies are too fast to ever see. */
export function watchArrival(limits: ArrivalLimits, body: Arriving): () => void {
  const { readTimeoutMs, minBytesPerSecond, rateWindowMs } = limits;
  const inTimeAtLeastRate = (minBytesPerSecond * readTimeoutMs) / 1000;
  const startedAt = performance.now();
  let before = 0;
  let windows = 0;
  const look = () => {
    const passed = performance.now() - startedAt;
    const bytes = body.arrived();
    const least = body.expected() <= inTimeAtLeastRate ? 0 : (minBytesPerSecond * rateWindowMs) / 1000;
    windows += 1;
    if (passed >= readTimeoutMs) {
      body.giveUp(`The body did not arrive within ${Math.ceil(readTimeoutMs / 1000)} s`);
    } else if (windows > 1 && bytes - before < least) {
      body.giveUp(`The body arrived at less than ${minBytesPerSecond} bytes per second`);
    } else {
      before = bytes;
      wait(passed);
    }
  };
  let timer: NodeJS.Timeout;
  let turn: NodeJS.Immediate | undefined;
  const wait = (passed: number) => {
    // After a busy stretch of ours, what arrived meanwhile is read first.
    const later = () => (turn = setImmediate(look));
    timer = setTimeout(later, Math.ceil(Math.min(readTimeoutMs - passed, rateWindowMs)));
  };
  wait(0);
  return () => {
    clearTimeout(timer);
    if (turn !== undefined) clearImmediate(turn);
  };
}
