import * as zlib from 'node:zlib';
import { ImportError } from '../import-error.js';
import { chunksOf, linesOf, MAX_LINE_BYTES, requireZstd, ZSTD } from '../lines.js';

export type Encoding = 'json' | 'protobuf';

/** An ExportTraceServiceRequest of a file. */
export interface Message {
  readonly encoding: Encoding;
  /** Null: it is too large, or cannot be unpacked; then `why` says so. */
  readonly bytes: Buffer | null;
  readonly why: string;
  /** What to call it. */
  readonly name: string;
  /** Where the next one begins, in bytes of the unpacked file. */
  readonly to: number;
}

const [OPENING_BRACE, LINE_FEED, CARRIAGE_RETURN, SPACE] = [0x7b, 0x0a, 0x0d, 0x20];

/** The messages of a file of the Collector's `file` exporter, from an offset on. @throws ImportError when it is none */
export async function* messagesOf(file: string, offset: number): AsyncGenerator<Message> {
  const first = await firstByte(file);
  if (first === null) return;
  if ([OPENING_BRACE, LINE_FEED, CARRIAGE_RETURN, SPACE].includes(first)) yield* jsonLines(file, offset);
  else yield* blocks(file, offset);
}

async function firstByte(file: string): Promise<number | null> {
  for await (const chunk of chunksOf(file)) if (chunk.length > 0) return chunk[0] ?? null;
  return null;
}

async function* jsonLines(file: string, offset: number): AsyncGenerator<Message> {
  for await (const { bytes, from, to, number, ended } of linesOf(file, offset)) {
    const name = offset === 0 ? `${file}:${number}` : `${file} at byte ${from}`;
    if (bytes?.toString('latin1').trim() === '') continue;
    const isWhole = ended || bytes?.at(-1) === CLOSING_BRACE;
    // It is being written.
    if (!isWhole) return;
    yield { encoding: 'json', bytes, why: TOO_LONG, name, to };
  }
}

const CLOSING_BRACE = 0x7d;
const TOO_LONG = `it has more than ${MAX_LINE_BYTES} bytes`;
const LENGTH_BYTES = 4;

/** Messages behind their lengths, in four bytes each, and each packed by itself where the exporter packs. */
async function* blocks(file: string, offset: number): AsyncGenerator<Message> {
  let held: Buffer = Buffer.alloc(0);
  let at = offset;
  let skip = 0;
  for await (const chunk of chunksOf(file, offset)) {
    const skipped = Math.min(skip, chunk.length);
    skip -= skipped;
    held = held.length === 0 ? chunk.subarray(skipped) : Buffer.concat([held, chunk.subarray(skipped)]);
    while (held.length >= LENGTH_BYTES) {
      const length = held.readUInt32BE();
      const name = `${file} at byte ${at}`;
      if (length > MAX_LINE_BYTES) {
        if (length > MAX_SKIPPED)
          throw new ImportError(`${name}: this is no file of OTLP messages, as JSON lines or behind lengths`);
        at += LENGTH_BYTES + length;
        yield { encoding: 'protobuf', bytes: null, why: TOO_LONG, name, to: at };
        skip = Math.max(0, LENGTH_BYTES + length - held.length);
        held = held.subarray(Math.min(held.length, LENGTH_BYTES + length));
        continue;
      }
      if (held.length < LENGTH_BYTES + length) break;
      at += LENGTH_BYTES + length;
      yield { ...unpacked(held.subarray(LENGTH_BYTES, LENGTH_BYTES + length)), name, to: at };
      held = held.subarray(LENGTH_BYTES + length);
    }
  }
}

/** A larger length is none: the file is something else. */
const MAX_SKIPPED = 512 * 1024 * 1024;

function unpacked(block: Buffer): Pick<Message, 'encoding' | 'bytes' | 'why'> {
  let bytes: Buffer = block;
  if (block.length >= LENGTH_BYTES && block.readUInt32BE() === ZSTD) {
    requireZstd();
    try {
      bytes = zlib.zstdDecompressSync(block, { maxOutputLength: MAX_LINE_BYTES });
    } catch (error) {
      const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      return { encoding: 'protobuf', bytes: null, why: isLarge ? TOO_LONG : 'it cannot be unpacked' };
    }
  }
  return { encoding: bytes[0] === OPENING_BRACE ? 'json' : 'protobuf', bytes, why: '' };
}
