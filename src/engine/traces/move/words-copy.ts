import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { number, sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import { WORDS } from './moved-tables.js';
import { fingerprint, ofProject, storedColumns } from './portions.js';
import type { RowCopy } from './row-copy.js';

/** Tells rows apart without their words, which are never changed: another row takes the place of one. */
const OF_A_ROW = ['project_id', 'started_from', 'started_to', 'spans', 'indexed_to', 'complete'];

/** Takes the index of words along. Where it changed meanwhile, it is left to be refilled from spans. */
export class WordsCopy {
  readonly #source: ClickHouseClient;
  readonly #target: ClickHouseClient;
  #upTo: Version = 0;

  constructor(source: ClickHouseClient, target: ClickHouseClient) {
    this.#source = source;
    this.#target = target;
  }

  async copy(rows: RowCopy, projects: readonly string[]): Promise<void> {
    await this.#target.command(sql`TRUNCATE TABLE span_words`);
    const [last] = await this.#source.query<{ ver: string }>(
      sql`SELECT toString(max(indexed_to)) AS ver FROM span_words`,
    );
    this.#upTo = Number(last?.ver ?? 0);
    for (const project of projects)
      await rows.copy({
        extent: { ...ofProject(WORDS, project, this.#upTo), version: 'indexed_to' },
        from: null,
        fixed: false,
        onStored: async () => undefined,
      });
    await this.#keepIfSame(await storedColumns(this.#source, WORDS.name));
  }

  /** Keeps what was copied only if it is still what the source has, such as no words of spans deleted since. */
  async check(): Promise<void> {
    await this.#keepIfSame(OF_A_ROW);
  }

  async #keepIfSame(columns: readonly string[]): Promise<void> {
    const [is, should] = await Promise.all([this.#sum(this.#target, columns), this.#sum(this.#source, columns)]);
    if (is !== should) await this.#target.command(sql`TRUNCATE TABLE span_words`);
  }

  async #sum(client: ClickHouseClient, columns: readonly string[]): Promise<string> {
    const [row] = await client.query<{ rows: string; sum: string }>(
      sql`SELECT toString(count()) AS rows, ${fingerprint(columns)} AS sum FROM span_words WHERE indexed_to <= ${number(this.#upTo)}`,
    );
    return `${row?.rows} ${row?.sum}`;
  }
}
