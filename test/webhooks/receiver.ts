import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../harness/until.js';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** How a path of the receiver answers: a status, nothing at all, or another protocol. */
export type Way =
  number | 'never' | 'switch' | { readonly status: number; readonly location: string } | { readonly endless: number };

/** As it is sent: the server of Node switches only when it is asked to. */
export const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';

/** A server that is told of events. */
export class Receiver {
  readonly received: Received[] = [];
  /** By path; default: 204. */
  readonly ways = new Map<string, Way>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const path = request.url ?? '';
        this.received.push({ path, headers: request.headers, text: Buffer.concat(chunks).toString() });
        const way = this.ways.get(path) ?? 204;
        if (way === 'never') return;
        if (way === 'switch') {
          response.socket?.write(SWITCH);
          return;
        }
        if (typeof way === 'number') response.writeHead(way).end(way === 204 ? '' : 'x'.repeat(5_000));
        else if ('endless' in way) {
          response.writeHead(way.endless);
          const write = (): void => {
            while (!response.destroyed && response.write('y'.repeat(65_536)));
            if (!response.destroyed) response.once('drain', write);
          };
          write();
        } else response.writeHead(way.status, { location: way.location }).end();
      });
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path: string, host = '127.0.0.1'): string {
    return `http://${host}:${this.port}${path}`;
  }

  at(path: string): Received[] {
    return this.received.filter((each) => each.path === path);
  }

  /** Waits until so many came to a path. */
  async came(path: string, count = 1): Promise<Received[]> {
    await until(`${count} at ${path}`, () => this.at(path).length >= count);
    return this.at(path);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
