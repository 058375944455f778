import type { Row } from '../output.js';

export type Rows = Row | readonly Row[];

/**
 * Runs the work of a command on its `DATA_DIR`, and prints what it gives, or its error.
 * @param none what is said of a list without rows
 */
export type Run = (work: (dataDir: string) => Promise<Rows>, none?: string) => Promise<void>;

export const MEGABYTE = 1024 * 1024;

/** Bytes as megabytes, with one decimal. */
export function megabytes(bytes: number): number {
  return Math.round((bytes / MEGABYTE) * 10) / 10;
}
