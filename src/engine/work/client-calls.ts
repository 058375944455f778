/** For how long after a call another one is expected. */
const RECENT_MS = 2_000;

/** Whether somebody waits for answers of the server: work that may wait asks before it goes on. */
export class ClientCalls {
  #underWay = 0;
  #endedAt = -Infinity;

  /** Whether calls are being answered, or were a moment ago. */
  get lately(): boolean {
    return this.#underWay > 0 || performance.now() - this.#endedAt < RECENT_MS;
  }

  async during<T>(call: () => Promise<T> | T): Promise<T> {
    this.#underWay += 1;
    try {
      return await call();
    } finally {
      this.#underWay -= 1;
      this.#endedAt = performance.now();
    }
  }
}
