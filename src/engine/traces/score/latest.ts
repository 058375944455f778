import { empty, identifier, join, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import type { Version } from '../write/version-clock.js';

/** The version that the `created_at` of a score stands for. */
export const scoredVersion = sql`if(received_ver = 0, ver, received_ver)`;

/** The columns in whose order scores are stored. */
const KEY = ['entity_type', 'name', 'entity_id', 'id'] as const;

/**
 * The rows of scores that count in the state that is read: of each id the newest, unless it is a tombstone.
 * @param columns beside those of the key and `ver`
 * @param among conditions on the columns of the key, which tombstones have as well
 * @param having conditions on the others
 */
export function latestScores(
  { projectId, upTo }: Pick<ReadScope, 'projectId' | 'upTo'>,
  columns: readonly string[],
  among: readonly Sql[],
  having: readonly Sql[] = [],
): Sql {
  const selected = join([...KEY, 'ver', 'deleted', ...columns].map(identifier), ', ');
  const and = (conditions: readonly Sql[]) =>
    conditions.length === 0 ? empty : sql` AND ${join([...conditions], ' AND ')}`;
  return sql`SELECT * EXCEPT (deleted) FROM (
  SELECT ${selected} FROM scores
  WHERE ${inProject(projectId)} AND ver <= ${value(upTo, 'UInt64')}${and(among)}
  ORDER BY ${join(KEY.map(identifier), ', ')}, ver DESC LIMIT 1 BY ${join(KEY.map(identifier), ', ')}
) WHERE NOT deleted${and(having)}`;
}

/** What scores of some names were given to or taken from after a version, as rows of `changed`. Without `upTo`, until now. */
export const scoresSince =
  (
    { projectId, upTo }: { readonly projectId: string; readonly upTo?: Version },
    names: readonly string[],
    since: Version,
  ) =>
  (type: 'span' | 'trace' | 'session'): Sql => {
    const until = upTo === undefined ? empty : sql` AND ver <= ${value(upTo, 'UInt64')}`;
    return sql`SELECT entity_id AS changed FROM scores WHERE ${inProject(projectId)} AND entity_type = ${literal(type)}
  AND name IN ${value(names, 'Array(String)')} AND ver > ${value(since, 'UInt64')}${until}`;
  };
