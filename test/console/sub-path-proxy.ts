import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that came to the proxy, and what it was answered. */
export interface Passed {
  readonly method: string;
  readonly path: string;
  /** What the browser says it comes from; null: it does not say. */
  readonly origin: string | null;
  readonly status: number;
}

/** A reverse proxy that serves a server below a path of its own, as nginx does; beside that path it has nothing. */
export class SubPathProxy {
  readonly passed: Passed[] = [];
  /** Where requests go. */
  target = '';
  readonly #server: Server;
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
    this.#server = createServer((request, response) => this.#pass(request, response));
  }

  static async start(path: string): Promise<SubPathProxy> {
    const proxy = new SubPathProxy(path);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Of the server, as browsers know it. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#path}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '', headers } = request;
    const note = (status: number) => this.passed.push({ method, path: url, origin: headers.origin ?? null, status });
    if (!url.startsWith(`${this.#path}/`)) {
      note(404);
      response.writeHead(404).end('The proxy has nothing here');
      return;
    }
    // The server is known by an address that no browser knows.
    const { host } = new URL(this.target);
    const options = { method, headers: { ...headers, host } };
    const onward = forward(this.target + url.slice(this.#path.length), options, (answer) => {
      const { statusCode = 502 } = answer;
      note(statusCode);
      response.writeHead(statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  }
}
