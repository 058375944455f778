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
  readonly text: string;
}

/** A request that the server refuses for what it holds. */
export class RefusedError extends TransferError {
  readonly problem: Problem;

  constructor(message: string, problem: Problem) {
    super(message);
    this.problem = problem;
  }
}

/** No answer came. */
export class UnansweredError extends TransferError {}

/** The public API of a server, with the key of a project; tries again what only came at a bad moment. */
export class Remote {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #patienceMs: number;

  constructor(url: string, key: string, patienceMs = PATIENCE_MS) {
    this.url = url.replace(/\/+$/, '');
    this.#headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      // What does not leave the machine is not worth to be compressed.
      ...(LOOPBACK.test(this.url) ? { 'accept-encoding': 'identity' } : {}),
    };
    this.#patienceMs = patienceMs;
  }

  get<T>(path: string): Promise<T> {
    return this.#send<T>('GET', path);
  }

  /** @param body JSON */
  post<T>(path: string, body: string | Buffer): Promise<T> {
    return this.#send<T>('POST', path, body);
  }

  /** An answer in another format than JSON. @param accept its media type */
  text(path: string, accept: string): Promise<string> {
    return this.#answer('GET', path, { headers: { accept } }, ({ text }) => text);
  }

  /** An answer whose body the caller reads, as it may be long. @param accept its media type */
  async open(path: string, accept: string): Promise<Response> {
    const response = await this.#patiently(() => this.#begun(path, accept));
    const { status, headers } = response;
    if (!isGood(status)) this.#read('GET', path, { status, headers, text: await response.text() });
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

  #send<T>(method: string, path: string, body?: string | Buffer): Promise<T> {
    const more = body === undefined ? {} : { body };
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
          `${this.url} does not answer (${answer}): start the server, or name another one with --url`,
        );
      const asked = typeof answer === 'string' ? 0 : Number(answer.headers.get('retry-after') ?? 0) * 1000;
      await wait(Math.min(LONGEST_PAUSE_MS, Math.max(pause, asked)));
    }
  }

  /** @throws TransferError for a refusal, and for what is no answer of a Spanhouse */
  #read(method: string, path: string, { status, headers, text }: Answer): object {
    const value = objectIn(text);
    const place = path.split('?', 1)[0] ?? '';
    if (value === undefined) {
      const type = headers.get('content-type')?.split(';', 1)[0] ?? 'nothing';
      throw new TransferError(
        `${method} ${this.url}${place} returned ${status} and ${type} instead of JSON: something in front of the server responded, such as a proxy with its own login, or another program. Name the server itself with --url`,
      );
    }
    if (isGood(status)) return value;
    const problem = value as Problem;
    const detail = problem.detail ?? text.slice(0, 200);
    throw new RefusedError(`${method} ${place} was refused with ${status}: ${detail}`, problem);
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
      return { status: response.status, headers: response.headers, text: await response.text() };
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

/** Undefined: it is no JSON, or no object. */
function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
