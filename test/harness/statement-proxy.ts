import {
  createServer,
  request as forward,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** What is answered in the server's place: rows, or a refusal with a code of ClickHouse. */
export type Reply = { readonly rows: readonly object[] } | { readonly code: number; readonly text?: string };

export interface StatementProxy {
  readonly url: string;
  /** Every statement that came in, without the data of inserts. */
  readonly statements: string[];
  /** Answers a statement in the server's place; undefined: the server answers. */
  reply: (statement: string) => Reply | undefined;
  /** What the server is sent instead. */
  rewrite: (statement: string) => string;
  /** What a statement waits for on its way to the server. Default: nothing. */
  hold: (statement: string) => Promise<void> | undefined;
  /** As `hold`, for the latter part of an insert's data: the server has the first part meanwhile. */
  holdRest: (statement: string) => Promise<void> | undefined;
  stop(): Promise<void>;
}

/** An HTTP proxy in front of a ClickHouse, for versions, users and clusters that this machine has none of. */
export async function startStatementProxy(target: string): Promise<StatementProxy> {
  const server = createServer((request, response) => {
    // A client or server that went away meanwhile has nothing to be told.
    handle(proxy, target, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: StatementProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    statements: [],
    reply: () => undefined,
    rewrite: (statement) => statement,
    hold: () => undefined,
    holdRest: () => undefined,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

async function handle(
  proxy: StatementProxy,
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // An insert has its statement in the URL and its data in the body.
  const inUrl = new URL(request.url ?? '', target).searchParams.get('query');
  const rest = inUrl === null ? undefined : proxy.holdRest(inUrl);
  if (rest !== undefined) return passedInParts(target, request, response, rest);
  const sent = await plain(request);
  const statement = inUrl ?? sent.toString();
  proxy.statements.push(statement);
  const reply = proxy.reply(statement);
  if (reply === undefined) {
    await proxy.hold(statement);
    const body = inUrl === null ? Buffer.from(proxy.rewrite(statement)) : sent;
    const answer = await passed(target, request, body, inUrl === null ? null : proxy.rewrite(inUrl));
    response.writeHead(answer.statusCode ?? 500, answer.headers).end(await buffer(answer));
  } else if ('rows' in reply) {
    response.end(reply.rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  } else {
    response.writeHead(500, { 'X-ClickHouse-Exception-Code': String(reply.code) });
    response.end(`Code: ${reply.code}. DB::Exception: ${reply.text ?? 'refused by the proxy'}. (REFUSED)\n`);
  }
}

async function plain(request: IncomingMessage): Promise<Buffer> {
  const sent = await buffer(request);
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
}

function passed(
  target: string,
  { url, method, headers }: IncomingMessage,
  body: Buffer,
  inUrl: string | null,
): Promise<IncomingMessage> {
  const { 'transfer-encoding': _, 'content-encoding': __, ...kept } = headers;
  const address = new URL(url ?? '', target);
  if (inUrl !== null) address.searchParams.set('query', inUrl);
  const sent = forward(address, { method, headers: { ...kept, 'content-length': body.length } });
  sent.end(body);
  return answerTo(sent);
}

async function passedInParts(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  rest: Promise<void>,
): Promise<void> {
  const sent = forward(new URL(request.url ?? '', target), { method: request.method, headers: request.headers });
  const answer = answerTo(sent);
  answer.catch(() => undefined);
  let parts = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    if (parts++ === 1) await rest;
    sent.write(part);
  }
  sent.end();
  const from = await answer;
  response.writeHead(from.statusCode ?? 500, from.headers).end(await buffer(from));
}

function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => sent.once('response', resolve).once('error', reject));
}
