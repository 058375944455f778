import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { PARTS, type Part } from '../../src/features/transfer/parts.js';
import { checksum, FORMAT, total, type Counts, type End, type Header, type RecordLine } from './format.js';
import { isPosted } from './posted-digest.js';
import { TransferError } from './transfer-error.js';

/** No record is larger: a request that brings one has to fit into a server's memory. */
const LONGEST_LINE = 512 * 1024 * 1024;

export interface NumberedRecord {
  readonly part: Part;
  /** Of its line, from 1. */
  readonly line: number;
  /** The record as JSON. */
  readonly json: Buffer;
}

/** How a line of a record begins, as it is written: what follows is the record, and a brace. */
const RECORD = /^\{"part":"([a-z_]+)","record":(?=\{)/;
const LONGEST_HEAD = 64;
const CLOSING_BRACE = 0x7d;

/**
 * The records of a file, in their order, and at last its end.
 * @throws TransferError when it is none, incomplete, or not as it was written
 */
export async function* readExport(
  file: string,
  onHeader: (header: Header) => void = () => undefined,
): AsyncGenerator<NumberedRecord, End> {
  let line = 0;
  let before = '';
  const counts: Partial<Record<Part, number>> = {};
  for await (const bytes of linesOf(file)) {
    line += 1;
    const written = recordOf(bytes);
    const value = written === undefined ? parsed(bytes, line) : undefined;
    if (line === 1) onHeader(header(value ?? {}, file));
    else if (value !== undefined && 'end' in value) return ended(value as End, before, counts, line);
    else {
      const { part, json } = written ?? reread(value as RecordLine);
      if (!PARTS.includes(part)) throw damaged(line, `"${part}" is no part of a project that this version knows`);
      counts[part] = (counts[part] ?? 0) + 1;
      yield { part, line, json };
    }
    before = checksum(before, bytes);
  }
  throw new TransferError(
    line === 0
      ? `${file} is empty`
      : `${file} is incomplete: it has no last line, because its export was interrupted. Run the export again to resume it.`,
  );
}

export interface Verified {
  readonly header: Header;
  readonly end: End;
  /** Lines of what was posted about traces and sessions, and posted anew while it was exported: a later line says it. */
  readonly replaced: ReadonlySet<number>;
}

/** Reads all of a file. @throws TransferError as {@link readExport} does */
export async function verify(file: string): Promise<Verified> {
  let header: Header | undefined;
  const posted = new Map<string, number>();
  const replaced = new Set<number>();
  const records = readExport(file, (found) => (header = found));
  for (;;) {
    const { done, value } = await records.next();
    if (done === true) {
      if (header === undefined) throw new TransferError(`${file} has no first line`);
      return { header, end: value, replaced };
    }
    // Of scores, the one that was received later wins by itself.
    if (!isPosted(value.part) || value.part === 'scores') continue;
    const { id } = parsed(value.json, value.line) as { readonly id?: unknown };
    const name = `${value.part}/${String(id)}`;
    const before = posted.get(name);
    if (before !== undefined) replaced.add(before);
    posted.set(name, value.line);
  }
}

function header(value: object, file: string): Header {
  const { spanhouse_export: format } = value as Partial<Header>;
  if (format === FORMAT) return value as Header;
  throw new TransferError(
    typeof format === 'number'
      ? `${file} has the format ${format}, and this version reads ${FORMAT}: install a newer one`
      : `${file} is no export of a project`,
  );
}

function ended(end: End, before: string, counts: Counts, line: number): End {
  if (end.sha256 !== before) throw damaged(line, 'the lines are not those that were written');
  if (total(end.counts) !== total(counts)) throw damaged(line, 'lines are missing');
  return end;
}

/**
 * The record of a line that looks as it was written, which is not parsed: whether it is as it was, the checksum says, and
 * what a record may be, the server. Undefined: it looks otherwise.
 */
function recordOf(bytes: Buffer): Omit<NumberedRecord, 'line'> | undefined {
  const [head, part] = RECORD.exec(bytes.toString('latin1', 0, LONGEST_HEAD)) ?? [];
  if (head === undefined || bytes.at(-1) !== CLOSING_BRACE) return undefined;
  return { part: part as Part, json: bytes.subarray(head.length, -1) };
}

function reread({ part, record }: RecordLine): Omit<NumberedRecord, 'line'> {
  return { part, json: Buffer.from(JSON.stringify(record)) };
}

function parsed(bytes: Buffer, line: number): object {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // It is no JSON.
  }
  throw line === 1
    ? new TransferError('The first line is no JSON object: the file is no export of a project')
    : damaged(line, 'it is no JSON object');
}

function damaged(line: number, why: string): TransferError {
  return new TransferError(`The file is damaged in line ${line}: ${why}. Copy it again, or export the project again.`);
}

/** The lines of a file, also of a compressed one. A last line without its end is left out. */
async function* linesOf(file: string): AsyncGenerator<Buffer> {
  const compressed = await isCompressed(file);
  const source = createReadStream(file);
  const stream = compressed ? source.pipe(createGunzip()) : source;
  source.on('error', (error) => stream.destroy(error));
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        pieces.push(chunk.subarray(from, end));
        yield pieces.length === 1 ? (pieces[0] ?? chunk) : Buffer.concat(pieces);
        pieces.length = 0;
        length = 0;
        from = end + 1;
      }
      pieces.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > LONGEST_LINE) throw new TransferError(`${file} has a line of more than 512 MB: it is no export`);
    }
  } catch (error) {
    // A compressed file that ends in its middle ends here.
    if (/^Z_BUF_ERROR$/.test((error as { code?: string }).code ?? '')) return;
    if (/^Z_/.test((error as { code?: string }).code ?? ''))
      throw new TransferError(
        `${file} is damaged: it cannot be decompressed. Copy it again, or export the project again.`,
      );
    throw error;
  } finally {
    source.destroy();
  }
}

async function isCompressed(file: string): Promise<boolean> {
  const handle = await open(file).catch((error: unknown) => {
    throw new TransferError(`${file} cannot be read: ${(error as Error).message}`);
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE() === 0x1f8b;
  } finally {
    await handle.close();
  }
}
