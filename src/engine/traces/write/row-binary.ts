import { decimalUnits } from '../clickhouse/client/decimal.js';

/** Buffers larger than this are not kept for the next request. */
const KEPT_BYTES = 8 * 1024 * 1024;
const INITIAL_BYTES = 256 * 1024;

/** Rows that were to be written take more bytes than they may. */
export class TooManyBytesError extends Error {
  constructor() {
    super('Too many bytes to write');
    this.name = 'TooManyBytesError';
  }
}

/**
 * Writes rows in ClickHouse's RowBinary format, the one that costs the least to write here and to read there: strings
 * go over as they are, with neither quotes nor escapes.
 * Source: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
export class RowBinaryWriter {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  #length = 0;
  #maxBytes = Number.POSITIVE_INFINITY;

  get length(): number {
    return this.#length;
  }

  /**
   * Forgets what was written and starts over.
   * @param maxBytes the most it may take: what would need a larger buffer than that throws {@link TooManyBytesError}
   */
  reset(maxBytes = Number.POSITIVE_INFINITY): void {
    this.#length = 0;
    this.#maxBytes = maxBytes;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  }

  /** The bytes written so far, as a copy; the writer starts over. */
  take(): Buffer {
    const taken = Buffer.from(this.#buffer.subarray(0, this.#length));
    this.reset();
    return taken;
  }

  uint8(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length] = value;
    this.#length += 1;
  }

  /** A whole number from 0 to 2^32 - 1. */
  uint32(value: number): void {
    this.#reserve(4);
    this.#buffer.writeUInt32LE(value, this.#length);
    this.#length += 4;
  }

  /** A whole number from 0 to 2^53 - 1. */
  uint64(value: number): void {
    this.#reserve(8);
    writeUint64(this.#buffer, this.#length, value);
    this.#length += 8;
  }

  float64(value: number): void {
    this.#reserve(8);
    this.#buffer.writeDoubleLE(value, this.#length);
    this.#length += 8;
  }

  /** Decimal(38, 12) of a number from 0 to 1e12, given with at most twelve decimals. */
  decimal12(value: number): void {
    this.#reserve(16);
    const scaled = decimalUnits(value);
    this.#buffer.writeBigUInt64LE(scaled & 0xffff_ffff_ffff_ffffn, this.#length);
    this.#buffer.writeBigUInt64LE(scaled >> 64n, this.#length + 8);
    this.#length += 16;
  }

  /** A UUID in its usual text form: two 64-bit halves, each little-endian. */
  uuid(text: string): void {
    this.#reserve(16);
    const at = this.#length;
    let character = 0;
    for (let byte = 0; byte < 16; byte += 1) {
      if (text.charCodeAt(character) === HYPHEN) character += 1;
      const value = (nibble(text.charCodeAt(character)) << 4) | nibble(text.charCodeAt(character + 1));
      this.#buffer[at + (byte < 8 ? 7 - byte : 23 - byte)] = value;
      character += 2;
    }
    this.#length = at + 16;
  }

  /** A text, or several as one: UTF-8 behind its length in bytes. */
  string(text: string, more = ''): void {
    const length = text.length + more.length;
    // No character takes more than three bytes; only where that many do not fit are they counted.
    if (this.#length + length * 3 + MAX_VARINT > this.#buffer.length) {
      const exact = Buffer.byteLength(text) + Buffer.byteLength(more);
      this.#reserve(varintSize(exact) + exact);
    }
    const guess = varintSize(length);
    const from = this.#length + guess;
    let written = this.#buffer.write(text, from);
    if (more !== '') written += this.#buffer.write(more, from + written);
    const actual = varintSize(written);
    if (actual !== guess) this.#buffer.copyWithin(this.#length + actual, from, from + written);
    this.#varint(written);
    this.#length += written;
  }

  tags(tags: Readonly<Record<string, string>>): void {
    const keys = Object.keys(tags);
    this.#reserve(varintSize(keys.length));
    this.#varint(keys.length);
    for (const key of keys) {
      this.string(key);
      this.string(tags[key] ?? '');
    }
  }

  /** A Nullable column: a flag, and the value unless it is null. */
  nullable<T>(value: T | null, write: (writer: this, value: T) => void): void {
    this.uint8(value === null ? 1 : 0);
    if (value !== null) write(this, value);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.#buffer[this.#length] = (rest & 0x7f) | 0x80;
      this.#length += 1;
      rest = Math.floor(rest / 128);
    }
    this.#buffer[this.#length] = rest;
    this.#length += 1;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    if (needed > this.#maxBytes) throw new TooManyBytesError();
    const larger = Buffer.allocUnsafe(Math.max(Math.min(this.#buffer.length * 2, this.#maxBytes), needed));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** Writes a whole number from 0 to 2^53 - 1, little-endian. */
export function writeUint64(buffer: Buffer, at: number, value: number): void {
  const high = Math.floor(value / 0x1_0000_0000);
  buffer.writeUInt32LE(value - high * 0x1_0000_0000, at);
  buffer.writeUInt32LE(high, at + 4);
}

const HYPHEN = 45;
/** Bytes of the longest length that precedes a text. */
const MAX_VARINT = 5;

function nibble(code: number): number {
  return code <= 57 ? code - 48 : (code | 32) - 87;
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) size += 1;
  return size;
}
