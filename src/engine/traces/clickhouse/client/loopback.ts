import { once } from 'node:events';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parseError, type ClickHouseClientConfigOptions } from '@clickhouse/client';
import { NotRunError } from './client-errors.js';
import { drained } from './drained.js';
import { NOT_RUN_HEADER, type ClickHouseEndpoint } from './endpoint.js';
import { searchParams } from './request-url.js';

type Connection = NonNullable<ClickHouseClientConfigOptions['connection']>;
type Sent = Pick<Parameters<Connection['query']>[0], 'query' | 'query_params' | 'clickhouse_settings' | 'abort_signal'>;

export interface LoopbackOptions {
  /** After how long a socket on which nothing happens is given up. */
  readonly timeoutMs: number;
  readonly maxConnections: number;
}

/**
 * The library's connection to the embedded engine. Its default one sleeps before every request, a millisecond and more, to
 * learn of connections that went stale meanwhile (https://github.com/ClickHouse/clickhouse-js/pull/296); those to a
 * process of this machine end with it alone. Everything else is the library's.
 */
export class LoopbackConnection implements Connection {
  readonly #endpoint: ClickHouseEndpoint;
  readonly #agent: Agent;
  readonly #timeoutMs: number;

  constructor(endpoint: ClickHouseEndpoint, { timeoutMs, maxConnections }: LoopbackOptions) {
    this.#endpoint = endpoint;
    this.#timeoutMs = timeoutMs;
    this.#agent = new Agent({ keepAlive: true, maxSockets: maxConnections });
  }

  async query(params: Parameters<Connection['query']>[0]) {
    const response = await this.#answer(params, { body: params.query });
    return { ...RESULT, stream: response as Readable };
  }

  async exec({ values, ...params }: Parameters<Connection['exec']>[0]) {
    const sent = values === undefined ? { body: params.query } : { query: params.query, body: await piecesOf(values) };
    const response = await this.#answer(params, sent);
    return { ...RESULT, stream: response as Readable };
  }

  async insert({ values, ...params }: Parameters<Connection['insert']>[0]) {
    const body = typeof values === 'string' ? values : await piecesOf(values);
    await drained(await this.#answer(params, { query: params.query, body }));
    return RESULT;
  }

  async command(params: Parameters<Connection['command']>[0]) {
    await drained(await this.#answer(params, { body: params.query }));
    return RESULT;
  }

  async ping(params: Parameters<Connection['ping']>[0]) {
    try {
      await drained(await this.#answer({ ...params, query: '' }, { body: 'SELECT 1' }));
      return { success: true as const };
    } catch (error) {
      return { success: false as const, error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  close(): Promise<void> {
    this.#agent.destroy();
    return Promise.resolve();
  }

  /** @throws ClickHouseError, NotRunError, or an error of node's when no answer comes. */
  async #answer(
    { query_params, clickhouse_settings, abort_signal }: Sent,
    { query, body }: { readonly query?: string; readonly body: string | readonly Buffer[] },
  ): Promise<IncomingMessage> {
    const pieces = typeof body === 'string' ? [body] : body;
    const { socketPath, username, password, database } = this.#endpoint;
    const search = searchParams({ database, query, query_params, clickhouse_settings });
    const sent = request({
      ...(socketPath !== undefined && { socketPath }),
      path: `/?${search.toString()}`,
      method: 'POST',
      agent: this.#agent,
      timeout: this.#timeoutMs,
      auth: `${username}:${password}`,
      headers: { 'content-length': pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0) },
      ...(abort_signal ? { signal: abort_signal } : {}),
    });
    sent.once('timeout', () => sent.destroy(new Error('Timeout error.')));
    sent.cork();
    for (const piece of pieces) sent.write(piece);
    sent.end();
    const response = await responseTo(sent);
    if (response.statusCode === 200) return response;
    const refusal = parseError(await text(response));
    throw response.headers[NOT_RUN_HEADER] === undefined ? refusal : new NotRunError(refusal);
  }
}

const RESULT = { query_id: '', response_headers: {} };

async function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  // From here on errors are the response's; an unhandled one of the request would end the process.
  sent.on('error', () => undefined);
  return response;
}

/** The pieces of a body as they come: an insert may be large, and needs no copy of them in one piece. */
async function piecesOf(values: Readable): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of values as AsyncIterable<Buffer>) pieces.push(piece);
  return pieces;
}
