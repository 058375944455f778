import type { Audit, AuditedPage, Extent, Suspect } from '../model/check/audit.js';
import { metLimit } from '../clickhouse/client/client-errors.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { byProject, type Recompute, type Unsettled } from './audited.js';
import { KeyPages, named, type Keys, type KeyTable } from './keys.js';

export interface KeyedAuditParts {
  readonly client: ClickHouseClient;
  readonly extent: Extent;
  readonly unsettled: Unsettled;
  /** Absent: nothing is repaired. */
  readonly recompute?: Recompute | undefined;
}

/** An audit of things by their keys, which several tables have rows of. */
export abstract class KeyedAudit implements Audit {
  abstract readonly title: string;
  abstract readonly unit: string;
  readonly #extent: Extent;
  readonly #keys: KeyPages;

  constructor({ client, extent }: KeyedAuditParts, tables: readonly KeyTable[]) {
    this.#extent = extent;
    this.#keys = new KeyPages(client, tables);
  }

  total(): Promise<number> {
    return this.#keys.total(this.#extent);
  }

  async *pages(): AsyncGenerator<AuditedPage> {
    for await (const { count, ...keys } of this.#keys.pages(this.#extent)) {
      try {
        yield { checked: count, suspects: await this.examine(keys) };
      } catch (error) {
        // Too large to be recounted in the memory that there is, as rounds set aside.
        if (!metLimit(error)) throw error;
        yield { checked: 0, suspects: [], skipped: count };
      }
    }
  }

  async again(suspects: readonly Suspect[]): Promise<readonly Suspect[]> {
    const found: Suspect[] = [];
    for (const [project, ids] of byProject(suspects))
      for (const keys of named(project, ids)) found.push(...(await this.examine(keys)));
    return found;
  }

  abstract mend(suspects: readonly Suspect[]): Promise<void>;

  /** What is wrong with some things. */
  protected abstract examine(keys: Keys): Promise<Suspect[]>;
}
