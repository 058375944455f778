import type { WriteLoad } from '../model/write-log.js';

/** For how long a commit counts as recent. */
const WINDOW_MS = 2_000;

/** How busy commits were lately: work that may wait asks before it starts. */
export class RecentCommits {
  #commits: { readonly at: number; readonly ms: number; readonly rows: number }[] = [];

  /** To be called after each commit. */
  committed(commit: { readonly rows: number; readonly seconds: number }): void {
    this.#forget();
    this.#commits.push({ at: performance.now(), ms: commit.seconds * 1000, rows: commit.rows });
  }

  load(): WriteLoad {
    this.#forget();
    const sum = (of: 'ms' | 'rows') => this.#commits.reduce((total, commit) => total + commit[of], 0);
    return { share: Math.min(1, sum('ms') / WINDOW_MS), rowsPerSecond: sum('rows') / (WINDOW_MS / 1000) };
  }

  #forget(): void {
    const since = performance.now() - WINDOW_MS;
    const first = this.#commits.findIndex(({ at }) => at >= since);
    if (first !== 0) this.#commits = first === -1 ? [] : this.#commits.slice(first);
  }
}
