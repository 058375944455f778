import { literal, type Sql } from './sql.js';

/** A statement written for one server, as one for a cluster. @param cluster its name; null: one server */
export function forCluster(statement: Sql, cluster: string | null): Sql {
  if (cluster === null) return statement;
  const named = literal(cluster).render().text;
  return statement.rewritten((text) =>
    text
      .replace(
        /^(CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS \w+|DROP VIEW IF EXISTS \w+|ALTER TABLE \w+)/,
        (beginning) => `${beginning} ON CLUSTER ${named}`,
      )
      .replace(/ENGINE = (Replacing)?MergeTree/, 'ENGINE = Replicated$1MergeTree'),
  );
}
