import protobuf from 'protobufjs/minimal.js';
import type { Micros } from '../engine/timestamp.js';

// Wire types of protobuf. A field is recognized by `field number << 3 | wire type`, with the numbers of schema/otlp; one
// that comes with another wire type is an unknown field, and unknown fields are skipped.
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;

const TWO_28 = 2 ** 28;
const TWO_32 = 2 ** 32;

/** Longest text, in bytes, that is worth looking up before decoding it again. */
const REPEATED_MAX = 48;
const REPEATED_SLOTS = 1024;

/** Methods of Node's buffers that do the same as `toString` without its argument checks. */
interface Slices {
  utf8Slice(start: number, end: number): string;
  hexSlice(start: number, end: number): string;
}

/**
 * protobufjs' reader, with what OTLP needs on top: 64-bit numbers without Long objects, times as microseconds, and
 * short strings (attribute names, models, roles) decoded once per request instead of once per span.
 * Everything throws when the bytes end too early; nothing allocates by a length before it is checked.
 */
export class OtlpReader extends protobuf.Reader {
  readonly #slices: Slices;
  readonly #view: DataView;
  readonly #texts: string[] = [];
  readonly #hashes: Int32Array = new Int32Array(REPEATED_SLOTS);

  constructor(bytes: Uint8Array) {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    super(buffer);
    this.#slices = buffer as unknown as Slices;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < REPEATED_SLOTS; i++) this.#texts.push('');
  }

  /** Enters a message: where it ends. @throws RangeError when it runs past `outerEnd`, the end of what holds it */
  enter(outerEnd: number): number {
    const length = this.size();
    const end = this.pos + length;
    if (end > outerEnd) throw new RangeError(`a length of ${length} at byte ${this.pos} exceeds its message`);
    return end;
  }

  /** Leaves a message that must have been read exactly to its end. */
  leave(end: number): void {
    if (this.pos !== end) throw new RangeError(`a field exceeds its message, which ends at byte ${end}`);
  }

  /** Skips what follows the tag of an unknown field. */
  skipField(tag: number): void {
    this.skipType(tag & 7, 0, tag >>> 3);
  }

  text(): string {
    const end = this.enter(this.len);
    const start = this.pos;
    this.pos = end;
    if (start === end) return '';
    return end - start <= REPEATED_MAX ? this.#repeated(start, end) : this.#slices.utf8Slice(start, end);
  }

  #repeated(start: number, end: number): string {
    const { buf } = this;
    let hash = end - start;
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (buf[i] as number)) | 0;
    const slot = (hash ^ (hash >>> 10)) & (REPEATED_SLOTS - 1);
    const known = this.#texts[slot] as string;
    if (this.#hashes[slot] === hash && this.#isAt(known, start, end)) return known;
    const text = this.#slices.utf8Slice(start, end);
    this.#texts[slot] = text;
    this.#hashes[slot] = hash;
    return text;
  }

  /** Only ever true of ASCII: a byte above 127 is never equal to the character it helps to encode. */
  #isAt(known: string, start: number, end: number): boolean {
    if (known.length !== end - start) return false;
    const { buf } = this;
    for (let i = start, k = 0; i < end; i++, k++) {
      const byte = buf[i] as number;
      if (byte > 127 || byte !== known.charCodeAt(k)) return false;
    }
    return true;
  }

  /** An id as lower-case hex. One that is far too long is cut: it is refused for its length anyway. */
  hex(): string {
    const end = this.enter(this.len);
    const start = this.pos;
    this.pos = end;
    return this.#slices.hexSlice(start, Math.min(end, start + 32));
  }

  base64(): string {
    const end = this.enter(this.len);
    const start = this.pos;
    this.pos = end;
    return (this.buf as Buffer).toString('base64', start, end);
  }

  /** A fixed64 of nanoseconds, rounded half up to microseconds; exact as long as these are a safe integer. */
  micros(): Micros {
    const low = this.fixed32();
    const high = this.fixed32();
    const rest = high % 1000;
    return ((high - rest) / 1000) * TWO_32 + Math.floor((rest * TWO_32 + low + 500) / 1000);
  }

  float64(): number {
    const at = this.pos;
    this.skip(8);
    return this.#view.getFloat64(at, true);
  }

  /** An int64 as a number when it is a safe integer, else as decimal text. */
  integer(): number | string {
    const low = this.#septets(4);
    if (low >= 0) return low;
    const middle = this.#septets(4);
    const lower = ~low;
    if (middle >= 0) {
      const value = middle * TWO_28 + lower;
      return Number.isSafeInteger(value) ? value : wide(0, middle, lower);
    }
    const high = this.#septets(2);
    if (high < 0) throw new RangeError(`a number at byte ${this.pos} is longer than 64 bits`);
    return wide(high, ~middle, lower);
  }

  /** Up to `count` groups of seven bits: the value when the number ends there, its complement (negative) when it goes on. */
  #septets(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) {
      if (this.pos >= this.len) throw new RangeError('the bytes end within a number');
      const byte = this.buf[this.pos++] as number;
      value |= (byte & 127) << (7 * i);
      if (byte < 128) return value;
    }
    return ~value;
  }
}

function wide(high: number, middle: number, low: number): number | string {
  const value = BigInt.asIntN(64, (BigInt(high) << 56n) | (BigInt(middle) << 28n) | BigInt(low));
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}
