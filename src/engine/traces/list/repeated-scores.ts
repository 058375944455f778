import { sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import type { Version } from '../write/version-clock.js';

/** Where more spans have several rows, the newest is looked for among all scores. */
const MAX_REPEATED = 1_000;
/** Names of a project, and of all projects, that are known, those asked for last: ids of some tens of megabytes. */
const MAX_NAMES = { ofProject: 20, ofAll: 400 } as const;
/** For each millisecond that it took to look through all scores of a name, none of these begins for so long. */
const REST = 30;

interface Known {
  /** The state that it is of. */
  readonly upTo: Version;
  /** Null: too many. */
  readonly ids: readonly string[] | null;
  /** From when on all may be looked through again, on the clock of `performance`. */
  readonly againAt: number;
}

/**
 * Which spans have several rows of scores of a name: of all others the only row is the newest, so that whoever looks for values need
 * not look for newer ones. Rows are only added, and what a purge takes makes nothing newest: a later state's answer holds for an earlier one.
 */
export class RepeatedScores {
  readonly #rows: ReadRows;
  readonly #written: (projectId: string) => Version;
  /** By project and name, those asked for last at the end. */
  readonly #known = new Map<string, Map<string, Known>>();

  /** @param written the last version of a project that was stored */
  constructor(rows: ReadRows, written: (projectId: string) => Version) {
    this.#rows = rows;
    this.#written = written;
  }

  /** A scope that says of some names which spans have several rows of them; not of those of which too many do. */
  async open(scope: ReadScope, names: readonly string[], signal?: AbortSignal): Promise<ReadScope> {
    const repeated = new Map<string, readonly string[]>();
    for (const name of new Set(names)) {
      const ids = await this.#of(scope, name, signal);
      if (ids !== null) repeated.set(name, ids);
    }
    return repeated.size === 0 ? scope : { ...scope, repeated };
  }

  async #of(scope: ReadScope, name: string, signal?: AbortSignal): Promise<readonly string[] | null> {
    const known = this.#known.get(scope.projectId)?.get(name);
    if (known !== undefined) {
      this.#keep(scope.projectId, name, known);
      if (known.ids !== null && this.#written(scope.projectId) <= known.upTo) return known.ids;
      const since = known.ids === null ? null : await this.#since(scope, name, known.upTo, signal);
      const ids = [...new Set([...(known.ids ?? []), ...(since ?? [])])];
      if (since !== null && ids.length <= MAX_REPEATED) return ids;
      if (performance.now() < known.againAt) return null;
    }
    const started = performance.now();
    const found = await this.#read(repeatedOf(scope, name), signal);
    const now = performance.now();
    const ids = found.length > MAX_REPEATED ? null : found;
    this.#keep(scope.projectId, name, { upTo: scope.upTo, ids, againAt: now + REST * (now - started) });
    return ids;
  }

  /** Spans that were given one since, whether they had one or not; null: too many. */
  async #since(scope: ReadScope, name: string, since: Version, signal?: AbortSignal) {
    const found = await this.#read(scoredSince(scope, name, since), signal);
    return found.length > MAX_REPEATED ? null : found;
  }

  async #read(statement: Sql, signal?: AbortSignal): Promise<string[]> {
    const rows = await this.#rows<{ id: string }>(statement, {
      signal,
      settings: { optimize_aggregation_in_order: 1 },
    });
    return rows.map(({ id }) => id);
  }

  #keep(projectId: string, name: string, known: Known): void {
    const ofProject = this.#known.get(projectId) ?? new Map<string, Known>();
    this.#known.delete(projectId);
    this.#known.set(projectId, ofProject);
    ofProject.delete(name);
    ofProject.set(name, known);
    const oldest = ofProject.keys().next().value;
    if (ofProject.size > MAX_NAMES.ofProject && oldest !== undefined) ofProject.delete(oldest);
    while (this.#size() > MAX_NAMES.ofAll) {
      const [first] = this.#known.keys();
      if (first === undefined) return;
      this.#known.delete(first);
    }
  }

  #size(): number {
    return [...this.#known.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

const LIMIT = value(MAX_REPEATED + 1, 'UInt64');

const ofSpans = ({ projectId, upTo }: ReadScope, name: string) =>
  sql`${inProject(projectId)} AND entity_type = 'span' AND name = ${value(name, 'String')} AND ver <= ${value(upTo, 'UInt64')}`;

/** With those whose only row is a tombstone, as it is between the steps of an erasure: no value of it may count. */
function repeatedOf(scope: ReadScope, name: string): Sql {
  return sql`SELECT toString(entity_id) AS id FROM (
  SELECT entity_id FROM scores WHERE ${ofSpans(scope, name)} GROUP BY project_id, entity_type, name, entity_id HAVING count() > 1 OR max(deleted) LIMIT ${LIMIT}
)`;
}

function scoredSince(scope: ReadScope, name: string, since: Version): Sql {
  return sql`SELECT DISTINCT toString(entity_id) AS id FROM scores
WHERE ${ofSpans(scope, name)} AND ver > ${value(since, 'UInt64')} LIMIT ${LIMIT}`;
}
