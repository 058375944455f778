import { isUtf8 } from 'node:buffer';
import { DomainError } from '../engine/errors.js';
import { JsonBoundError, MAX_JSON_DEPTH, parseJsonText, type JsonNames } from '../engine/json-text.js';

/** A part of a body of the type `multipart/form-data`. */
export interface FormPart {
  readonly name: string;
  /** Lower case, without parameters; empty: not said. */
  readonly mediaType: string;
  /** Of the body, not a copy. */
  readonly bytes: Buffer;
}

/** In bytes, of a boundary with its hyphens, and of the headers of a part. */
const MAX_BOUNDARY = 256;
const MAX_HEADERS = 8 * 1024;
const LINE = '\r\n';
const NO_FORM = 'The body is not valid multipart/form-data';

/**
 * Takes a body apart, one part after the other. Its first line is the boundary, so that the header need not be asked.
 * @throws DomainError `malformed`; `too_large` for more than `maxParts`
 */
export function* readFormData(body: Buffer, maxParts: number): Generator<FormPart, void, undefined> {
  const start = body.subarray(0, 2).toString('latin1') === LINE ? 2 : 0;
  const lineEnd = body.subarray(0, MAX_BOUNDARY).indexOf(LINE, start);
  const first = lineEnd === -1 ? '' : body.toString('latin1', start, lineEnd);
  if (/^--.*--$/.test(first) && lineEnd + 2 >= body.length) return;
  if (!/^--[\x21-\x7e]/.test(first)) throw new DomainError('malformed', `${NO_FORM}: it must begin with a boundary`);
  const delimiter = Buffer.from(`${LINE}${first}`, 'latin1');
  let at = lineEnd + 2;
  for (let parts = 0; ; parts += 1) {
    if (parts >= maxParts)
      throw new DomainError('too_large', `The body has more than ${maxParts} parts: send smaller batches`);
    const head = body.subarray(at, at + MAX_HEADERS);
    const headEnd = head.indexOf(`${LINE}${LINE}`);
    if (headEnd === -1) throw new DomainError('malformed', `${NO_FORM}: a part has no end of its headers`);
    const from = at + headEnd + 4;
    const end = body.indexOf(delimiter, from);
    if (end === -1) throw new DomainError('malformed', `${NO_FORM}: it is truncated`);
    yield { ...headersIn(head.toString('utf8', 0, headEnd)), bytes: body.subarray(from, end) };
    at = end + delimiter.length;
    const after = body.toString('latin1', at, at + 2);
    if (after === '--') return;
    if (after !== LINE) throw new DomainError('malformed', `${NO_FORM}: a boundary is followed by something else`);
    at += 2;
  }
}

function headersIn(text: string): Pick<FormPart, 'name' | 'mediaType'> {
  const name = /^content-disposition:\s*form-data\s*;(?:[^\r\n]*;)?\s*name="([^"\r\n]*)"/im.exec(text)?.[1];
  if (name === undefined) throw new DomainError('malformed', `${NO_FORM}: a part has no name`);
  const type = /^content-type:[ \t]*([^\r\n;]*)/im.exec(text)?.[1] ?? '';
  return { name, mediaType: type.trim().toLowerCase() };
}

/** Parts lie in objects of what is made of them: so they may be nested less deeply. */
const MAX_DEPTH = MAX_JSON_DEPTH - 5;

/** A part that is JSON. @param names of all parts, which bound each other @throws DomainError `malformed` */
export function jsonPart(part: FormPart, names: JsonNames): unknown {
  if (!isUtf8(part.bytes)) throw new DomainError('malformed', `The part ${shownPart(part)} is not valid UTF-8`);
  try {
    return parseJsonText(part.bytes.toString(), MAX_DEPTH, undefined, names);
  } catch (error) {
    if (error instanceof JsonBoundError)
      throw new DomainError('malformed', `The part ${shownPart(part)} ${error.message}`, { cause: error });
    if (!(error instanceof SyntaxError)) throw error;
    throw new DomainError('malformed', `The part ${shownPart(part)} is not valid JSON`, { cause: error });
  }
}

/** The name of a part, for messages. */
export function shownPart({ name }: Pick<FormPart, 'name'>): string {
  return JSON.stringify(name.slice(0, 100));
}
