import type { Extent, Suspect } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteVersions } from '../clickhouse/client/mutations.js';
import { number, numbers, sql, type Sql } from '../clickhouse/client/sql.js';
import { insertMarked, MARKED_SPANS } from '../write/marked-spans.js';
import type { Unsettled } from './audited.js';
import { unlistedOf, VersionAudit, versionsOf, type FoundVersions } from './version-audit.js';

interface Row {
  readonly version: string;
  readonly project: string;
  readonly trace: string;
  readonly span: string;
  readonly stored: number;
  readonly indexed: number;
  readonly count: string;
}

/** Marked spans against the index by which experiments find them. */
export class ExperimentAudit extends VersionAudit {
  readonly title = 'spans of experiments';

  constructor(client: ClickHouseClient, extent: Extent, unsettled: Unsettled) {
    super('experiment_spans', client, extent, unsettled);
  }

  protected async repair(suspects: readonly Suspect[]): Promise<void> {
    const versions = versionsOf(suspects);
    if (versions.length === 0) return;
    await deleteVersions(this.client, 'experiment_spans', versions);
    await insertMarked(this.client, sql`ver IN (${numbers(versions)})`);
  }

  protected async examine(judged: Sql, listed: number): Promise<FoundVersions> {
    const columns = sql`ver, project_id, trace_id, id, cityHash64(toString(tuple(*))) AS hash`;
    const found = await this.client.query<Row>(
      sql`SELECT toString(ver) AS version, toString(any(project_id)) AS project, toString(any(trace_id)) AS trace, toString(any(id)) AS span,
  max(side = 0) AS stored, max(side = 1) AS indexed, toString(count() OVER ()) AS count
FROM (
  SELECT ${columns}, 0 AS side FROM (${MARKED_SPANS} AND ${judged})
  UNION ALL
  SELECT ${columns}, 1 AS side FROM experiment_spans WHERE ${judged}
)
WHERE ver NOT IN (SELECT ver FROM superseded WHERE ${judged})
GROUP BY ver HAVING maxIf(hash, side = 0) != maxIf(hash, side = 1)
LIMIT ${number(listed)}`,
    );
    const suspects = found.map(({ version, project, trace, span, stored, indexed }): Suspect => {
      const flaw = stored === 0 ? 'result_without_span' : indexed === 0 ? 'span_without_result' : 'result_differs';
      return { flaw, project, id: trace, detail: `span ${span}`, state: version, key: version };
    });
    return { suspects, unlisted: unlistedOf(found) };
  }
}
