import { existsSync } from 'node:fs';
import { open, readFile, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Part } from '../../src/features/transfer/parts.js';
import { checksum, FORMAT, type Counts, type End, type Header } from './format.js';
import type { PostedDigest } from './posted-digest.js';
import { TransferError } from './transfer-error.js';

/** How far an export is: kept beside its file after every page. */
export interface ExportState {
  readonly header: Header;
  readonly part: Part;
  readonly after: string | null;
  readonly asOf: string | null;
  /** Where spans ended when they were last read. */
  readonly spansAfter: string | null;
  /** Of what was posted when that was last read; absent: an earlier version began the export. */
  readonly posted?: PostedDigest;
  /** How often spans were read to their end. */
  readonly round: number;
  readonly counts: Counts;
  readonly sha256: string;
  /** Bytes of the file that this is about: what comes behind them was cut off. */
  readonly bytes: number;
}

/** Files are readable by this user alone, as those of the server. */
const MODE = 0o600;
/** A third faster than the default, for files that are a twentieth larger. */
const COMPRESSION = 4;
const compressed = promisify(gzip);

/**
 * A file that is being written, under another name until it is complete. Each page is durable before it is noted, so that
 * an export that was cut off goes on behind the last page.
 */
export class ExportWriter {
  readonly #file: string;
  readonly #handle: FileHandle;
  #state: ExportState;

  private constructor(file: string, handle: FileHandle, state: ExportState) {
    this.#file = file;
    this.#handle = handle;
    this.#state = state;
  }

  /**
   * Begins a file, or goes on with one of the same project.
   * @throws TransferError when the file is there already, or one of another project was begun
   */
  static async open(file: string, header: Omit<Header, 'spanhouse_export'>, first: Part): Promise<ExportWriter> {
    if (existsSync(file)) throw new TransferError(`${file} already exists: remove it, or name another one`);
    const begun = await readState(file);
    if (begun !== null && begun.header.project_id !== header.project_id)
      throw new TransferError(
        `An export of another project (${begun.header.project_id}) to this file was interrupted: remove ${partOf(file)} and ${stateOf(file)}, or name another file`,
      );
    const handle = await opened(file, begun === null ? 'w' : 'r+');
    if (begun !== null) {
      await handle.truncate(begun.bytes);
      return new ExportWriter(file, handle, begun);
    }
    const state = {
      header: { spanhouse_export: FORMAT, ...header },
      part: first,
      after: null,
      asOf: null,
      spansAfter: null,
    };
    const writer = new ExportWriter(file, handle, { ...state, round: 0, counts: {}, sha256: '', bytes: 0 });
    await writer.#append([JSON.stringify(writer.#state.header)], {});
    return writer;
  }

  get state(): ExportState {
    return this.#state;
  }

  /** Appends records, and notes what is said of them. */
  async append(part: Part, records: readonly unknown[], next: Partial<ExportState>): Promise<void> {
    const { counts } = this.#state;
    const lines = records.map((record) => JSON.stringify({ part, record }));
    await this.#append(lines, { ...next, counts: { ...counts, [part]: (counts[part] ?? 0) + records.length } });
  }

  /** Completes the file. */
  async end(figures: End['figures']): Promise<End> {
    const { counts, sha256 } = this.#state;
    const end: End = { end: true, counts, sha256, figures };
    await this.#append([JSON.stringify(end)], {});
    await this.#handle.close();
    await rename(partOf(this.#file), this.#file);
    await syncDirectory(this.#file);
    await rm(stateOf(this.#file), { force: true });
    return end;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #append(lines: readonly string[], next: Partial<ExportState>): Promise<void> {
    let { sha256, bytes } = this.#state;
    if (lines.length > 0) {
      for (const line of lines) sha256 = checksum(sha256, line);
      const text = Buffer.from(`${lines.join('\n')}\n`);
      // A page is a member of its own: a compressed file can go on behind any of them.
      const written = this.#file.endsWith('.gz') ? await compressed(text, { level: COMPRESSION }) : text;
      await this.#handle.write(written, 0, written.length, bytes);
      await this.#handle.datasync();
      bytes += written.length;
    }
    this.#state = { ...this.#state, ...next, sha256, bytes };
    await replace(stateOf(this.#file), JSON.stringify(this.#state));
  }
}

const partOf = (file: string) => `${file}.part`;
const stateOf = (file: string) => `${file}.state`;

async function opened(file: string, flags: 'w' | 'r+'): Promise<FileHandle> {
  try {
    return await open(partOf(file), flags, MODE);
  } catch (error) {
    throw new TransferError(`${partOf(file)} cannot be written: ${(error as Error).message}`);
  }
}

async function readState(file: string): Promise<ExportState | null> {
  if (!existsSync(partOf(file)) || !existsSync(stateOf(file))) return null;
  try {
    return JSON.parse(await readFile(stateOf(file), 'utf8')) as ExportState;
  } catch {
    throw new TransferError(`${stateOf(file)} is damaged: remove it and ${partOf(file)}, and export again`);
  }
}

/** Writes a small file so that there is always the one before or this one. */
export async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: MODE, flush: true });
  await rename(`${file}.new`, file);
}

async function syncDirectory(file: string): Promise<void> {
  const directory = await open(dirname(file));
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
