import { link, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../files/sync-folder.js';
import { encodeRecord, type FoundRecord } from './record.js';
import { encodeHeader, scanSegment } from './segment.js';
import { endsOf, segmentNames } from './recovery.js';

/** What became of a damaged segment. */
export interface SalvagedSegment {
  readonly file: string;
  /** Where what could not be read begins. */
  readonly damagedAt: number;
  /** The segment as it was. */
  readonly kept: string;
  /** Rows that could be read, and are stored by the next start. */
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Makes a log readable again of which segments are damaged: each is put aside, and another takes its place with all records that
 * can be read. What else it held is lost. No server may use the log meanwhile.
 */
export async function salvageLog(directory: string): Promise<SalvagedSegment[]> {
  const names = await segmentNames(directory);
  const ends = await endsOf(directory, names);
  const salvaged: SalvagedSegment[] = [];
  for (const name of names) {
    const path = join(directory, name);
    const records: FoundRecord[] = [];
    const scanned = await scanSegment(path, (record) => records.push(record), ends.get(name) ?? null);
    if (scanned.damagedAt === null) continue;
    const kept = `${path}.damaged`;
    const { header } = scanned;
    // Interrupted before the end, the segment is still there under its own name.
    await rm(kept, { force: true });
    await link(path, kept);
    if (header === null) await rm(path);
    else {
      const mark = Buffer.from(header.mark, 'hex');
      const again = ({ head, tables }: FoundRecord) => encodeRecord({ ...head, tables }, 0, mark);
      await rewrite(path, [encodeHeader({ ...header, salvaged: true }), ...records.flatMap(again)]);
    }
    await syncFolder(directory);
    const rows = records.reduce((sum, { head }) => sum + head.rows, 0);
    const bytes = records.reduce((sum, { length }) => sum + length, 0);
    salvaged.push({ file: path, damagedAt: scanned.damagedAt, kept, rows, bytes });
  }
  return salvaged;
}

async function rewrite(path: string, pieces: readonly Buffer[]): Promise<void> {
  const draft = `${path}.draft`;
  const file = await open(draft, 'w', 0o600);
  try {
    for (const piece of pieces) await file.writeFile(piece);
    await file.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(draft, path);
}
