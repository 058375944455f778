/** How far back it looks. */
const WINDOW_MS = 2_000;

/** How busy the store is with commits: what may wait looks here before it starts. */
export class WriteLoad {
  #commits: { readonly at: number; readonly ms: number }[] = [];

  /** To be called after each commit. */
  committed(seconds: number): void {
    this.#forget();
    this.#commits.push({ at: performance.now(), ms: seconds * 1000 });
  }

  /** The share of the last two seconds during which a commit was under way, 0 to 1. */
  share(): number {
    this.#forget();
    const busy = this.#commits.reduce((sum, { ms }) => sum + ms, 0);
    return Math.min(1, busy / WINDOW_MS);
  }

  #forget(): void {
    const since = performance.now() - WINDOW_MS;
    const first = this.#commits.findIndex(({ at }) => at >= since);
    if (first !== 0) this.#commits = first === -1 ? [] : this.#commits.slice(first);
  }
}
