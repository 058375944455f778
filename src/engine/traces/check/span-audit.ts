import type { Extent, Suspect } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteVersions } from '../clickhouse/client/mutations.js';
import { join, number, numbers, sql, type Sql } from '../clickhouse/client/sql.js';
import { insertFacts, sharedColumns } from '../write/facts-of-spans.js';
import { byProject, items, type Recompute, type Unsettled } from './audited.js';
import { unlistedOf, VersionAudit, versionsOf, type FoundVersions } from './version-audit.js';

interface Row {
  readonly version: string;
  readonly stored: number;
  readonly counted: number;
  readonly count: string;
}

/** Spans against the facts that figures count: each has one, with the same values. */
export class SpanAudit extends VersionAudit {
  readonly title = 'spans and their metrics';
  readonly #recompute: Recompute | undefined;

  constructor(client: ClickHouseClient, extent: Extent, unsettled: Unsettled, recompute?: Recompute) {
    super('spans', client, extent, unsettled);
    this.#recompute = recompute;
  }

  protected async repair(suspects: readonly Suspect[]): Promise<void> {
    const of = (...flaws: Suspect['flaw'][]) => versionsOf(suspects.filter(({ flaw }) => flaws.includes(flaw)));
    await deleteVersions(this.client, 'facts', of('fact_without_span', 'fact_differs'));
    const lacking = of('span_without_fact', 'fact_differs');
    if (lacking.length > 0) await insertFacts(this.client, sql`ver IN (${numbers(lacking)})`);
    for (const [project, traces] of byProject(suspects))
      await this.#recompute?.({ traces: items(project, traces), sessions: [] });
  }

  protected async examine(judged: Sql, listed: number): Promise<FoundVersions> {
    const hash = sql`cityHash64(toString((${await sharedColumns(this.client)})))`;
    const found = await this.client.query<Row>(
      sql`SELECT toString(ver) AS version, stored, counted, toString(count() OVER ()) AS count
FROM (
  SELECT ver, max(side = 0) AS stored, max(side = 1) AS counted, maxIf(hash, side = 0) != maxIf(hash, side = 1) AS differs
  FROM (
    SELECT ver, ${hash} AS hash, 0 AS side FROM spans WHERE ${judged}
    UNION ALL
    SELECT ver, ${hash} AS hash, 1 AS side FROM facts WHERE row_type = 0 AND NOT deleted AND ${judged}
  )
  GROUP BY ver
)
WHERE differs AND ver NOT IN (SELECT ver FROM superseded WHERE ${judged})
LIMIT ${number(listed)}`,
    );
    return { suspects: await this.#described(found), unlisted: unlistedOf(found) };
  }

  async #described(found: readonly Row[]): Promise<Suspect[]> {
    if (found.length === 0) return [];
    const versions = sql`ver IN (${numbers(found.map(({ version }) => version))})`;
    const columns = sql`toString(ver) AS version, toString(project_id) AS project, toString(trace_id) AS trace, toString(id) AS span`;
    const places = await this.client.query<Record<'version' | 'project' | 'trace' | 'span', string>>(
      sql`SELECT DISTINCT * FROM (${join(
        [sql`SELECT ${columns} FROM spans WHERE ${versions}`, sql`SELECT ${columns} FROM facts WHERE ${versions}`],
        ' UNION ALL ',
      )})`,
    );
    const rows = new Map(found.map((row) => [row.version, row]));
    return places.map(({ version, project, trace, span }) => {
      const row = rows.get(version);
      const flaw = row?.stored === 0 ? 'fact_without_span' : row?.counted === 0 ? 'span_without_fact' : 'fact_differs';
      return { flaw, project, id: trace, detail: `span ${span}`, state: version, key: version };
    });
  }
}
