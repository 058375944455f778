import { setTimeout as wait } from 'node:timers/promises';
import type { Problem } from './problem.js';
import { TransferError } from './transfer-error.js';

/** Statuses after which the same request may be taken. */
const AGAIN = new Set([429, 502, 503, 504]);
/** How long a server that does not answer, or is overloaded, is waited for. */
const PATIENCE_MS = 300_000;
const REQUEST_MS = 300_000;
const LONGEST_PAUSE_MS = 15_000;
const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|$)/i;

/** An answer, read to its end. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** A request that the server refuses for what it holds. */
export class RefusedError extends TransferError {
  readonly problem: Problem;
  /** Of the response. */
  readonly status: number;

  constructor(message: string, problem: Problem, status = problem.status ?? 0) {
    super(message);
    this.problem = problem;
    this.status = status;
  }
}

/** No answer came. */
export class UnansweredError extends TransferError {}

/** How a server is asked that is not one of ours. */
export interface RemoteOptions {
  /** The headers by which it knows who asks. */
  readonly credentials: Readonly<Record<string, string>>;
  /** The option by which it was named. */
  readonly option: string;
  /** How long it may say that it is to be left alone. */
  readonly longestPauseMs: number;
}

/** The public API of a server, with the key of a project; tries again what only came at a bad moment. */
export class Remote {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #patienceMs: number;
  readonly #option: string;
  readonly #longestPauseMs: number;

  constructor(url: string, key: string, patienceMs = PATIENCE_MS, options: Partial<RemoteOptions> = {}) {
    const { credentials = { authorization: `Bearer ${key}` }, option = '--url' } = options;
    this.url = url.replace(/\/+$/, '');
    this.#option = option;
    this.#longestPauseMs = options.longestPauseMs ?? LONGEST_PAUSE_MS;
    this.#headers = {
      ...credentials,
      'content-type': 'application/json',
      // What does not leave the machine is not worth to be compressed.
      ...(LOOPBACK.test(this.url) ? { 'accept-encoding': 'identity' } : {}),
    };
    this.#patienceMs = patienceMs;
  }

  get<T>(path: string): Promise<T> {
    return this.#send<T>('GET', path);
  }

  /** @param body JSON @param headers beside those of every request */
  post<T>(path: string, body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Promise<T> {
    return this.#send<T>('POST', path, { body, headers });
  }

  /** Sends bytes that are no JSON; the answer is none, either. */
  async postBytes(path: string, body: Buffer, contentType: string): Promise<Buffer> {
    const headers = { 'content-type': contentType, accept: contentType };
    const { status, bytes } = await this.#patiently(() => this.#try('POST', path, { body, headers }));
    if (isGood(status)) return bytes;
    const detail = printableIn(bytes);
    throw new RefusedError(`POST ${path} was refused with ${status}: ${detail}`, { status, detail }, status);
  }

  /** An answer in another format than JSON. @param accept its media type */
  text(path: string, accept: string): Promise<string> {
    return this.#answer('GET', path, { headers: { accept } }, ({ bytes }) => bytes.toString());
  }

  /** An answer whose body the caller reads, as it may be long. @param accept its media type */
  async open(path: string, accept: string): Promise<Response> {
    const response = await this.#patiently(() => this.#begun(path, accept));
    const { status, headers } = response;
    if (!isGood(status)) this.#read('GET', path, { status, headers, bytes: Buffer.from(await response.arrayBuffer()) });
    return response;
  }

  /** The project of the key. @throws TransferError when it is not the one that was named */
  async project(
    named: string | undefined,
  ): Promise<{ readonly id: string; readonly name: string; readonly version: string }> {
    const { project, version } = await this.get<{ project: { id: string; name: string }; version: string }>('/whoami');
    if (named !== undefined && named.toLowerCase() !== project.id)
      throw new TransferError(
        `The key is one of the project ${project.id} (${project.name}): give one of ${named} with --key`,
      );
    return { ...project, version };
  }

  /** For how many days a project keeps its traces (null: for ever), and when it was made there. */
  details(project: string): Promise<{ readonly retention_days: number | null; readonly created_at: string }> {
    return this.get(`/projects/${project}`);
  }

  #send<T>(method: string, path: string, more: RequestInit = {}): Promise<T> {
    return this.#answer(method, path, more, (answer) => this.#read(method, path, answer) as T);
  }

  async #answer<T>(method: string, path: string, more: RequestInit, read: (answer: Answer) => T): Promise<T> {
    const answer = await this.#patiently(() => this.#try(method, path, more));
    if (!isGood(answer.status)) this.#read(method, path, answer);
    return read(answer);
  }

  /** Tries until there is an answer that will not be another one soon. @param attempt gives it, or why there is none */
  async #patiently<T extends Pick<Answer, 'status' | 'headers'>>(attempt: () => Promise<T | string>): Promise<T> {
    const until = Date.now() + this.#patienceMs;
    for (let pause = 250; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
      const answer = await attempt();
      const late = Date.now() + pause > until;
      if (typeof answer !== 'string' && (late || !AGAIN.has(answer.status))) return answer;
      if (typeof answer === 'string' && late)
        throw new UnansweredError(
          `${this.url} does not answer (${answer}): start the server, or name another one with ${this.#option}`,
        );
      const asked = typeof answer === 'string' ? 0 : (Number(answer.headers.get('retry-after')) || 0) * 1000;
      await wait(Math.min(this.#longestPauseMs, Math.max(pause, asked)));
    }
  }

  /** @throws TransferError for a refusal, and for what is no answer of a Spanhouse */
  #read(method: string, path: string, answer: Answer): object {
    const { status, headers, bytes } = answer;
    const text = bytes.toString();
    const value = objectIn(text);
    const place = path.split('?', 1)[0] ?? '';
    if (value === undefined) {
      const type = headers.get('content-type')?.split(';', 1)[0] ?? 'nothing';
      throw new TransferError(
        `${method} ${this.url}${place} returned ${status} and ${type} instead of JSON: something in front of the server responded, such as a proxy with its own login, or another program. Name the server itself with ${this.#option}`,
      );
    }
    if (isGood(status)) return value;
    const problem = value as Problem;
    const detail = problem.detail ?? problem.message ?? text.slice(0, 200);
    throw new RefusedError(`${method} ${place} was refused with ${status}: ${detail}`, problem, status);
  }

  /** The answer, or why there is none. */
  async #try(method: string, path: string, { headers, ...more }: RequestInit): Promise<Answer | string> {
    try {
      const response = await fetch(this.url + path, {
        method,
        headers: { ...this.#headers, ...(headers as Readonly<Record<string, string>> | undefined) },
        // A server leads nowhere else: it is shown as what it is.
        redirect: 'manual',
        signal: AbortSignal.timeout(REQUEST_MS),
        ...more,
      });
      // What is cut off on its way is asked for again, too.
      return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
    } catch (error) {
      return reasonOf(error);
    }
  }

  /** An answer up to its body, or why there is none. */
  async #begun(path: string, accept: string): Promise<Response | string> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error('no answer in time')), REQUEST_MS);
    try {
      const headers = { ...this.#headers, accept };
      return await fetch(this.url + path, { headers, redirect: 'manual', signal: late.signal });
    } catch (error) {
      return reasonOf(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

const isGood = (status: number) => status >= 200 && status < 300;

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? message;
}

/** What of an answer in a format of bytes a person can read. */
function printableIn(bytes: Buffer): string {
  return bytes
    .toString('utf8', 0, 1000)
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, ' ')
    .trim();
}

/** Undefined: it is no JSON, or no object. */
function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
