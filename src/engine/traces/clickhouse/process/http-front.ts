import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isUtf8 } from 'node:buffer';
import type { EngineCore } from './engine-core.js';
import { EngineError, ErrorCode } from './engine-error.js';
import { answerOf, emptyAnswer, headerOf, insertedAnswer, refuse, send, type Answer } from './http-answer.js';
import { readBody } from './http-body.js';
import { stringLiteral } from '../client/literals.js';
import { bindParameters } from './literals.js';
import type { Run, Settings } from './session-pool.js';
import { settingsClause } from './session-pool.js';
import { readStatement } from './statement.js';
import type { Statement } from './statement.js';

/** The longest header: ClickHouse's own bound of a URL, which holds the parameters, and some more. */
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

/** ClickHouse's HTTP interface, as much of it as a client library uses, over the embedded engine. */
export function createFront(core: EngineCore, options: FrontOptions): Server {
  const front = new Front(core, options);
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    let started = false;
    const onStart = (): void => void (started = true);
    front
      .answer(request, response, onStart)
      .catch((error: unknown) => refuse(request, response, EngineError.from(error), started));
  });
  // The timeout is longer than any client keeps an idle connection, so that the client, not this side, ends it.
  server.keepAliveTimeout = 120_000;
  server.requestTimeout = 0;
  return server;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly onStart: () => void;
}

class Front {
  readonly #core: EngineCore;
  readonly #options: FrontOptions;
  readonly #credentials: Buffer;

  constructor(core: EngineCore, options: FrontOptions) {
    this.#core = core;
    this.#options = options;
    this.#credentials = digest(`${options.username}:${options.password}`);
  }

  /** @param onStart called when the engine is about to get the statement */
  async answer(request: IncomingMessage, response: ServerResponse, onStart: () => void): Promise<void> {
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
    const result = await this.#execute(query, body, url.searchParams, { request, response, onStart });
    await send(request, response, url.searchParams, result);
  }

  async #execute(
    query: string,
    body: Buffer,
    search: URLSearchParams,
    { request, response, onStart }: Exchange,
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
      return this.#insert(statement, values, settings, { database, onStart }, data);
    const sql = bindParameters(statement, values);
    const format = statement.format ?? search.get('default_format') ?? 'TabSeparated';
    if (statement.kind === 'read') return this.#read({ sql, format, settings, database, onStart }, response);
    const pool = statement.kind === 'insert' ? this.#core.inserts : this.#core.commands;
    return answerOf(await pool.run({ sql, format, settings, database, onStart }), format);
  }

  async #insert(
    statement: Statement,
    values: ReadonlyMap<string, string>,
    settings: Settings,
    target: Pick<Run, 'database' | 'onStart'>,
    data: Buffer | undefined,
  ): Promise<Answer> {
    const format = statement.format as string;
    if (statement.inputAt !== undefined && statement.placeholders.length > 0)
      throw EngineError.of(48, 'Parameters beside input() are not supported.', 'NOT_IMPLEMENTED');
    if (data === undefined || data.length === 0) return emptyAnswer(format);
    const text = bindParameters(statement, values);
    const at = text.length - (statement.text.length - (statement.formatAt as number));
    // Settings go into the statement, not onto the session: no SET on the way of an insert, and nothing to take back.
    const clause = settings.size > 0 ? settingsClause(settings) : '';
    const read = await this.#core.files.provide(data, (path) => {
      if (statement.inputAt !== undefined) {
        const sql = selectingFrom(path, text.slice(0, at), statement.inputAt, format);
        return this.#core.inserts.run({ sql, format: 'Null', settings, ...target });
      }
      const sql = `${text.slice(0, at)} FROM INFILE ${stringLiteral(path)} COMPRESSION 'none' ${clause} ${text.slice(at)}`;
      return this.#core.inserts.run({ sql, format: 'Null', settings: new Map(), ...target });
    });
    // The engine reports success when it finds no file at all, unless it selects from it. In RowBinary, no rows mean no
    // bytes.
    if (statement.inputAt === undefined && read.rowsRead === 0 && format === 'RowBinary') {
      throw EngineError.of(
        ErrorCode.cannotReadAllData,
        `none of ${data.length} bytes were read.`,
        'CANNOT_READ_ALL_DATA',
      );
    }
    return insertedAnswer(read, format);
  }

  async #read({ sql, settings, ...run }: Run, response: ServerResponse): Promise<Answer> {
    const limits = new Map(settings);
    const asked = limits.get('max_execution_time');
    if (asked !== undefined && !(Number(asked) > 0 && Number(asked) <= this.#options.maxReadSeconds))
      limits.delete('max_execution_time');
    const gone = new AbortController();
    const abandoned = (): void => gone.abort();
    response.once('close', abandoned);
    try {
      return answerOf(await this.#core.reads.run({ ...run, sql, settings: limits, signal: gone.signal }), run.format);
    } finally {
      response.off('close', abandoned);
    }
  }

  #authentic(request: IncomingMessage): boolean {
    const [scheme, encoded] = (request.headers.authorization ?? '').split(' ');
    let given = `${headerOf(request, 'x-clickhouse-user')}:${headerOf(request, 'x-clickhouse-key')}`;
    if (scheme === 'Basic' && encoded !== undefined) given = Buffer.from(encoded, 'base64').toString('utf8');
    return timingSafeEqual(digest(given), this.#credentials);
  }
}

/** An INSERT SELECT with its `input(structure)` replaced by the file that holds the data. */
function selectingFrom(path: string, text: string, inputAt: number, format: string): string {
  const structure = text.slice(text.indexOf('(', inputAt) + 1);
  return `${text.slice(0, inputAt)}file(${stringLiteral(path)}, ${stringLiteral(format)}, ${structure}`;
}

function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
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
