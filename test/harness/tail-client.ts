import { get, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { TestServer } from './server.js';

export interface TailEvent {
  /** `rows`, `gap`, or `comment`. */
  readonly name: string;
  readonly id: string | null;
  // Tests look into rows of every shape; a wrong guess fails an assertion.
  readonly data: any;
}

/** A client of server-sent events. */
export class TailClient {
  readonly events: TailEvent[] = [];
  status = 0;
  headers: IncomingHttpHeaders = {};
  /** What was answered instead of events. */
  body = '';
  closed = false;
  /** Whether it ended, and was not cut off. */
  complete = false;
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;
  #text = '';
  #wake = (): void => undefined;

  private constructor({ url, key: serverKey }: Pick<TestServer, 'url' | 'key'>, path: string, options: TailOptions) {
    const { key = serverKey, headers = {} } = options;
    this.#request = get(url + path, { agent: false, headers: { authorization: `Bearer ${key}`, ...headers } });
    this.#request.on('error', () => this.#closed());
    this.#request.on('response', (response) => {
      this.#response = response;
      this.status = response.statusCode ?? 0;
      this.headers = response.headers;
      response.setEncoding('utf8');
      response.on('data', (text: string) => this.#took(text));
      response.on('error', () => undefined);
      response.on('close', () => {
        this.complete = response.complete;
        this.#closed();
      });
    });
  }

  /** Resolves once it is open, or was refused. */
  static async open(
    server: Pick<TestServer, 'url' | 'key'>,
    path: string,
    options: TailOptions = {},
  ): Promise<TailClient> {
    const client = new TailClient(server, path, options);
    await client.until(() => client.events.length > 0 || client.closed);
    return client;
  }

  named(name: string): TailEvent[] {
    return this.events.filter((event) => event.name === name);
  }

  /** All rows so far. */
  get rows(): any[] {
    return this.named('rows').flatMap(({ data }) => data as unknown[]);
  }

  get skipped(): number {
    return this.named('gap').reduce((sum, { data }) => sum + (data.skipped as number), 0);
  }

  get lastId(): string {
    return this.events.findLast(({ id }) => id !== null)?.id ?? '';
  }

  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  async until(holds: () => boolean, withinMs = 120_000): Promise<void> {
    const end = performance.now() + withinMs;
    while (!holds()) {
      const left = end - performance.now();
      if (left <= 0) throw new Error(`not within ${withinMs} ms; so far ${JSON.stringify(this.events).slice(0, 2000)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #took(text: string): void {
    if (this.status !== 200) this.body += text;
    this.#text += text;
    for (let end = this.#text.indexOf('\n\n'); end !== -1; end = this.#text.indexOf('\n\n')) {
      this.events.push(eventOf(this.#text.slice(0, end)));
      this.#text = this.#text.slice(end + 2);
    }
    this.#wake();
  }

  #closed(): void {
    this.closed = true;
    this.#wake();
  }
}

export interface TailOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function eventOf(text: string): TailEvent {
  const of = new Map(
    text.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
    }),
  );
  const data = of.get('data');
  return {
    name: of.get('event') ?? 'comment',
    id: of.get('id') ?? null,
    data: data === undefined ? of.get('') : (JSON.parse(data) as unknown),
  };
}
