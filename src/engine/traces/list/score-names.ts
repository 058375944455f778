import { empty, sql, value } from '../clickhouse/client/sql.js';
import type { ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import type { Version } from '../write/version-clock.js';

/** Of more names, scores are read: what is stored of each is looked for by itself. */
const MAX_NAMES = 12;
/** Projects that are known, those asked for last. */
const MAX_PROJECTS = 1_000;

/** The names of the scores that a project has, or had: those of it are few, or not known. */
export class ScoreNames {
  readonly #rows: ReadRows;
  readonly #written: (projectId: string) => Version;
  readonly #known = new Map<string, { readonly upTo: Version; readonly names: readonly string[] }>();

  /** @param written the last version of a project that was stored */
  constructor(rows: ReadRows, written: (projectId: string) => Version) {
    this.#rows = rows;
    this.#written = written;
  }

  /** All names in the state of a scope, and maybe others; null: they are many. */
  async of({ projectId, upTo }: ReadScope, signal?: AbortSignal): Promise<readonly string[] | null> {
    let known = this.#known.get(projectId);
    const isMany = known !== undefined && known.names.length > MAX_NAMES;
    if (!isMany && (known === undefined || this.#written(projectId) > known.upTo)) {
      const since = known === undefined ? empty : sql` AND ver > ${value(known.upTo, 'UInt64')}`;
      const found = await this.#rows<{ name: string }>(
        sql`SELECT DISTINCT name FROM scores WHERE ${inProject(projectId)}${since} AND ver <= ${value(upTo, 'UInt64')} LIMIT ${value(MAX_NAMES * 2, 'UInt64')}`,
        { signal },
      );
      const names = [...new Set([...(known?.names ?? []), ...found.map(({ name }) => name)])];
      known = { upTo: Math.max(upTo, known?.upTo ?? 0), names };
    }
    if (known === undefined) return null;
    this.#known.delete(projectId);
    this.#known.set(projectId, known);
    const oldest = this.#known.keys().next().value;
    if (this.#known.size > MAX_PROJECTS && oldest !== undefined) this.#known.delete(oldest);
    return known.names.length > MAX_NAMES ? null : known.names;
  }
}
