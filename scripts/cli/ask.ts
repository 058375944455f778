import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { parseExactly } from '../../src/console/model/exact-json.js';
import { apiCall, askedOf, targetOf, type ApiCall } from '../../src/http/api-calls.js';
import { jsonLineOf, jsonOf, type Row } from '../output.js';
import type { Remote } from '../transfer/remote.js';
import { TransferError } from '../transfer/transfer-error.js';
import { UsageError } from './failure.js';
import { lineText, objectText, rowsText, shownFields } from './show.js';

/** How a call's answer is shown, and how much of it. */
export interface AskOptions {
  readonly json?: boolean;
  readonly jsonl?: boolean;
  /** All rows, however many pages they take. */
  readonly all?: boolean;
  /** File for an answer that is one. */
  readonly out?: string;
}

/** A call with what it is asked for. */
export interface Question {
  readonly call: ApiCall;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Rows where no number is asked for: a screen or two. */
const DEFAULT_ROWS = 50;
const ROWS_OF_PAGE = 500;
/** Traces and sessions are shown with what is in them. */
const WITH_TEXT: Readonly<Record<string, string>> = { getTrace: 'getTraceText', getSession: 'getSessionText' };
const TEXT_CHARACTERS = 8_000;

/** Asks a server, and prints what it answers. @throws TransferError, UsageError */
export async function ask(remote: Remote, question: Question, options: AskOptions): Promise<void> {
  const { call } = question;
  if (call.answers === 'text/event-stream') await follow(remote, question, options);
  else if (call.answers !== 'application/json') await download(remote, question, options);
  else if (isPaged(call)) await list(remote, question, options);
  else await show(remote, question, options);
}

/** Whether a call answers rows by pages. */
export function isPaged({ answers, parameters }: ApiCall): boolean {
  return answers === 'application/json' && parameters.some(({ name }) => name === 'offset');
}

async function show(remote: Remote, { call, values }: Question, { json, jsonl }: AskOptions): Promise<void> {
  const answer = await answerOf(remote, call, values);
  if (json === true) return written(jsonOf(answer));
  if (jsonl === true) for (const row of [answer].flat()) await written(jsonLineOf(row));
  else if (Array.isArray(answer)) await rowsWritten(answer as readonly Row[]);
  else await written(objectText(answer as Row));
  const more = jsonl === true ? undefined : WITH_TEXT[call.id];
  if (more === undefined) return;
  const text = await answerOf(remote, apiCall(more), { id: values['id'], max_characters: TEXT_CHARACTERS });
  await written(`\n${objectText({ text: (text as Row)['text'] })}`);
}

async function list(remote: Remote, question: Question, options: AskOptions): Promise<void> {
  const { call } = question;
  const values = { ...question.values };
  const limit = values['limit'] === undefined ? DEFAULT_ROWS : Number(values['limit']);
  if (!Number.isSafeInteger(limit) || limit < 1) throw new UsageError('--limit must be a whole number from 1.');
  if (options.all === true && values['limit'] !== undefined)
    throw new UsageError('--all and --limit cannot be combined: --all prints every row.');
  const most = options.all === true ? Infinity : limit;
  const known = call.parameters.map(({ name }) => name);
  // What arrives meanwhile would move rows from page to page.
  if (options.all === true && known.includes('created_before')) values['created_before'] ??= new Date().toISOString();
  const asTable = options.json !== true && options.jsonl !== true;
  const fields = asTable ? fieldsFor(question) : undefined;
  if (fields !== undefined) values['fields'] = fields;
  const columns = values['fields'] === undefined ? undefined : [values['fields']].flat().flatMap(namesIn);
  const rows: Row[] = [];
  for await (const page of pages(remote, { call, values }, most))
    if (options.jsonl === true) for (const row of page) await written(jsonLineOf(row));
    else rows.push(...page);
  if (options.json === true) await written(jsonOf(rows));
  else if (asTable) await rowsWritten(rows, columns);
}

const namesIn = (text: unknown) => String(text).split(',');

/** The fields to ask for where the caller names none; undefined: the call has no such parameter. */
function fieldsFor({ call, values }: Question): string[] | undefined {
  const known = call.parameters.find(({ name }) => name === 'fields')?.schema.items?.enum;
  return known === undefined || values['fields'] !== undefined ? undefined : shownFields(known.map(String));
}

/** The rows from page to page. @param most how many of them */
async function* pages(remote: Remote, { call, values }: Question, most: number): AsyncGenerator<readonly Row[]> {
  const largest = call.parameters.find(({ name }) => name === 'limit')?.schema.maximum ?? ROWS_OF_PAGE;
  let offset = Number(values['offset'] ?? 0);
  const ofPage = most > largest ? Math.min(largest, ROWS_OF_PAGE) : most;
  for (let left = most; left > 0;) {
    const limit = Math.min(left, ofPage);
    const answer = await answerOf(remote, call, { ...values, limit, offset });
    const rows = rowsIn(answer);
    yield rows;
    left -= rows.length;
    // A page of large rows may end early, and says so.
    const { next_offset: next } = answer as { readonly next_offset?: number | null };
    if (next === null || (next === undefined && rows.length < limit)) return;
    offset = next ?? offset + rows.length;
  }
}

/** The rows of an answer: the answer itself, or the one list in it. */
function rowsIn(answer: unknown): readonly Row[] {
  const lists = Array.isArray(answer) ? [answer] : Object.values(answer as Row).filter(Array.isArray);
  if (lists.length !== 1) throw new TransferError('The server answered something else than rows: use --json.');
  return lists[0] as readonly Row[];
}

async function rowsWritten(rows: readonly Row[], columns?: readonly string[]): Promise<void> {
  if (rows.length > 0) await written(rowsText(rows, columns));
  // Not to standard output: programs would take the sentence for a row.
  else process.stderr.write('Nothing matches.\n');
}

async function answerOf(remote: Remote, call: ApiCall, values: Question['values']): Promise<unknown> {
  const response = await remote.open(targetOf(call, askedOf(call, values)), 'application/json');
  const text = await response.text();
  try {
    return parseExactly(text);
  } catch {
    throw new TransferError(
      `${remote.url} answered ${call.path} with something else than JSON: name the server with --url`,
    );
  }
}

async function download(remote: Remote, { call, values }: Question, { out }: AskOptions): Promise<void> {
  if (out === undefined && process.stdout.isTTY)
    throw new UsageError('Name a file with --out, or pipe the output into a program: it is not text for a terminal.');
  const format = out === undefined ? '' : extname(out).slice(1);
  const formats = call.parameters.find(({ name }) => name === 'format')?.schema.enum ?? [];
  const asked = formats.includes(format) ? { format, ...values } : values;
  const { body } = await remote.open(targetOf(call, askedOf(call, asked)), '*/*');
  const source = Readable.fromWeb(body ?? new Blob([]).stream());
  if (out === undefined) return broken(pipeline(source, process.stdout, { end: false }));
  // Renamed once it is whole: nobody takes a part for the file.
  const part = `${out}.part`;
  try {
    await broken(pipeline(source, createWriteStream(part)));
    await rename(part, out);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  process.stderr.write(`Written to ${out}\n`);
}

async function broken(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw new TransferError(`The download was interrupted: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Prints what arrives until the server or the user ends it. */
async function follow(remote: Remote, { call, values }: Question, { json, jsonl }: AskOptions): Promise<void> {
  const { body } = await remote.open(targetOf(call, askedOf(call, values)), call.answers);
  if (body === null) return;
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of events) {
    if (event === 'gap')
      process.stderr.write(`Skipped, because they arrived too fast: ${jsonLineOf(parseExactly(data))}`);
    else
      for (const row of parseExactly(data) as readonly Row[])
        await written(json === true || jsonl === true ? jsonLineOf(row) : lineText(row));
  }
  throw new TransferError('The server closed the stream: run the command again to go on.');
}

/** Prints as fast as the reader takes it. */
async function written(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}
