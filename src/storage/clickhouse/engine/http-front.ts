import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { isUtf8 } from 'node:buffer';
import type { EngineCore } from './engine-core.js';
import { EngineError, ErrorCode, statusOf } from './engine-error.js';
import { bindParameters, stringLiteral } from './literals.js';
import type { Settings } from './session-pool.js';
import { settingsClause } from './session-pool.js';
import { readStatement } from './statement.js';
import type { Statement } from './statement.js';

const unzip = promisify(gunzip);
const zip = promisify(gzip);

/** Longest body taken, also after decompression. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;
/** ClickHouse's own bound of a URL; parameters travel in it. */
const MAX_HEADER_BYTES = 1024 * 1024 + 16 * 1024;

export interface FrontOptions {
  readonly username: string;
  readonly password: string;
  readonly database: string;
  readonly maxReadSeconds: number;
}

/** Query parameters of ClickHouse's HTTP interface that are no settings. */
const NOT_SETTINGS = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'user',
  'password',
  'role',
  'compress',
  'decompress',
  'enable_http_compression',
  'wait_end_of_query',
  'buffer_size',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'send_exception_in_result',
  'http_write_exception_in_output_format',
]);

interface Answer {
  readonly bytes: Buffer;
  readonly format: string;
  readonly summary: Readonly<Record<string, string>>;
}

/** ClickHouse's HTTP interface, as much of it as a client library uses, over the embedded engine. */
export function createFront(core: EngineCore, options: FrontOptions): Server {
  const front = new Front(core, options);
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    front.answer(request, response).catch((error: unknown) => refuse(request, response, EngineError.from(error)));
  });
  // Longer than any client keeps an idle connection, so that the client, not this side, ends it.
  server.keepAliveTimeout = 120_000;
  server.requestTimeout = 0;
  return server;
}

class Front {
  readonly #core: EngineCore;
  readonly #options: FrontOptions;
  readonly #credentials: Buffer;
  #serial = 0;

  constructor(core: EngineCore, options: FrontOptions) {
    this.#core = core;
    this.#options = options;
    this.#credentials = digest(`${options.username}:${options.password}`);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://engine');
    if (url.pathname === '/ping') {
      response.end('Ok.\n');
      return;
    }
    if (!this.#authentic(request)) {
      throw EngineError.of(
        ErrorCode.authenticationFailed,
        'Authentication failed: password is incorrect.',
        'AUTHENTICATION_FAILED',
      );
    }
    const body = await readBody(request);
    const query = url.searchParams.get('query') ?? '';
    const result = await this.#execute(query, body, url.searchParams, request, response);
    await send(request, response, url.searchParams, result);
  }

  async #execute(
    query: string,
    body: Buffer,
    search: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Answer> {
    const { values, settings } = readParameters(search);
    let statement = query.trim() === '' ? undefined : readStatement(query);
    let data: Buffer | undefined = body;
    if (statement?.kind !== 'insert' || statement.format === undefined || statement.inlineData !== undefined) {
      if (body.length > 0 || statement === undefined) {
        if (!isUtf8(body))
          throw EngineError.of(
            ErrorCode.syntaxError,
            'A statement must be UTF-8; send binary data with the INSERT in `query`.',
            'SYNTAX_ERROR',
          );
        statement = readStatement(query === '' ? body.toString('utf8') : `${query}\n${body.toString('utf8')}`);
      }
      data = statement.inlineData === undefined ? undefined : Buffer.from(statement.inlineData, 'utf8');
    }
    if (request.method === 'GET' && statement.kind !== 'read') {
      throw EngineError.of(ErrorCode.readonly, 'Cannot execute query in readonly mode: use POST.', 'READONLY');
    }
    const database = search.get('database') || undefined;
    if (statement.kind === 'insert' && statement.format !== undefined)
      return this.#insert(statement, values, settings, data);
    const sql = bindParameters(statement, values);
    const format = statement.format ?? search.get('default_format') ?? 'TabSeparated';
    if (statement.kind === 'read') return this.#read(sql, format, settings, database, response);
    const pool = statement.kind === 'insert' ? this.#core.inserts : this.#core.commands;
    return answerOf(await pool.run({ sql, format, settings, database }), format);
  }

  async #insert(
    statement: Statement,
    values: ReadonlyMap<string, string>,
    settings: Settings,
    data: Buffer | undefined,
  ): Promise<Answer> {
    const format = statement.format as string;
    if (data === undefined || data.length === 0) return emptyAnswer(format);
    const text = bindParameters(statement, values);
    const at = text.length - (statement.text.length - (statement.formatAt as number));
    // Into the statement, not onto the session: no SET on the way of an insert, and nothing to take back.
    const clause = settings.size > 0 ? settingsClause(settings) : '';
    const read = await this.#core.files.provide(data, (path) => {
      const sql = `${text.slice(0, at)} FROM INFILE ${stringLiteral(path)} COMPRESSION 'none' ${clause} ${text.slice(at)}`;
      return this.#core.inserts.run({ sql, format: 'Null', settings: new Map() });
    });
    // The engine reports success when it finds no file at all. In this format no data means no bytes.
    if (read.rowsRead === 0 && format === 'RowBinary') {
      throw EngineError.of(
        ErrorCode.cannotReadAllData,
        `none of ${data.length} bytes were read.`,
        'CANNOT_READ_ALL_DATA',
      );
    }
    const figures = {
      written_rows: read.rowsRead,
      written_bytes: read.bytesRead,
      elapsed_ns: nanoseconds(read.elapsed),
    };
    return { bytes: Buffer.alloc(0), format, summary: summary(figures) };
  }

  async #read(
    sql: string,
    format: string,
    settings: Settings,
    database: string | undefined,
    response: ServerResponse,
  ): Promise<Answer> {
    const limits = new Map(settings);
    const asked = limits.get('max_execution_time');
    if (asked !== undefined && !(Number(asked) > 0 && Number(asked) <= this.#options.maxReadSeconds))
      limits.delete('max_execution_time');
    // The engine gives no query id away, so the statement carries its own name.
    const mark = `/* ${process.pid}-${++this.#serial} */`;
    const gone = new AbortController();
    const abandoned = (): void => {
      gone.abort();
      this.#kill(mark);
    };
    response.once('close', abandoned);
    try {
      return answerOf(
        await this.#core.reads.run({ sql: `${mark} ${sql}`, format, settings: limits, database, signal: gone.signal }),
        format,
      );
    } finally {
      response.off('close', abandoned);
    }
  }

  /** Best effort: when it fails, the read's time limit ends it. Never SYNC, that can hang. */
  #kill(mark: string): void {
    const sql = `KILL QUERY WHERE startsWith(query, '${mark}') ASYNC`;
    this.#core.commands.run({ sql, format: 'Null', settings: new Map() }).catch(() => undefined);
  }

  #authentic(request: IncomingMessage): boolean {
    const [scheme, encoded] = (request.headers.authorization ?? '').split(' ');
    let given = `${headerOf(request, 'x-clickhouse-user')}:${headerOf(request, 'x-clickhouse-key')}`;
    if (scheme === 'Basic' && encoded !== undefined) given = Buffer.from(encoded, 'base64').toString('utf8');
    return timingSafeEqual(digest(given), this.#credentials);
  }
}

function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

function readParameters(search: URLSearchParams): { values: Map<string, string>; settings: Map<string, string> } {
  const values = new Map<string, string>();
  const settings = new Map<string, string>();
  for (const [name, value] of search) {
    if (name.startsWith('param_')) values.set(name.slice('param_'.length), value);
    else if (name === 'session_id')
      throw EngineError.of(48, 'Sessions over HTTP are not supported.', 'NOT_IMPLEMENTED');
    else if (!NOT_SETTINGS.has(name)) settings.set(name, value);
  }
  return { values, settings };
}

/** The body in one Buffer: written straight into its place when the length is known. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > MAX_BODY_BYTES) throw tooLarge();
  const body = Number.isInteger(declared) ? await readKnown(request, declared) : await readChunks(request);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return body;
  if (encoding !== 'gzip')
    throw EngineError.of(48, `Content-Encoding ${encoding} is not supported.`, 'NOT_IMPLEMENTED');
  try {
    return await unzip(body, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    throw new EngineError(354, `Code: 354. DB::Exception: inflate failed: ${String(error)} (ZLIB_INFLATE_FAILED)`, {
      cause: error,
    });
  }
}

async function readKnown(request: IncomingMessage, length: number): Promise<Buffer> {
  const body = Buffer.allocUnsafe(length);
  let at = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) at += chunk.copy(body, at);
  return body;
}

async function readChunks(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function tooLarge(): EngineError {
  return EngineError.of(307, `The body is longer than ${MAX_BODY_BYTES} bytes.`, 'TOO_MANY_BYTES');
}

function nanoseconds(seconds: number): number {
  return Math.round(seconds * 1e9);
}

function summary(figures: Readonly<Record<string, number>>): Readonly<Record<string, string>> {
  const all = {
    read_rows: 0,
    read_bytes: 0,
    written_rows: 0,
    written_bytes: 0,
    total_rows_to_read: 0,
    result_rows: 0,
    result_bytes: 0,
    elapsed_ns: 0,
    ...figures,
  };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]));
}

function answerOf(
  result: { bytes: Buffer; elapsed: number; rowsRead: number; bytesRead: number },
  format: string,
): Answer {
  return {
    bytes: result.bytes,
    format,
    summary: summary({
      read_rows: result.rowsRead,
      read_bytes: result.bytesRead,
      result_bytes: result.bytes.length,
      elapsed_ns: nanoseconds(result.elapsed),
    }),
  };
}

function emptyAnswer(format: string): Answer {
  return { bytes: Buffer.alloc(0), format, summary: summary({}) };
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  search: URLSearchParams,
  answer: Answer,
): Promise<void> {
  let bytes = answer.bytes;
  if (search.get('enable_http_compression') === '1' && headerOf(request, 'accept-encoding').includes('gzip')) {
    bytes = await zip(bytes, { level: 1 });
    response.setHeader('Content-Encoding', 'gzip');
  }
  response.writeHead(200, {
    'Content-Type': 'application/octet-stream',
    'Content-Length': bytes.length,
    'X-ClickHouse-Format': answer.format,
    'X-ClickHouse-Summary': JSON.stringify(answer.summary),
    'X-ClickHouse-Query-Id': search.get('query_id') ?? '',
    'X-ClickHouse-Timezone': 'UTC',
  });
  response.end(bytes);
}

function refuse(request: IncomingMessage, response: ServerResponse, error: EngineError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  // What is left of the body would stand before the next request on this connection.
  if (!request.complete) response.setHeader('Connection', 'close');
  const text = `${error.message}\n`;
  response.writeHead(statusOf(error.code), {
    'Content-Type': 'text/plain; charset=UTF-8',
    'Content-Length': Buffer.byteLength(text),
    'X-ClickHouse-Exception-Code': String(error.code),
  });
  response.end(text);
}
