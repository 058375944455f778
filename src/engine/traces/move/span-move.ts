import type { MigrationFile } from '../../files/migration-files.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { identifier, number, sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import { readWatermark } from '../rollup/recovery.js';
import { requireSameChanges, requireSameLists } from './compare.js';
import { MoveTarget, type MoveState } from './move-target.js';
import { ROLLED_UP, SMALL, WORDS, WRITTEN, type MovedTable } from './moved-tables.js';
import { ofProject, writtenUpTo } from './portions.js';
import { RowCopy } from './row-copy.js';
import { WordsCopy } from './words-copy.js';

export interface SpanMoveParts {
  readonly source: ClickHouseClient;
  readonly target: ClickHouseClient;
  /** The same for every run of one move. */
  readonly id: string;
  readonly migrations: readonly MigrationFile[];
  /** Opens the store in the new place as a start does, so that it computes figures again, has this done, and closes it. */
  readonly recover: (gone: readonly string[]) => Promise<void>;
  readonly progress: { total(rows: number): void; done(rows: number): void };
}

/** Figures first: each may be older than what it is made of, not newer. */
const FIRST: readonly { readonly table: MovedTable; readonly fixed: boolean }[] = [
  ...ROLLED_UP.map((table) => ({ table, fixed: false })),
  ...WRITTEN.map((table) => ({ table, fixed: true })),
];

/**
 * Moves all rows from one ClickHouse to another: what was written up to a first version, then what was written meanwhile, as
 * often as is wanted. Interrupted anywhere, another run continues. Nothing may be purged in the source until it is through.
 */
export class SpanMove {
  readonly #parts: SpanMoveParts;
  readonly #target: MoveTarget;
  readonly #rows: RowCopy;
  readonly #words: WordsCopy;
  #state: MoveState = { upTo: 0, rolledUp: 0, first: null, later: null };
  #done = 0;
  /** The version as of which the lists were compared. */
  #comparedUpTo: Version = 0;
  /** Projects of which there were rows then in the new place. */
  #projects: readonly string[] = [];

  constructor(parts: SpanMoveParts) {
    const { source, target, id } = parts;
    this.#parts = parts;
    this.#target = new MoveTarget(target, id);
    this.#rows = new RowCopy(source, target);
    this.#words = new WordsCopy(source, target);
  }

  /**
   * Copies what there is, or continues with that.
   * @param settled the version up to which everything is rolled up in the source
   */
  async first(settled: () => Promise<Version>): Promise<void> {
    const { source, migrations } = this.#parts;
    const before = await this.#target.prepare(migrations);
    this.#parts.progress.total(await rowsIn(source));
    this.#done = before === null ? 0 : await rowsIn(this.#parts.target);
    if (before === null) {
      // Before any figure is read.
      const rolledUp = await readWatermark(source);
      await this.#note({ upTo: await settled(), rolledUp, first: { table: '', project: '', to: null } });
    } else this.#state = before;
    const { first, later } = this.#state;
    if (first !== null) {
      const begun = FIRST.findIndex(({ table }) => table.name === first.table);
      for (const [at, { table, fixed }] of FIRST.entries())
        if (at >= begun) await this.#firstOf(table, fixed, at === begun ? first : null);
      await this.#note({ first: null });
    }
    // What an earlier run had begun.
    if (later !== null) await this.later(later.upTo);
  }

  /** Copies what was written since, up to a version. @returns how many rows */
  async later(upTo: Version): Promise<number> {
    const before = this.#done;
    const { upTo: since, later } = this.#state;
    const begun = later === null ? 0 : WRITTEN.findIndex(({ name }) => name === later.table);
    for (const [at, table] of WRITTEN.entries()) {
      if (at < begun) continue;
      const from = at === begun && later !== null ? later.to : null;
      await this.#rows.copy({
        extent: writtenUpTo(table, upTo),
        from: from ?? String(since),
        fixed: true,
        onStored: (to, rows) => this.#stored(rows, { later: { upTo, table: table.name, to } }),
      });
    }
    await this.#note({ upTo, later: null });
    for (const table of SMALL) await this.#rows.copyAll(table);
    return this.#done - before;
  }

  /** Computes the figures of what changed since the last time. @param gone projects that were deleted, of which rows were copied */
  async recover(gone: readonly string[] = []): Promise<void> {
    // The store itself writes a later one, as it counts the rounds that were copied with figures.
    await this.#target.setWatermark(this.#state.rolledUp);
    await this.#parts.recover(gone);
    await this.#note({ rolledUp: this.#state.upTo });
  }

  async words(): Promise<void> {
    await this.#words.copy(this.#rows, await projectsIn(this.#parts.source, WORDS.name));
  }

  /**
   * Compares the lists of projects, while the source is written to: so that in the end only what changed since has to be.
   * @param isGone whether a project was deleted meanwhile
   * @throws DomainError `conflict` with what differs
   */
  async compare(projects: readonly string[], isGone: (project: string) => Promise<boolean>): Promise<void> {
    const { source, target } = this.#parts;
    const { upTo } = this.#state;
    for (const project of projects)
      await requireSameLists({ source, target, project }, upTo).catch(async (error: unknown) => {
        if (!(await isGone(project))) throw error;
      });
    this.#projects = await this.#projectsOf(FIRST.map(({ table }) => table));
    this.#comparedUpTo = upTo;
  }

  /** All projects of which there are rows in the new place. */
  async projects(): Promise<string[]> {
    // What was computed since is of projects that were written to.
    const written = await this.#projectsOf(WRITTEN, sql`ver > ${number(this.#comparedUpTo)}`);
    return [...new Set([...this.#projects, ...written])].sort();
  }

  async #projectsOf(tables: readonly MovedTable[], condition?: Sql): Promise<string[]> {
    const all = await Promise.all(tables.map(({ name }) => projectsIn(this.#parts.target, name, condition)));
    return all.flat();
  }

  /** How many writes of spans are in the new place. */
  spans(): Promise<number> {
    return rowsIn(this.#parts.target, ['spans']);
  }

  /**
   * Compares what changed in the lists of all projects since {@link compare}, and makes the new place ready for a server.
   * Nothing may be written to either.
   * @throws DomainError `conflict` with what differs
   */
  async complete(projects: readonly string[]): Promise<void> {
    const { source, target, migrations } = this.#parts;
    await this.#words.check();
    for (const project of projects)
      await requireSameChanges({ source, target, project }, this.#comparedUpTo, this.#state.upTo);
    await this.#target.complete(migrations);
  }

  async #firstOf(table: MovedTable, fixed: boolean, begun: MoveState['first']): Promise<void> {
    const { upTo } = this.#state;
    for (const project of await projectsIn(this.#parts.source, table.name)) {
      if (begun !== null && project < begun.project) continue;
      await this.#rows.copy({
        extent: ofProject(table, project, fixed ? upTo : null),
        from: begun?.project === project ? begun.to : null,
        fixed,
        onStored: (to, rows) => this.#stored(rows, { first: { table: table.name, project, to } }),
      });
    }
  }

  async #stored(rows: number, change: Partial<MoveState>): Promise<void> {
    await this.#note(change);
    this.#done += rows;
    this.#parts.progress.done(this.#done);
  }

  async #note(change: Partial<MoveState>): Promise<void> {
    const state = { ...this.#state, ...change };
    await this.#target.note(state);
    this.#state = state;
  }
}

async function projectsIn(client: ClickHouseClient, table: string, condition: Sql = sql`1`): Promise<string[]> {
  const rows = await client.query<{ id: string }>(
    sql`SELECT DISTINCT toString(project_id) AS id FROM ${identifier(table)} WHERE ${condition} ORDER BY id`,
  );
  return rows.map(({ id }) => id);
}

async function rowsIn(
  client: ClickHouseClient,
  tables: readonly string[] = FIRST.map(({ table }) => table.name),
): Promise<number> {
  const [row] = await client.query<{ total: string }>(
    sql`SELECT toString(sum(rows)) AS total FROM system.parts
     WHERE active AND database = currentDatabase() AND table IN ${value(tables, 'Array(String)')}`,
  );
  return Number(row?.total ?? 0);
}
