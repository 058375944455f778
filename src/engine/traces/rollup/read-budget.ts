/** The time that a list may spend on the unsettled traces of its project. */
const MAX_READ_MS = 150;
/** The part of a round's time for a trace that reading it from its facts takes; a round stores it, too. */
const READ_SHARE = 0.5;
/** The time that a round is taken to need for one trace, until rounds have shown how long they take. */
const FIRST_TRACE_MS = 0.1;
/** A round of fewer traces shows what a round costs rather than what a trace does. */
const TELLING_ROUND = 100;
const LEAST = 500;

/** However quick rounds are, a project has no more unsettled traces: they are named in one statement. */
export const MAX_UNSETTLED = 5_000;

/** How many traces of a project may be unsettled, by what rounds show of the time that reading them takes. */
export class ReadBudget {
  #traceMs = FIRST_TRACE_MS;

  /** How many unsettled traces a project may have before its writes wait. */
  get most(): number {
    return Math.min(MAX_UNSETTLED, Math.max(LEAST, MAX_READ_MS / (this.#traceMs * READ_SHARE)));
  }

  rolledUp({ traces, ms }: { readonly traces: number; readonly ms: number }): void {
    if (traces >= TELLING_ROUND) this.#traceMs = (this.#traceMs + ms / traces) / 2;
  }
}
