import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Longer than anything takes, also on a machine that is busy with other tests. */
const WITHIN_MS = 120_000;

export interface RawRequest {
  readonly port: number;
  readonly path: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Address of ours to connect from. */
  readonly from?: string;
}

/** A connection that says what it wants, when it wants. */
export class RawClient {
  readonly socket: Socket;
  received = '';
  closed = false;

  constructor(port: number, from?: string) {
    this.socket = connect({ port, host: '127.0.0.1', ...(from === undefined ? {} : { localAddress: from }) });
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => (this.received += text));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => (this.closed = true));
  }

  /** The headers of a POST and the beginning of its body. */
  static post({ port, path, key, headers = {}, from }: RawRequest, beginning: string | Buffer = ''): RawClient {
    const client = new RawClient(port, from);
    const lines = Object.entries({
      host: '127.0.0.1',
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    client.socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    client.socket.write(beginning);
    return client;
  }

  /** Status of the answer once it is there. */
  async status(withinMs = WITHIN_MS): Promise<number> {
    const until = Date.now() + withinMs;
    for (;;) {
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(this.received) ?? [];
      if (status !== undefined) return Number(status);
      if (this.closed || Date.now() > until) throw new Error(this.closed ? 'closed without an answer' : 'no answer');
      await delay(10);
    }
  }

  async end(withinMs = WITHIN_MS): Promise<void> {
    const until = Date.now() + withinMs;
    while (!this.closed) {
      if (Date.now() > until) throw new Error('The connection stays open');
      await delay(10);
    }
  }
}
