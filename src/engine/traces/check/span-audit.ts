import type { Audit, AuditedPage, Extent, Suspect } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteVersions } from '../clickhouse/client/mutations.js';
import { empty, join, number, numbers, sql, type Sql } from '../clickhouse/client/sql.js';
import { insertFacts, sharedColumns } from '../write/facts-of-spans.js';
import { byProject, items, type Recompute, type Unsettled } from './audited.js';

/** Spans of one page. What is held of each, in the engine's memory, is its version and two hashes. */
const PAGE = 1_000_000;
/** The most suspects of a page that are listed: as many versions as one statement may name. */
const LISTED = 2_000;

interface Row {
  readonly version: string;
  readonly stored: number;
  readonly counted: number;
  readonly count: string;
}

/**
 * Spans against the facts that figures count: each has one, with the same values. Pages are the versions with the same
 * remainder, so that they are small whatever wrote them.
 */
export class SpanAudit implements Audit {
  readonly title = 'spans and their metrics';
  readonly unit = 'spans';
  readonly #client: ClickHouseClient;
  readonly #extent: Extent;
  readonly #unsettled: Unsettled;
  readonly #recompute: Recompute | undefined;
  /** Whether something was mended since the page was read. */
  #mended = false;

  constructor(client: ClickHouseClient, extent: Extent, unsettled: Unsettled, recompute?: Recompute) {
    this.#client = client;
    this.#extent = extent;
    this.#unsettled = unsettled;
    this.#recompute = recompute;
  }

  async total(): Promise<number> {
    const all = await this.#stored();
    const { sample } = this.#extent;
    return sample === null ? all : Math.min(all, sample);
  }

  async *pages(): AsyncGenerator<AuditedPage> {
    const all = await this.#stored();
    const { sample, seed } = this.#extent;
    const pages = Math.max(1, Math.ceil(all / Math.min(PAGE, sample ?? PAGE)));
    const wanted = sample === null ? Array.from({ length: pages }, (_, page) => page) : [seed % pages];
    const checked = Math.ceil(all / pages);
    for (const page of wanted) {
      const among = sql`ver % ${number(pages)} = ${number(page)}`;
      let found = await this.#examine(among);
      yield { ...found, checked };
      // What was not listed becomes so once the rest is mended.
      for (let left = Infinity; this.#mended && found.unlisted > 0 && found.unlisted < left;) {
        left = found.unlisted;
        this.#mended = false;
        found = await this.#examine(among);
        yield { ...found, checked: 0 };
      }
    }
  }

  async again(suspects: readonly Suspect[]): Promise<readonly Suspect[]> {
    const versions = versionsOf(suspects);
    return versions.length === 0 ? [] : (await this.#examine(sql`ver IN (${numbers(versions)})`)).suspects;
  }

  async mend(suspects: readonly Suspect[]): Promise<void> {
    this.#mended = true;
    const of = (...flaws: Suspect['flaw'][]) => versionsOf(suspects.filter(({ flaw }) => flaws.includes(flaw)));
    await deleteVersions(this.#client, 'facts', of('fact_without_span', 'fact_differs'));
    const lacking = of('span_without_fact', 'fact_differs');
    if (lacking.length > 0) await insertFacts(this.#client, sql`ver IN (${numbers(lacking)})`);
    for (const [project, traces] of byProject(suspects))
      await this.#recompute?.({ traces: items(project, traces), sessions: [] });
  }

  async #stored(): Promise<number> {
    const [row] = await this.#client.query<{ count: string }>(sql`SELECT toString(count()) AS count FROM spans`);
    return Number(row?.count ?? 0);
  }

  async #examine(among: Sql) {
    const { upTo } = this.#unsettled;
    const judged = sql`${among}${upTo === null ? empty : sql` AND ver <= ${number(upTo)}`}`;
    const hash = sql`cityHash64(toString((${await sharedColumns(this.#client)})))`;
    const found = await this.#client.query<Row>(
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
LIMIT ${number(LISTED)}`,
    );
    const suspects = await this.#described(found);
    return { suspects, unlisted: Number(found[0]?.count ?? 0) - found.length };
  }

  async #described(found: readonly Row[]): Promise<Suspect[]> {
    if (found.length === 0) return [];
    const versions = sql`ver IN (${numbers(found.map(({ version }) => version))})`;
    const columns = sql`toString(ver) AS version, toString(project_id) AS project, toString(trace_id) AS trace, toString(id) AS span`;
    const places = await this.#client.query<Record<'version' | 'project' | 'trace' | 'span', string>>(
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

function versionsOf(suspects: readonly Suspect[]): string[] {
  return suspects.flatMap(({ key }) => key ?? []);
}
