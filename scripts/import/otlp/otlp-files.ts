import { resolve } from 'node:path';
import { filesIn, type FoundFile } from '../files.js';
import { ImportError } from '../import-error.js';
import type { SentRequest, Source, Step } from '../step.js';
import { plus, NOTHING, type Tally } from '../tally.js';
import { SpanSample } from '../span-sample.js';
import { spansInJson, spansInProtobuf } from './counts.js';
import { messagesOf, type Encoding, type Message } from './messages.js';
import { refusals } from './refusals.js';

/** How far each file is sent. */
type Cursor = Readonly<Record<string, { readonly to: number; readonly size: number }>>;

/** Files of the Collector's `file` exporter, sent as they are. */
export async function openOtlp(paths: readonly string[]): Promise<Source> {
  if (paths.length === 0) throw new ImportError('Name the files, or a folder of them');
  const folders = paths.map((path) => resolve(path));
  const files = await filesIn(folders, /\.(jsonl?|pb|proto|bin|zst|zstd|gz)$|^[^.]+$/);
  const sample = new SpanSample();
  return {
    identity: JSON.stringify(['otlp', folders]),
    mark: null,
    sample,
    size: { total: files.reduce((sum, { size }) => sum + size, 0), unit: 'bytes' },
    found: [`${files.length} files`],
    read: (cursor) => read(files, (cursor ?? {}) as Cursor, sample),
  };
}

async function* read(files: readonly FoundFile[], known: Cursor, sample: SpanSample): AsyncGenerator<Step> {
  let cursor = known;
  let before = 0;
  for (const { path, size } of files) {
    const { to = 0, size: then = 0 } = cursor[path] ?? {};
    before += size;
    if (then !== size || cursor[path] === undefined) {
      let batch = new Batch();
      // One that became shorter is another one.
      let end = size < then ? 0 : to;
      for await (const message of messagesOf(path, end)) {
        const spans = spansOf(message);
        if (typeof spans === 'string') yield { type: 'left', left: { what: message.name, why: spans } };
        else {
          if (!batch.takes(message)) {
            yield* batch.steps();
            cursor = { ...cursor, [path]: { to: end, size: 0 } };
            yield { type: 'cursor', cursor };
            batch = new Batch();
          }
          batch.add(message, tallyOf(spans));
          for (const { traceId, spanId, start } of spans) sample.add(traceId, spanId, start);
        }
        end = message.to;
        yield { type: 'progress', done: before - size + Math.min(size, end) };
      }
      yield* batch.steps();
      cursor = { ...cursor, [path]: { to: end, size } };
      yield { type: 'cursor', cursor };
    }
    yield { type: 'progress', done: before };
  }
}

type Counted = Exclude<ReturnType<typeof spansInJson>, null>;

/** The spans of a message, or why it is not taken. */
function spansOf({ encoding, bytes, why }: Message): Counted | string {
  if (bytes === null) return why;
  const spans = encoding === 'json' ? spansInJson(bytes) : spansInProtobuf(bytes);
  return spans ?? 'it is no message of traces';
}

function tallyOf(spans: Counted): Partial<Tally> {
  return { spans: spans.length, traces: spans.filter(({ isRoot }) => isRoot).length };
}

/** Size of a request that several messages make. */
const MAX_BATCH_BYTES = 2 * 1024 * 1024;
/** How a message in JSON is written: between is a list, and lists can be joined. */
const [BEGIN, END] = [Buffer.from('{"resourceSpans":['), Buffer.from(']}')];
const TYPES: Readonly<Record<Encoding, string>> = { json: 'application/json', protobuf: 'application/x-protobuf' };

type Bytes = Message & { readonly bytes: Buffer };

/** Messages that are sent together: many have one span alone. */
class Batch {
  readonly #messages: { readonly message: Bytes; readonly tally: Partial<Tally> }[] = [];
  #size = 0;

  takes(message: Message): boolean {
    const [first] = this.#messages;
    if (first === undefined || message.bytes === null) return true;
    const isFull = this.#size + message.bytes.length > MAX_BATCH_BYTES;
    return (
      !isFull && first.message.encoding === message.encoding && canJoin(first.message) && canJoin(message as Bytes)
    );
  }

  add(message: Message, tally: Partial<Tally>): void {
    this.#messages.push({ message: message as Bytes, tally });
    this.#size += message.bytes?.length ?? 0;
  }

  *steps(): Iterable<Step> {
    if (this.#messages.length > 0) yield { type: 'request', request: this.#request(this.#messages) };
  }

  #request(messages: readonly { readonly message: Bytes; readonly tally: Partial<Tally> }[]): SentRequest {
    const all = messages.map(({ message }) => message);
    const [first] = all;
    const { encoding = 'json', name = '' } = first ?? {};
    const half = Math.ceil(messages.length / 2);
    return {
      path: '/v1/traces',
      body: encoding === 'json' ? joinedJson(all) : Buffer.concat(all.map(({ bytes }) => bytes)),
      contentType: TYPES[encoding],
      tally: messages.reduce((sum: Tally, { tally }) => plus(sum, tally), NOTHING),
      name: all.length === 1 ? name : `${name} to ${all.at(-1)?.name ?? ''}`,
      refusals: (answer) => refusals(answer, name),
      split: () =>
        messages.length === 1 ? [] : [this.#request(messages.slice(0, half)), this.#request(messages.slice(half))],
    };
  }
}

function canJoin({ encoding, bytes }: Bytes): boolean {
  return encoding === 'protobuf' || (bytes.subarray(0, BEGIN.length).equals(BEGIN) && bytes.subarray(-2).equals(END));
}

function joinedJson(messages: readonly Bytes[]): Buffer {
  const [only] = messages;
  if (only !== undefined && messages.length === 1) return only.bytes;
  const lists = messages
    .map(({ bytes }) => bytes.subarray(BEGIN.length, -END.length))
    .filter(({ length }) => length > 0);
  return Buffer.concat([BEGIN, ...lists.flatMap((list, index) => (index === 0 ? [list] : [COMMA, list])), END]);
}

const COMMA = Buffer.from(',');
