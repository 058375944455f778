import type { Audit, AuditedPage, Extent, Suspect } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteVersions } from '../clickhouse/client/mutations.js';
import { empty, number, numbers, sql, type Sql } from '../clickhouse/client/sql.js';
import { insertMarked, MARKED_SPANS } from '../write/marked-spans.js';
import type { Unsettled } from './audited.js';

/** Marked spans of one page. What is held of each, in the engine's memory, is its version and two hashes. */
const PAGE = 1_000_000;
/** The most suspects of a page that are listed: as many versions as one statement may name. */
const LISTED = 2_000;

interface Row {
  readonly version: string;
  readonly project: string;
  readonly trace: string;
  readonly span: string;
  readonly stored: number;
  readonly indexed: number;
  readonly count: string;
}

/** Marked spans against the index by which experiments find them. Pages are the versions with the same remainder. */
export class ExperimentAudit implements Audit {
  readonly title = 'spans of experiments';
  readonly unit = 'spans';
  readonly #client: ClickHouseClient;
  readonly #extent: Extent;
  readonly #unsettled: Unsettled;

  constructor(client: ClickHouseClient, extent: Extent, unsettled: Unsettled) {
    this.#client = client;
    this.#extent = extent;
    this.#unsettled = unsettled;
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
    for (const page of wanted) {
      const found = await this.#examine(sql`ver % ${number(pages)} = ${number(page)}`);
      yield { ...found, checked: Math.ceil(all / pages) };
    }
  }

  async again(suspects: readonly Suspect[]): Promise<readonly Suspect[]> {
    const versions = suspects.flatMap(({ key }) => key ?? []);
    return versions.length === 0 ? [] : (await this.#examine(sql`ver IN (${numbers(versions)})`)).suspects;
  }

  async mend(suspects: readonly Suspect[]): Promise<void> {
    const versions = suspects.flatMap(({ key }) => key ?? []);
    if (versions.length === 0) return;
    await deleteVersions(this.#client, 'experiment_spans', versions);
    await insertMarked(this.#client, sql`ver IN (${numbers(versions)})`);
  }

  async #stored(): Promise<number> {
    const [row] = await this.#client.query<{ count: string }>(
      sql`SELECT toString(count()) AS count FROM experiment_spans`,
    );
    return Number(row?.count ?? 0);
  }

  async #examine(among: Sql) {
    const { upTo } = this.#unsettled;
    const judged = sql`${among}${upTo === null ? empty : sql` AND ver <= ${number(upTo)}`}`;
    const columns = sql`ver, project_id, trace_id, id, cityHash64(toString(tuple(*))) AS hash`;
    const found = await this.#client.query<Row>(
      sql`SELECT toString(ver) AS version, toString(any(project_id)) AS project, toString(any(trace_id)) AS trace, toString(any(id)) AS span,
  max(side = 0) AS stored, max(side = 1) AS indexed, toString(count() OVER ()) AS count
FROM (
  SELECT ${columns}, 0 AS side FROM (${MARKED_SPANS} AND ${judged})
  UNION ALL
  SELECT ${columns}, 1 AS side FROM experiment_spans WHERE ${judged}
)
WHERE ver NOT IN (SELECT ver FROM superseded WHERE ${judged})
GROUP BY ver HAVING maxIf(hash, side = 0) != maxIf(hash, side = 1)
LIMIT ${number(LISTED)}`,
    );
    const suspects = found.map(({ version, project, trace, span, stored, indexed }): Suspect => {
      const flaw = stored === 0 ? 'result_without_span' : indexed === 0 ? 'span_without_result' : 'result_differs';
      return { flaw, project, id: trace, detail: `span ${span}`, state: version, key: version };
    });
    return { suspects, unlisted: Number(found[0]?.count ?? 0) - found.length };
  }
}
