import { join } from 'node:path';
import type { FrozenSpans, FrozenTable } from '../model/backup/frozen-spans.js';
import type { Manifest, ProjectFigures } from '../model/backup/manifest.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { identifier, literal, sql } from '../clickhouse/client/sql.js';
import type { CommitLog } from '../write/commit-log.js';
import type { Version } from '../write/version-clock.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import { figuresAt } from './figures.js';

export interface SpanSnapshotParts {
  readonly client: ClickHouseClient;
  readonly log: Pick<CommitLog, 'between'>;
  readonly reads: Pick<ReadsInProgress, 'hold'>;
  /** The version up to which all is committed. */
  readonly committed: () => Version;
}

interface Table {
  readonly name: string;
  readonly uuid: string;
}

/** Where the engine puts what is frozen, in its folder. */
export const SHADOW = 'shadow';

/** Writes wait no longer for a backup: then there is none. */
const MAX_HELD_MS = 10_000;

/**
 * First the watermark, so that what rounds write while the other tables follow is recomputed from there on; then
 * `superseded`, which a purged version leaves last. The others may be frozen in any order: no commit comes between.
 */
const FIRST = ['rolled_up', 'superseded'];

/** Takes the tables of the embedded engine as of one moment. */
export class SpanSnapshots {
  readonly #parts: SpanSnapshotParts;

  constructor(parts: SpanSnapshotParts) {
    this.#parts = parts;
  }

  /**
   * Freezes every table between two commits: hard links of all parts, in `<engine's folder>/shadow/<name>`.
   * @param folder the engine's own
   * @param atMoment called at the moment, when nothing is being committed
   */
  async take(name: string, folder: string, atMoment: () => void): Promise<FrozenSpans> {
    const { client, log, reads, committed } = this.#parts;
    const tables = await this.#tables();
    const migrations = await this.#migrations();
    const { state, heldMs } = await log.between(async () => {
      const started = performance.now();
      const held = reads.hold(committed());
      const signal = AbortSignal.timeout(MAX_HELD_MS);
      const freeze = (table: string) =>
        client.command(sql`ALTER TABLE ${identifier(table)} FREEZE WITH NAME ${literal(name)}`, { signal });
      try {
        atMoment();
        for (const table of FIRST) await freeze(table);
        await Promise.all(tables.filter((table) => !FIRST.includes(table.name)).map((table) => freeze(table.name)));
      } catch (error) {
        held.release();
        throw error;
      }
      return { state: held, heldMs: performance.now() - started };
    });
    try {
      const frozen = tables.map((table): FrozenTable => ({ name: table.name, folder: folderOf(folder, name, table) }));
      return { upTo: state.upTo, heldMs, migrations, tables: frozen, figures: await figuresAt(client, state.upTo) };
    } finally {
      state.release();
    }
  }

  /** What the spans of each project add up to as of a version, which must be held or the last one. */
  figuresAt(upTo: Version): Promise<ProjectFigures[]> {
    return figuresAt(this.#parts.client, upTo);
  }

  #tables(): Promise<readonly Table[]> {
    return this.#parts.client.query<Table>(
      sql`SELECT name, toString(uuid) AS uuid FROM system.tables
       WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name NOT IN ('schema_migrations', 'newest_scores') ORDER BY name`,
    );
  }

  #migrations(): Promise<Manifest['migrations']> {
    return this.#parts.client.query(
      sql`SELECT version, any(name) AS name, any(checksum) AS checksum FROM schema_migrations GROUP BY version ORDER BY version`,
    );
  }
}

function folderOf(folder: string, name: string, { uuid }: Table): string {
  return join(folder, SHADOW, name, 'store', uuid.slice(0, 3), uuid);
}
