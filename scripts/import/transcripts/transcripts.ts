import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { filesIn, type FoundFile } from '../files.js';
import { linesOf, MAX_LINE_BYTES, type Line } from '../lines.js';
import { objectIn } from '../members.js';
import { tallyOf } from '../spans.js';
import type { Given } from '../source-options.js';
import type { SentSpan, Source, Step } from '../step.js';
import { NOTHING, plus, type Tally } from '../tally.js';
import { claudeCode } from './claude-code.js';
import { codex } from './codex.js';
import type { TranscriptKind, TranscriptReader } from './reader.js';

export const openClaudeCode = (paths: readonly string[], given: Given) => open(claudeCode, paths, given);
export const openCodex = (paths: readonly string[], given: Given) => open(codex, paths, given);

/** How far a file is read. */
interface FileCursor {
  /** Where its last turn begins, which may go on, and what to know there. */
  readonly from: number;
  readonly context: unknown;
  /** To where it was read. */
  readonly to: number;
  /** What was counted before the last turn, and of that. */
  readonly counted: Tally;
  readonly last: Tally;
}

type Cursor = Readonly<Record<string, FileCursor>>;

/** Cursors hold every file: one for so many spans is enough. */
const SPANS_PER_CURSOR = 1000;

async function open(kind: TranscriptKind, paths: readonly string[], { sinceMs }: Given): Promise<Source> {
  const folders = paths.length > 0 ? paths.map((path) => resolve(path)) : [join(homedir(), ...kind.folder)];
  const files = await filesIn(folders, /\.jsonl$/);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  return {
    identity: JSON.stringify([kind.mark, folders, sinceMs]),
    mark: kind.mark,
    size: { total, unit: 'bytes' },
    found: [`${files.length} transcripts in ${folders.join(', ')}`],
    read: (cursor) => new Transcripts(kind, files, (cursor ?? {}) as Cursor, sinceMs).read(),
  };
}

class Transcripts {
  readonly #kind: TranscriptKind;
  readonly #files: readonly FoundFile[];
  readonly #sinceMs: number | null;
  /** Ids of spans of this run: a session that goes on in a new file begins with a copy of the old one. */
  readonly #seen = new Set<string>();
  #cursor: Cursor;
  #sinceCursor = 0;

  constructor(kind: TranscriptKind, files: readonly FoundFile[], cursor: Cursor, sinceMs: number | null) {
    this.#kind = kind;
    this.#files = files;
    this.#cursor = cursor;
    this.#sinceMs = sinceMs;
  }

  async *read(): AsyncGenerator<Step> {
    let before = 0;
    for (const file of this.#files) {
      yield* this.#file(file, before);
      before += file.size;
      yield { type: 'progress', done: before };
    }
  }

  async *#file({ path, size }: FoundFile, before: number): AsyncGenerator<Step> {
    const known = this.#cursor[path];
    if (known?.to === size) return;
    // One that became shorter is another one.
    const from = known !== undefined && known.to < size ? known : null;
    yield {
      type: 'uncount',
      tally: from === null ? (known === undefined ? {} : plus(known.counted, known.last)) : from.last,
    };
    const reader = this.#kind.reader(path, from?.context ?? null);
    const reading = new Reading(path, reader, from, { sinceMs: this.#sinceMs, seen: this.#seen });
    for await (const line of linesOf(path, from?.from ?? 0)) {
      yield* reading.line(line);
      this.#sinceCursor += reading.taken;
      if (this.#sinceCursor >= SPANS_PER_CURSOR && reading.isBetweenTurns) {
        this.#cursor = { ...this.#cursor, [path]: reading.cursor };
        this.#sinceCursor = 0;
        yield { type: 'cursor', cursor: this.#cursor };
      }
      yield { type: 'progress', done: before + line.to };
    }
    yield* reading.end();
    this.#cursor = { ...this.#cursor, [path]: reading.cursor };
    yield { type: 'cursor', cursor: this.#cursor };
  }
}

interface Wanted {
  readonly sinceMs: number | null;
  readonly seen: Set<string>;
}

/** Most ids that are remembered. */
const MAX_SEEN = 500_000;

/** A file while it is read. */
class Reading {
  readonly #file: string;
  readonly #reader: TranscriptReader;
  readonly #wanted: Wanted;
  readonly #isWhole: boolean;
  #to: number;
  #counted: Tally;
  #last = NOTHING;
  #turn: number;
  /** Spans of the last line. */
  taken = 0;
  isBetweenTurns = false;

  constructor(file: string, reader: TranscriptReader, from: FileCursor | null, wanted: Wanted) {
    this.#file = file;
    this.#reader = reader;
    this.#wanted = wanted;
    this.#isWhole = from === null;
    this.#to = from?.from ?? 0;
    this.#counted = from?.counted ?? NOTHING;
    this.#turn = reader.place.from;
  }

  get cursor(): FileCursor {
    const { from, context } = this.#reader.place;
    return { from, context, to: this.#to, counted: this.#counted, last: this.#last };
  }

  *line({ bytes, from, to, number, ended }: Line): Iterable<Step> {
    this.taken = 0;
    this.isBetweenTurns = false;
    const name = this.#isWhole ? `${this.#file}:${number}` : `${this.#file} at byte ${from}`;
    const line = bytes === null ? null : objectIn(bytes);
    // It is being written.
    if (line === null && !ended) return;
    this.#to = to;
    if (bytes?.length === 0) return;
    if (bytes === null) yield left(name, `the line has more than ${MAX_LINE_BYTES} bytes`);
    else if (line === null) yield left(name, 'the line is no JSON object');
    else yield* this.#take(this.#reader.line(line, from));
    const { place } = this.#reader;
    if (place.from === this.#turn) return;
    // Another turn began: what came before is complete.
    this.#turn = place.from;
    this.#counted = plus(this.#counted, this.#last);
    this.#last = NOTHING;
    this.isBetweenTurns = true;
  }

  *end(): Iterable<Step> {
    yield* this.#take(this.#reader.end());
    const { images } = this.#reader;
    if (images > 0)
      yield { type: 'left', left: { what: this.#file, why: 'images in transcripts are not imported', count: images } };
  }

  *#take(spans: readonly SentSpan[]): Iterable<Step> {
    const { sinceMs, seen } = this.#wanted;
    const wanted = spans.filter(({ started_at }) => sinceMs === null || Date.parse(started_at) >= sinceMs);
    this.taken = wanted.length;
    const fresh = wanted.filter(({ id }) => !seen.has(id));
    const repeated = wanted.filter(({ id }) => seen.has(id));
    for (const span of fresh) {
      this.#last = plus(this.#last, tallyOf(span));
      if (seen.size < MAX_SEEN) seen.add(span.id);
    }
    if (fresh.length > 0) yield { type: 'spans', spans: fresh };
    if (repeated.length > 0) yield { type: 'spans', spans: repeated, repeated: true };
  }
}

const left = (what: string, why: string): Step => ({ type: 'left', left: { what, why } });
