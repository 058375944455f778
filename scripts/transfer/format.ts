import { createHash } from 'node:crypto';
import type { Part } from '../../src/features/transfer/parts.js';
import type { AllFigures } from './figures.js';

/*
 * A file of lines: a header, one line per record, and an end. A file without its end is incomplete, and one whose lines are
 * not those that were written says so by the checksum: that of a line is the SHA-256 of that of the line before, and of the
 * line.
 */

export const FORMAT = 1;

/** The first line. */
export interface Header {
  readonly spanhouse_export: number;
  readonly project_id: string;
  readonly project_name: string;
  /** For how many days the project kept its traces; null: for ever. It is said, and not set: records may be older. */
  readonly retention_days?: number | null;
  /** Version of the server. */
  readonly version: string;
  readonly exported_at: string;
}

/** A line between the first and the last one. */
export interface RecordLine {
  readonly part: Part;
  readonly record: unknown;
}

/** The last line. */
export interface End {
  readonly end: true;
  /** Lines of each part. */
  readonly counts: Counts;
  /** The checksum of the line before. */
  readonly sha256: string;
  /** What the lists said of exactly these spans; null: spans were written all the time. */
  readonly figures: AllFigures | null;
}

export type Counts = Readonly<Partial<Record<Part, number>>>;

/** The checksum of a line. @param before that of the line before; empty: it is the first */
export function checksum(before: string, line: string | Buffer): string {
  return createHash('sha256').update(before).update(line).digest('hex');
}

export function total(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
