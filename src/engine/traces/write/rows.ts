import { experimentMarkOf } from '../model/experiment/mark.js';
import type { ScorePlace } from '../model/score/score.js';
import type { Writes } from '../model/write-log.js';
import { RowBinaryWriter, TooManyBytesError } from './row-binary.js';
import {
  columns,
  type Column,
  type Fact,
  type ScoreRow,
  type SessionRow,
  type SpanRow,
  type TableName,
} from './table-columns.js';
import type { Version } from './version-clock.js';

/** Rows of one table, encoded. Each begins with its `ver`, which the commit fills in at these offsets. */
export interface EncodedRows {
  readonly table: TableName;
  readonly bytes: Buffer;
  readonly versionOffsets: readonly number[];
}

/** A tombstone: the span, or with `rowType` 1 the posted trace, counts as never written from here on. */
export interface Tombstone {
  readonly trace_id: string;
  readonly rowType: 0 | 1;
  readonly id: string;
}

/** A tombstone of a whole trace: everything written to it before counts as never written. */
export interface RemovedTrace {
  readonly trace_id: string;
  /** The version of the trace's first write, which its `created_at` stands for. */
  readonly firstVersion: Version;
}

/** Everything that can be appended: what clients write, and tombstones of what they delete. */
export interface AppendedWrites extends Writes {
  readonly spans?: readonly SpanRow[];
  readonly tombstones?: readonly Tombstone[];
  readonly removedTraces?: readonly RemovedTrace[];
  readonly deletedSessions?: readonly string[];
  readonly deletedScores?: readonly ScorePlace[];
}

/** Encodes writes when they arrive, so that what waits for a commit is bytes, counted to the last one. */
export class RowEncoder {
  readonly #writer = new RowBinaryWriter();

  /**
   * Encodes writes, table by table. Whatever this throws, nothing of them is left to come before the next ones.
   * @param maxBytes the most that all rows together may take
   * @throws TooManyBytesError as soon as they take more, with little more than that in memory
   */
  encode(writes: AppendedWrites, maxBytes = Number.POSITIVE_INFINITY): EncodedRows[] {
    try {
      return this.#encode(writes, maxBytes);
    } finally {
      this.#writer.reset();
    }
  }

  #encode(writes: AppendedWrites, maxBytes: number): EncodedRows[] {
    const { projectId, spans = [], traces = [], sessions = [], tombstones = [], deletedSessions = [] } = writes;
    const { removedTraces = [], scores = [], deletedScores = [] } = writes;
    const facts: Fact[] = [
      ...traces.map((posted) => ({ trace_id: posted.id, rowType: 1 as const, id: posted.id, posted })),
      ...tombstones.map((tombstone) => ({ ...tombstone, posted: null })),
      ...removedTraces.map(({ trace_id, firstVersion }) => ({
        ...{ trace_id, rowType: 2 as const, id: trace_id, posted: null },
        originVersion: firstVersion,
      })),
    ];
    const sessionRows: SessionRow[] = [
      ...sessions.map((posted) => ({ id: posted.id, posted })),
      ...deletedSessions.map((session) => ({ id: session, posted: null })),
    ];
    const scoreRows: ScoreRow[] = [
      ...scores.map((score) => ({ place: score, score })),
      ...deletedScores.map((place) => ({ place, score: null })),
    ];
    let left = maxBytes;
    const rowsOf = <T>(table: TableName, columns: readonly Column<T>[], rows: readonly T[]) => {
      const encoded = this.#rows(table, columns, rows, projectId, left);
      left -= encoded.bytes.length;
      return encoded;
    };
    const marks = spans.map(({ attributes, id }) => experimentMarkOf(attributes, id));
    const isMarked = marks.some((mark) => mark !== null);
    return [
      isMarked
        ? rowsOf(
            'marked_spans',
            columns.marked_spans,
            spans.map((span, index) => ({ span, mark: marks[index] ?? null })),
          )
        : rowsOf('spans', columns.spans, spans),
      rowsOf('facts', columns.facts, facts),
      rowsOf('session_statements', columns.session_statements, sessionRows),
      rowsOf('scores', columns.scores, scoreRows),
    ].filter(({ versionOffsets }) => versionOffsets.length > 0);
  }

  #rows<T>(
    table: TableName,
    columns: readonly Column<T>[],
    rows: readonly T[],
    projectId: string,
    maxBytes: number,
  ): EncodedRows {
    const writer = this.#writer;
    const versionOffsets: number[] = [];
    writer.reset(maxBytes);
    for (const row of rows) {
      versionOffsets.push(writer.length);
      for (const [, write] of columns) write(writer, row, projectId);
      if (writer.length > maxBytes) throw new TooManyBytesError();
    }
    return { table, bytes: writer.take(), versionOffsets };
  }
}
