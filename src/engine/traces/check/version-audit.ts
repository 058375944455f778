import type { Audit, AuditedPage, Extent, Suspect } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { empty, identifier, number, numbers, sql, type Sql } from '../clickhouse/client/sql.js';
import type { Unsettled } from './audited.js';

/** Versions of one page. What is held of each, in the engine's memory, is itself and two hashes. */
const PAGE = 1_000_000;
/** The most suspects of a page that are listed: as many versions as one statement may name. */
const LISTED = 2_000;

/** What is wrong with some versions. */
export interface FoundVersions {
  readonly suspects: readonly Suspect[];
  /** How many more there are than were listed. */
  readonly unlisted: number;
}

/** An audit of rows by their versions. Pages are the versions with the same remainder, so that they are small whatever wrote them. */
export abstract class VersionAudit implements Audit {
  abstract readonly title: string;
  readonly unit = 'spans';
  protected readonly client: ClickHouseClient;
  readonly #table: string;
  readonly #extent: Extent;
  readonly #unsettled: Unsettled;
  /** Whether something was repaired since the page was read. */
  #mended = false;

  /** @param table whose rows are counted */
  constructor(table: string, client: ClickHouseClient, extent: Extent, unsettled: Unsettled) {
    this.#table = table;
    this.client = client;
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
    const checked = Math.ceil(all / pages);
    for (const page of wanted) {
      const among = sql`ver % ${number(pages)} = ${number(page)}`;
      let found = await this.#examine(among);
      yield { ...found, checked };
      // What was not listed becomes so once the rest is repaired.
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

  mend(suspects: readonly Suspect[]): Promise<void> {
    this.#mended = true;
    return this.repair(suspects);
  }

  /** @param among a condition on the versions @param listed the most versions to name */
  protected abstract examine(among: Sql, listed: number): Promise<FoundVersions>;

  protected abstract repair(suspects: readonly Suspect[]): Promise<void>;

  async #stored(): Promise<number> {
    const [row] = await this.client.query<{ count: string }>(
      sql`SELECT toString(count()) AS count FROM ${identifier(this.#table)}`,
    );
    return Number(row?.count ?? 0);
  }

  #examine(among: Sql): Promise<FoundVersions> {
    const { upTo } = this.#unsettled;
    return this.examine(sql`${among}${upTo === null ? empty : sql` AND ver <= ${number(upTo)}`}`, LISTED);
  }
}

/** @param found rows that each say how many there are of all */
export function unlistedOf(found: readonly { readonly count: string }[]): number {
  return Number(found[0]?.count ?? 0) - found.length;
}

export function versionsOf(suspects: readonly Suspect[]): string[] {
  return suspects.flatMap(({ key }) => key ?? []);
}
