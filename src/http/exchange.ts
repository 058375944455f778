import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import type { Principal } from '../engine/identity/identity.js';
import type { Denied } from '../engine/signals/catalog/requests.js';
import type { RequestObserver } from '../engine/signals/tracing.js';
import { networkOf } from './wire/client-address.js';
import { free } from './wire/freed.js';
import { lingerUntilSent } from './body.js';
import {
  COMPRESSED_FROM_BYTES,
  compressor,
  smallOrStream,
  answerEncoding,
  type AnswerEncoding,
} from './compression.js';
import { watchDelivery, type DeliveryLimits } from './delivery.js';
import { ClientGoneError, toProblem } from './errors.js';
import { requestIdOf } from './request-id.js';
import type { ErrorRenderer, HandlerResult, RequestLog } from './route.js';

/** A logger that can carry the request id. */
export interface RequestLogger extends RequestLog {
  child(fields: Readonly<Record<string, unknown>>): RequestLog;
}

/** Status in log and metrics when the client left before it got an answer. */
const CLIENT_CLOSED_REQUEST = 499;
/** A client that takes nothing for this long is given up, whatever rate is asked of it. */
const STALLED_CLIENT_MS = 60_000;
/** A longer answer is handed over in pieces of this size, so that it can be told how much of it the client has taken. */
const PIECE_BYTES = 64 * 1024;

export interface ExchangeParts {
  readonly observer: RequestObserver;
  /** Headers of every answer, unless the answer states them itself. */
  readonly commonHeaders: Readonly<Record<string, string>>;
  readonly delivery: DeliveryLimits;
  /** Where a request comes from. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/** Who is refused there is told of as a sign-in. */
const SIGNING_IN = /^\/console\/(?:session(?::|$)|sso(?:\/|$))/;

/** One request and its answer, from the first header to the last byte. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Set by the route that took the request. */
  route = 'unmatched';
  renderError: ErrorRenderer | undefined;
  /** Set as soon as it is known. */
  principal: Principal | null = null;
  readonly #observer: RequestObserver;
  readonly #delivery: DeliveryLimits;
  readonly #addressOf: ExchangeParts['addressOf'];
  #reason: string | undefined;
  #denied: Denied | undefined;
  #signal: AbortSignal | undefined;
  /** Collected here and handed over at once: that is Node's fast path. */
  readonly #headers: Record<string, string | number>;
  readonly #startedAt = performance.now();
  #lasting = false;
  /** When an answer began that goes on for as long as its client likes. */
  #beganAt: number | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, parts: ExchangeParts) {
    const { observer, commonHeaders, delivery, addressOf } = parts;
    this.request = request;
    this.response = response;
    this.#observer = observer;
    this.#delivery = delivery;
    this.#addressOf = addressOf;
    this.requestId = requestIdOf(request.headers['x-request-id']);
    this.#headers = { ...commonHeaders, 'X-Request-Id': this.requestId };
    response.once('close', () => this.#finished());
  }

  /** A header of the answer, whatever that will be. */
  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  /** Aborts when the client goes away before it has the whole answer. */
  abortSignal(): AbortSignal {
    return (this.#signal ??= this.#makeSignal());
  }

  #makeSignal(): AbortSignal {
    const controller = new AbortController();
    const { response } = this;
    const gone = () => {
      if (!response.writableFinished) controller.abort(new ClientGoneError());
    };
    if (response.destroyed) gone();
    else response.once('close', gone);
    return controller.signal;
  }

  /** Calls back once the client has the whole answer, or is gone. */
  whenClosed(listener: () => void): void {
    if (this.response.destroyed) listener();
    else this.response.once('close', listener);
  }

  async send(result: HandlerResult): Promise<void> {
    const { status, headers = {} } = result;
    if ('stream' in result) this.#lasting = result.lasting === true;
    if ('stream' in result) await this.#sendStream(result.stream, status, result.contentType, headers);
    else if ('json' in result) {
      const { json, once } = result;
      // Not where the client has left: a compressor may be at it yet.
      if (once === true && typeof json !== 'string') this.response.once('finish', () => free(json));
      await this.#sendContent(status, 'application/json', json, headers);
    } else if ('content' in result) await this.#sendContent(status, result.contentType, result.content, headers);
    else if ('body' in result)
      await this.#sendContent(status, 'application/json', JSON.stringify(result.body), headers);
    else this.#writeHead(status, headers).end();
  }

  /** Answers with the problem an error stands for; once the answer has begun, cuts it off instead. */
  fail(error: unknown): void {
    if (error instanceof ClientGoneError || this.response.destroyed) {
      this.response.destroy();
      return;
    }
    const { problem, headers, defect } = toProblem(error, this.requestId);
    this.#reason = problem.detail;
    if (problem.status === 401 || problem.status === 403) this.#deny();
    if (defect) this.#observer.requestFailed({ requestId: this.requestId, error });
    if (this.response.headersSent) {
      this.response.destroy();
      return;
    }
    const rendered = this.renderError?.(problem, this.request);
    const { contentType, content } = rendered ?? {
      contentType: 'application/problem+json',
      content: JSON.stringify(problem),
    };
    if (hasBody(this.request)) lingerUntilSent(this.request, this.response);
    this.#sendBytes(problem.status, contentType, content, { ...headers, ...rendered?.headers });
  }

  /** Noted now: later, the connection may be gone, and its address with it. */
  #deny(): void {
    if (SIGNING_IN.test(this.route)) return;
    const { principal } = this;
    const caller =
      principal === null
        ? {}
        : {
            project_id: principal.project_id,
            user_id: principal.user_id,
            key_id: principal.key_id,
            ...(principal.sign_in_id !== null && { sign_in_id: principal.sign_in_id }),
          };
    const address = this.#addressOf(this.request);
    this.#denied = { address, network: networkOf(address), caller };
  }

  async #sendContent(
    status: number,
    contentType: string,
    content: string | Buffer,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const encoding = content.length < COMPRESSED_FROM_BYTES ? null : answerEncoding(this.request, contentType);
    if (content.length <= PIECE_BYTES && encoding === null) {
      this.#sendBytes(status, contentType, content, headers);
      return;
    }
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const length = encoding === null ? { 'Content-Length': String(bytes.length) } : {};
    const pieces = Readable.from(piecesOf(bytes));
    await this.#sendPieces(pieces, status, contentType, { ...length, ...headers }, encoding);
  }

  #sendBytes(
    status: number,
    contentType: string,
    content: string | Buffer,
    headers?: Readonly<Record<string, string>>,
  ): void {
    this.response.setTimeout(STALLED_CLIENT_MS);
    this.#writeHead(status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(content), ...headers });
    // A string stays one: Node then sends headers and body in one write.
    this.response.end(content);
    // Nearly always the operating system has taken it at once.
    if (this.response.socket?.writableLength !== 0) this.response.once('close', this.#watchDelivery());
  }

  /** @returns what ends the watch */
  #watchDelivery(): () => void {
    return watchDelivery(this.response, this.#delivery, () => {
      this.#observer.answerCutOff({ requestId: this.requestId });
      this.response.destroy();
    });
  }

  async #sendStream(
    stream: Readable,
    status: number,
    contentType: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const encoding = answerEncoding(this.request, contentType);
    if (encoding === null) {
      await this.#sendPieces(stream, status, contentType, headers);
      return;
    }
    const content = await smallOrStream(stream);
    if (Buffer.isBuffer(content)) this.#sendBytes(status, contentType, content, headers);
    else await this.#sendPieces(content, status, contentType, headers, encoding);
  }

  async #sendPieces(
    stream: Readable,
    status: number,
    contentType: string,
    headers: Readonly<Record<string, string>>,
    encoding: AnswerEncoding | null = null,
  ): Promise<void> {
    // A source that fails at once can still be answered with an error.
    await firstBytes(stream);
    const encoded = encoding === null ? {} : { 'Content-Encoding': encoding, Vary: 'Accept-Encoding' };
    this.#writeHead(status, { 'Content-Type': contentType, ...headers, ...encoded });
    if (this.request.method === 'HEAD') {
      stream.destroy();
      this.response.end();
      return;
    }
    this.response.setTimeout(STALLED_CLIENT_MS);
    const end = this.#watchDelivery();
    let failed = false;
    // A source that fails once the client has left was ended for that reason.
    stream.once('error', () => (failed = !this.response.destroyed));
    try {
      if (encoding === null) await pipeline(stream, this.response);
      else await pipeline(stream, compressor(encoding), this.response);
    } catch (error) {
      // The answer is cut off by now; that must not go unseen unless it was the client who left.
      if (failed) this.#observer.requestFailed({ requestId: this.requestId, error });
    } finally {
      end();
    }
  }

  #writeHead(status: number, headers: Readonly<Record<string, string | number>>): ServerResponse {
    if (this.#lasting) {
      this.#beganAt = performance.now();
      this.#observer.answerGoesOn?.({ route: this.route, status });
    }
    return this.response.writeHead(status, Object.assign(this.#headers, headers));
  }

  #finished(): void {
    const { response, request } = this;
    this.#observer.requestFinished({
      route: this.route,
      method: request.method ?? 'GET',
      status: response.headersSent ? response.statusCode : CLIENT_CLOSED_REQUEST,
      seconds: ((this.#beganAt ?? performance.now()) - this.#startedAt) / 1000,
      requestId: this.requestId,
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      ...(this.#denied === undefined ? {} : { denied: this.#denied }),
    });
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function firstBytes(stream: Readable): Promise<void> {
  if (stream.readableLength > 0 || stream.readableEnded) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      stream.off('readable', settle).off('end', settle).off('error', settle).off('close', closed);
      if (error === undefined) resolve();
      else reject(error);
    };
    const closed = () => settle(stream.errored ?? new ClientGoneError());
    if (stream.destroyed) {
      closed();
      return;
    }
    stream.on('readable', settle).on('end', settle).on('error', settle).on('close', closed);
  });
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
