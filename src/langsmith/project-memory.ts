/** Most values of one project, and of all. */
const MAX_OF_PROJECT = 1_000;
const MAX_OF_ALL = 10_000;

/** Values that are remembered by projects and keys. A project with too many loses its own oldest ones, none of others. */
export class ProjectMemory<V> {
  /** The project that was noted last comes last, and so does a project's newest value. */
  readonly #projects = new Map<string, Map<string, V>>();
  #size = 0;

  get(projectId: string, key: string): V | undefined {
    return this.#projects.get(projectId)?.get(key);
  }

  note(projectId: string, key: string, value: V): void {
    const own = this.#projects.get(projectId) ?? new Map<string, V>();
    this.#projects.delete(projectId);
    this.#projects.set(projectId, own);
    this.forget(projectId, key);
    own.set(key, value);
    this.#size += 1;
    if (own.size > MAX_OF_PROJECT) this.forget(projectId, firstOf(own));
    while (this.#size > MAX_OF_ALL) this.#forgetAll(firstOf(this.#projects));
  }

  forget(projectId: string, key: string): void {
    if (this.#projects.get(projectId)?.delete(key) === true) this.#size -= 1;
  }

  #forgetAll(projectId: string): void {
    this.#size -= this.#projects.get(projectId)?.size ?? 0;
    this.#projects.delete(projectId);
  }
}

const firstOf = (map: ReadonlyMap<string, unknown>) => map.keys().next().value ?? '';
