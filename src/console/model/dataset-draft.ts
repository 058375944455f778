export type RowData = Readonly<Record<string, unknown>>;

/** A row that comes with the next version. */
export interface AddedRow {
  /** Tells it from other new rows. */
  readonly key: number;
  /** Null: the server makes it of the content. */
  readonly row_id: string | null;
  readonly data: RowData;
}

/** How the next version differs from the newest one. It is kept as JSON. */
export interface DatasetDraft {
  /** Number of the version that is changed; 0: there is none yet. */
  readonly base: number;
  readonly changed: readonly { readonly row_id: string; readonly data: RowData }[];
  readonly added: readonly AddedRow[];
  /** Ids of rows. */
  readonly removed: readonly string[];
}

export function emptyDraft(base: number): DatasetDraft {
  return { base, changed: [], added: [], removed: [] };
}

export function changesIn({ changed, added, removed }: DatasetDraft): number {
  return changed.length + added.length + removed.length;
}

/** @param stored what the row says in the version that is changed */
export function withChanged(draft: DatasetDraft, row_id: string, data: RowData, stored: RowData): DatasetDraft {
  const others = draft.changed.filter((row) => row.row_id !== row_id);
  return { ...draft, changed: isSame(data, stored) ? others : [...others, { row_id, data }] };
}

/** Whether two rows say the same, whatever the order of their columns. */
function isSame(one: RowData, other: RowData): boolean {
  const sorted = (row: RowData) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(one) === sorted(other);
}

/** Adds a row, or changes one that was added. @param key null: it is another one */
export function withAdded(draft: DatasetDraft, key: number | null, row: Omit<AddedRow, 'key'>): DatasetDraft {
  const next = Math.max(0, ...draft.added.map((each) => each.key)) + 1;
  const added =
    key === null
      ? [...draft.added, { ...row, key: next }]
      : draft.added.map((each) => (each.key === key ? { ...row, key } : each));
  return { ...draft, added };
}

export function withoutAdded(draft: DatasetDraft, key: number): DatasetDraft {
  return { ...draft, added: draft.added.filter((row) => row.key !== key) };
}

/** Removes a row of the version, or keeps it after all. */
export function withRemoved(draft: DatasetDraft, row_id: string, isRemoved: boolean): DatasetDraft {
  const others = draft.removed.filter((id) => id !== row_id);
  if (!isRemoved) return { ...draft, removed: others };
  return {
    ...draft,
    changed: draft.changed.filter((row) => row.row_id !== row_id),
    removed: [...others, row_id],
  };
}

/** The body that makes a version of a draft. */
export function mergeOf({ base, changed, added, removed }: DatasetDraft, message: string) {
  const rows = [...changed, ...added].map(({ row_id, data }) => (row_id === null ? data : { ...data, row_id }));
  return { mode: 'merge' as const, base_version: base, rows, remove: removed, message };
}

export interface StoredRow {
  readonly row_id: string;
  readonly data: RowData;
  readonly source: { readonly trace_id: string; readonly span_id: string } | null;
}

/** A row as the draft has it. */
export interface ShownRow extends Omit<StoredRow, 'row_id'> {
  /** Null: it has none yet. */
  readonly row_id: string | null;
  readonly state: 'same' | 'changed' | 'added' | 'removed';
  /** What the version says; null: it is not there. */
  readonly stored: RowData | null;
  /** Tells it from other new rows; null: it is none. */
  readonly key: number | null;
}

/** Rows of a page, and those that are added, as they will be. */
export function rowsWith(draft: DatasetDraft, stored: readonly StoredRow[]): ShownRow[] {
  const changed = new Map(draft.changed.map(({ row_id, data }) => [row_id, data]));
  const removed = new Set(draft.removed);
  const rows = stored.map(({ row_id, data, source }): ShownRow => {
    const own = changed.get(row_id);
    const state = removed.has(row_id) ? 'removed' : own === undefined ? 'same' : 'changed';
    return { row_id, source, data: own ?? data, stored: data, state, key: null };
  });
  const added = draft.added.map(({ key, row_id, data }): ShownRow => ({
    key,
    row_id,
    data,
    source: null,
    stored: null,
    state: 'added',
  }));
  return [...rows, ...added];
}

/** The columns of a version, and those that rows of the draft bring. */
export function columnsWith(columns: readonly string[], { changed, added }: DatasetDraft): string[] {
  return [...new Set([...columns, ...[...changed, ...added].flatMap(({ data }) => Object.keys(data))])];
}
