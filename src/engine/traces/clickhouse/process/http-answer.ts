import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { NOT_RUN_HEADER } from '../client/endpoint.js';
import { statusOf, type EngineError } from './engine-error.js';
import type { NativeResult } from './native.js';

const zip = promisify(gzip);

export interface Answer {
  readonly bytes: Buffer;
  readonly format: string;
  readonly summary: Readonly<Record<string, string>>;
}

/** The answer to a statement that reads, or changes what is there. */
export function answerOf({ bytes, elapsed, rowsRead, bytesRead }: NativeResult, format: string): Answer {
  const figures = { read_rows: rowsRead, read_bytes: bytesRead, result_bytes: bytes.length };
  return { bytes, format, summary: summary(figures, elapsed) };
}

/** The answer to an insert, which has read what it wrote. */
export function insertedAnswer({ elapsed, rowsRead, bytesRead }: Omit<NativeResult, 'bytes'>, format: string): Answer {
  const figures = { written_rows: rowsRead, written_bytes: bytesRead };
  return { bytes: Buffer.alloc(0), format, summary: summary(figures, elapsed) };
}

export function emptyAnswer(format: string): Answer {
  return { bytes: Buffer.alloc(0), format, summary: summary({}, 0) };
}

/** @param seconds how long the statement took */
function summary(figures: Readonly<Record<string, number>>, seconds: number): Readonly<Record<string, string>> {
  const all = {
    read_rows: 0,
    read_bytes: 0,
    written_rows: 0,
    written_bytes: 0,
    total_rows_to_read: 0,
    result_rows: 0,
    result_bytes: 0,
    elapsed_ns: Math.round(seconds * 1e9),
    ...figures,
  };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]));
}

export async function send(
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

/** @param started whether the engine got the statement */
export function refuse(request: IncomingMessage, response: ServerResponse, error: EngineError, started: boolean): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  // Unread bytes of the body would be taken for the next request on this connection.
  if (!request.complete) response.setHeader('Connection', 'close');
  if (!started) response.setHeader(NOT_RUN_HEADER, '1');
  const text = `${error.message}\n`;
  response.writeHead(statusOf(error.code), {
    'Content-Type': 'text/plain; charset=UTF-8',
    'Content-Length': Buffer.byteLength(text),
    'X-ClickHouse-Exception-Code': String(error.code),
  });
  response.end(text);
}

export function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}
