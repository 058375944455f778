import type {
  Affected,
  DeletedSpan,
  DeletedTrace,
  Deletion,
  DeletionDraft,
  DeletionItem,
  DeletionStore,
  DeletionTarget,
  ItemDraft,
  OrderedRow,
} from '../deletion-store.js';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, transact, WatchedStore, type Database } from '../../../engine/metadata/database.js';
import { rowErasure } from '../../datasets/store/row-erasure.js';
import { projectRemoval } from './project-removal.js';
import { hasRecords, spanRecordRemoval, spansWithRecords } from './span-records.js';
import { traceRecords } from './trace-records.js';
import { jobsShown, tracesJudged, wholeRecordRemoval } from './whole-records.js';

const COLUMNS = `seq, project_id, what, target GLOB 'trace/*' OR target GLOB 'traces/*' OR target GLOB 'retention/*' AS whole_traces, upto, created_at`;
/** Items of which the traces are read together. */
const TRACES_OF = 10_000;
/** Items that are forgotten together. */
const FORGOTTEN_AT_ONCE = 5_000;
/** States of a row that are erased together: each may have a megabyte. */
const ERASED_AT_ONCE = 20;

interface DeletionRow {
  readonly projectId: string;
  readonly what: Deletion['what'];
  readonly target: string;
  readonly ordered: 0 | 1;
  readonly upTo: Micros;
  readonly at: Micros;
}

const placesOf = (kind: 'span' | 'trace') =>
  `SELECT trace_id, seq FROM deletion_items INDEXED BY deletion_items_in_order
   WHERE deletion = @deletion AND kind = '${kind}' AND seq > @after ORDER BY seq LIMIT @limit`;

function prepare(db: Database) {
  return {
    abandon: db.prepare('DELETE FROM deletions WHERE ordered = 0'),
    begin: db.prepare<DeletionRow, Deletion>(
      `INSERT INTO deletions (project_id, what, target, ordered, upto, created_at)
       VALUES (@projectId, @what, @target, @ordered, @upTo, @at) RETURNING ${COLUMNS}`,
    ),
    note: db.prepare<ItemDraft & { deletion: number }>(
      `INSERT INTO deletion_items (deletion, kind, trace_id, id, started_at)
       VALUES (@deletion, @kind, @trace_id, @id, @started_at)`,
    ),
    order: db.prepare<[number]>('UPDATE deletions SET ordered = 1 WHERE seq = ?'),
    pending: db.prepare<[], Deletion>(`SELECT ${COLUMNS} FROM deletions WHERE ordered = 1 ORDER BY seq`),
    ofTarget: db.prepare<[string, string], Deletion>(
      `SELECT ${COLUMNS} FROM deletions
       WHERE project_id = ? AND target = ? AND ordered = 1 ORDER BY seq`,
    ),
    ofProject: db.prepare<[string], Deletion>(
      `SELECT ${COLUMNS} FROM deletions WHERE project_id = ? AND what = 'project'`,
    ),
    items: db.prepare<{ deletion: number; kind: DeletionItem['kind']; after: number; limit: number }, DeletionItem>(
      `SELECT seq, kind, trace_id, id, started_at FROM deletion_items
       WHERE deletion = @deletion AND kind = @kind AND seq > @after
       ORDER BY seq LIMIT @limit`,
    ),
    // Each kind by itself comes in the order of the index, and items of other deletions, which may be very many, are not passed.
    places: db.prepare<{ deletion: number; after: number; limit: number }, { trace_id: string; last: number }>(
      `SELECT trace_id, max(seq) AS last FROM (
         SELECT * FROM (${placesOf('span')}) UNION ALL SELECT * FROM (${placesOf('trace')}) ORDER BY seq LIMIT @limit
       ) GROUP BY trace_id`,
    ),
    experimentsOn: db.prepare<[string, string, string, number], { id: string; repetitions: number }>(
      `SELECT id, repetitions FROM experiments INDEXED BY experiments_by_dataset
       WHERE dataset_id = ? AND project_id = ? AND id > ? ORDER BY id LIMIT ?`,
    ),
    lastOfRow: db
      .prepare<{ projectId: string; datasetId: string; rowId: string }, number | null>(
        `SELECT max(r.seq) FROM datasets AS d CROSS JOIN dataset_rows AS r ON r.dataset = d.seq AND r.row_id = @rowId AND r.content IS NOT NULL
         WHERE d.id = @datasetId AND d.project_id = @projectId AND d.deleted_at IS NULL`,
      )
      .pluck(),
    statesOfRow: db
      .prepare<{ datasetId: string; rowId: string; last: number }, number>(
        `SELECT seq FROM dataset_rows WHERE dataset = (SELECT seq FROM datasets WHERE id = @datasetId) AND row_id = @rowId
           AND seq <= @last AND content IS NOT NULL LIMIT ${ERASED_AT_ONCE}`,
      )
      .pluck(),
    forgetItems: db.prepare<[number, number]>(
      'DELETE FROM deletion_items WHERE seq IN (SELECT seq FROM deletion_items WHERE deletion = ? LIMIT ?)',
    ),
    forget: db.prepare<[number]>('DELETE FROM deletions WHERE seq = ?'),
    projectExists: db.prepare<[string], number>('SELECT 1 FROM projects WHERE id = ?').pluck(),
    // As many as a project may have. Those that were revoked, and the sign-ins, go by portions: there may be very many.
    endKeys: db.prepare<[Micros, string]>(
      'UPDATE api_keys INDEXED BY api_keys_standing SET revoked_at = ? WHERE project_id = ? AND revoked_at IS NULL',
    ),
  };
}

/** The deletions noted in the SQLite file, and the removal of its own rows. */
export class SqliteDeletionStore extends WatchedStore<ReturnType<typeof prepare>> implements DeletionStore {
  readonly #hasRecords: ReturnType<typeof hasRecords>;
  readonly #spansWithRecords: ReturnType<typeof spansWithRecords>;
  readonly #removeRecords: ReturnType<typeof spanRecordRemoval>;
  readonly #tracesJudged: ReturnType<typeof tracesJudged>;
  readonly #removeJudged: ReturnType<typeof wholeRecordRemoval>;
  readonly #jobsShown: ReturnType<typeof jobsShown>;
  readonly #traces: ReturnType<typeof traceRecords>;
  readonly #removeSomeOfProject: (projectId: string) => boolean;
  readonly #erase: ReturnType<typeof rowErasure>;

  constructor(db: Database) {
    super(db, prepare);
    this.#hasRecords = hasRecords(db);
    this.#spansWithRecords = spansWithRecords(db);
    this.#removeRecords = spanRecordRemoval(db);
    this.#tracesJudged = tracesJudged(db);
    this.#removeJudged = wholeRecordRemoval(db);
    this.#jobsShown = jobsShown(db);
    this.#traces = traceRecords(db);
    this.#removeSomeOfProject = projectRemoval(db);
    this.#erase = rowErasure(db);
  }

  abandon(): void {
    guarded(() => this.statements.abandon.run());
  }

  begin(draft: DeletionDraft, items: readonly ItemDraft[], ordered: boolean): Deletion {
    const { projectId, upTo, at } = draft;
    return transact(this.db, () => {
      const deletion = this.#insert({
        ...{ projectId, upTo, at },
        ...{ what: 'spans', target: targetOf(draft), ordered: ordered ? 1 : 0 },
      });
      this.#note(deletion.seq, items);
      return deletion;
    });
  }

  note(deletion: number, items: readonly ItemDraft[]): void {
    transact(this.db, () => {
      this.#note(deletion, items);
    });
  }

  orderRow({ projectId, datasetId, rowId, at }: OrderedRow): Deletion | null {
    const id = `${datasetId}/${rowId}`;
    return transact(this.db, () => {
      const last = this.statements.lastOfRow.get({ projectId, datasetId, rowId }) ?? null;
      if (last === null) return null;
      const target = targetOf({ kind: 'row', id });
      const deletion = this.#insert({ projectId, what: 'spans', target, ordered: 1, upTo: at, at });
      this.#note(deletion.seq, [{ kind: 'row', trace_id: datasetId, id: rowId, started_at: last }]);
      return deletion;
    });
  }

  eraseSomeOfRow({ trace_id, id, started_at }: Pick<DeletionItem, 'trace_id' | 'id' | 'started_at'>): boolean {
    return transact(this.db, () => {
      const rows = this.statements.statesOfRow.all({ datasetId: trace_id, rowId: id, last: started_at });
      this.#erase(rows);
      return rows.length === ERASED_AT_ONCE;
    });
  }

  order(deletion: number): void {
    guarded(() => this.statements.order.run(deletion));
  }

  orderProject(projectId: string, at: Micros): Deletion | null {
    const { projectExists, ofProject, endKeys } = this.statements;
    return transact(this.db, () => {
      if (projectExists.get(projectId) === undefined) return null;
      // The order comes first: it ends the feedback links, and lets the keys' sign-ins wait for their portions.
      const order = { projectId, what: 'project', target: 'project', ordered: 1, upTo: at, at } as const;
      const deletion = ofProject.get(projectId) ?? this.#insert(order);
      endKeys.run(at, projectId);
      return deletion;
    });
  }

  pending(target?: DeletionTarget): Deletion[] {
    const { pending, ofTarget } = this.statements;
    return guarded(() => (target === undefined ? pending.all() : ofTarget.all(target.projectId, targetOf(target))));
  }

  items(deletion: number, kinds: readonly DeletionItem['kind'][], after: number, limit: number): DeletionItem[] {
    // Each kind by itself comes in the order of its index: all that is left would be sorted for every page otherwise.
    const found = guarded(() => kinds.flatMap((kind) => this.statements.items.all({ deletion, kind, after, limit })));
    return kinds.length === 1 ? found : found.sort((one, other) => one.seq - other.seq).slice(0, limit);
  }

  traces(deletion: number, after: number): { readonly ids: readonly string[]; readonly last: number | null } {
    const rows = guarded(() => this.statements.places.all({ deletion, after, limit: TRACES_OF }));
    const last = rows.reduce((most, row) => Math.max(most, row.last), -1);
    return { ids: rows.map(({ trace_id }) => trace_id), last: last < 0 ? null : last };
  }

  experimentsOn(projectId: string, datasetId: string, after: string, limit: number) {
    return guarded(() => this.statements.experimentsOn.all(datasetId, projectId, after, limit));
  }

  knows(projectId: string, spanId: string): boolean {
    return guarded(() => this.#hasRecords(projectId, spanId));
  }

  withRecords(projectId: string, spanIds: readonly string[]): string[] {
    return guarded(() => this.#spansWithRecords(projectId, spanIds));
  }

  removeSpans({ seq, project_id }: Deletion, spans: readonly DeletedSpan[]): Affected {
    return transact(this.db, () => this.#removeRecords(seq, project_id, spans));
  }

  judgesTraces(projectId: string): boolean {
    return guarded(() => this.#tracesJudged.any(projectId));
  }

  judgedTraces(projectId: string, traceIds: readonly string[]): string[] {
    return guarded(() => this.#tracesJudged.among(projectId, traceIds));
  }

  removeJudged({ seq, project_id }: Deletion, traces: readonly DeletedTrace[]): Affected {
    return transact(this.db, () => this.#removeJudged(seq, project_id, traces));
  }

  hasToldOf(projectId: string): boolean {
    return guarded(() => this.#traces.any(projectId));
  }

  toldOf(projectId: string, traceIds: readonly string[]): string[] {
    return guarded(() => this.#traces.among(projectId, traceIds));
  }

  removeOfTrace({ seq, project_id }: Deletion, trace: string, isBack: boolean): boolean {
    const of = { deletion: seq, projectId: project_id, trace };
    return transact(this.db, () => this.#traces.removeOfTrace(of, isBack));
  }

  removeOfTraceSpans({ seq, project_id }: Deletion, trace: string, spanIds: readonly string[]): boolean {
    const of = { deletion: seq, projectId: project_id, trace };
    return transact(this.db, () => this.#traces.removeOfSpans(of, spanIds));
  }

  jobsShown({ seq, project_id }: Deletion): Affected['jobs'] {
    return guarded(() => this.#jobsShown(seq, project_id));
  }

  removeSomeOfProject({ project_id }: Deletion): boolean {
    return transact(this.db, () => this.#removeSomeOfProject(project_id));
  }

  finish(deletion: number): boolean {
    const { forgetItems, forget } = this.statements;
    return transact(this.db, () => {
      if (forgetItems.run(deletion, FORGOTTEN_AT_ONCE).changes === FORGOTTEN_AT_ONCE) return true;
      forget.run(deletion);
      return false;
    });
  }

  #insert(row: DeletionRow): Deletion {
    const deletion = this.statements.begin.get(row);
    if (deletion === undefined) throw new Error('An insert returned nothing');
    return deletion;
  }

  #note(deletion: number, items: readonly ItemDraft[]): void {
    for (const { kind, trace_id, id, started_at } of items)
      this.statements.note.run({ deletion, kind, trace_id, id, started_at });
  }
}

function targetOf({ kind, id }: Pick<DeletionTarget, 'kind' | 'id'>): string {
  return `${kind}/${id}`;
}
