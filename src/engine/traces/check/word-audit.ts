import type { Audit, AuditedPage, Suspect } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { number, sql } from '../clickhouse/client/sql.js';

/** The versions that one insert into `span_words` indexed: after one, up to another. */
interface Batch {
  readonly after: string;
  readonly upTo: string;
}

/** Spans against the index of words: each that is indexed started in a range that a row of its insert has. */
export class WordAudit implements Audit {
  readonly title = 'word index';
  readonly unit = 'spans';
  readonly #client: ClickHouseClient;
  readonly #sample: number | null;
  readonly #seed: number;
  readonly #renew: (() => Promise<void>) | undefined;
  #renewed = false;

  /** @param renew fills the index again */
  constructor(
    client: ClickHouseClient,
    { sample, seed }: { readonly sample: number | null; readonly seed: number },
    renew?: () => Promise<void>,
  ) {
    this.#client = client;
    this.#sample = sample;
    this.#seed = seed;
    this.#renew = renew;
  }

  async total(): Promise<number> {
    const [row] = await this.#client.query<{ count: string }>(
      sql`SELECT toString(countIf(ver <= (SELECT max(indexed_to) FROM span_words))) AS count FROM spans`,
    );
    const all = Number(row?.count ?? 0);
    return this.#sample === null ? all : Math.min(all, this.#sample);
  }

  async *pages(): AsyncGenerator<AuditedPage> {
    let checked = 0;
    for (const batch of await this.#batches()) {
      const page = await this.#examine(batch);
      checked += page.checked;
      yield page;
      // All of the index is another one.
      if (this.#renewed || (this.#sample !== null && checked >= this.#sample)) return;
    }
  }

  async again(): Promise<readonly Suspect[]> {
    const found: Suspect[] = [];
    for (const batch of await this.#batches()) found.push(...(await this.#examine(batch)).suspects);
    return found;
  }

  async mend(): Promise<void> {
    await this.#renew?.();
    this.#renewed = true;
  }

  /** In an order that depends on the seed, where only some are looked at. */
  async #batches(): Promise<Batch[]> {
    const rows = await this.#client.query<{ last: string }>(
      sql`SELECT DISTINCT toString(indexed_to) AS last FROM span_words ORDER BY indexed_to`,
    );
    const batches = rows.map(({ last }, at) => ({ after: rows[at - 1]?.last ?? '0', upTo: last }));
    if (this.#sample === null) return batches;
    const begin = batches.length === 0 ? 0 : this.#seed % batches.length;
    return [...batches.slice(begin), ...batches.slice(0, begin)];
  }

  async #examine({ after, upTo }: Batch): Promise<AuditedPage & { suspects: Suspect[] }> {
    const versions = sql`ver > ${number(after)} AND ver <= ${number(upTo)}`;
    const rows = await this.#client.query<{ project: string; spans: string; missing: string; one: string }>(
      sql`WITH (
  SELECT mapFromArrays(groupArray(project), groupArray(ranges)) FROM (
    SELECT toString(project_id) AS project, groupArray((started_from, started_to)) AS ranges
    FROM span_words WHERE indexed_to = ${number(upTo)} GROUP BY project_id)
) AS indexed
SELECT toString(project_id) AS project, toString(count()) AS spans, toString(countIf(lacking)) AS missing, toString(anyIf(id, lacking)) AS one
FROM (
  SELECT project_id, id, NOT arrayExists(range -> range.1 <= started_at AND started_at <= range.2, indexed[toString(project_id)]) AS lacking
  FROM spans WHERE ${versions} AND ver NOT IN (SELECT ver FROM superseded WHERE ${versions})
)
GROUP BY project_id`,
    );
    const lacking = rows.filter(({ missing }) => missing !== '0');
    return {
      checked: rows.reduce((sum, { spans }) => sum + Number(spans), 0),
      suspects: lacking.map(({ project, missing, one }) => ({
        flaw: 'words_missing',
        project,
        id: one,
        count: Number(missing),
        detail: `and ${Number(missing) - 1} more that were indexed with it`,
      })),
    };
  }
}
