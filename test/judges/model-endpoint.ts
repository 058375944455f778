import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A chat-completions request as it arrived. */
export interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  // Tests look into requests of every shape; a wrong guess fails an assertion.
  readonly body: any;
  /** When it arrived, in milliseconds. */
  readonly at: number;
  /** The content of the last message, with the code of its tags: chance may put any word of hexadecimal digits into that, such as `bad`. */
  readonly last: string;
}

/** What the endpoint does with a request. */
export type Script =
  | {
      readonly do: 'answer';
      readonly content: string;
      readonly delayMs?: number;
      /** The answer waits for this, too. */
      readonly after?: Promise<unknown>;
      readonly with?: object;
      readonly usage?: object | null;
    }
  | {
      readonly do: 'status';
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
    }
  /** The connection is cut before anything is answered, or in the middle. */
  | { readonly do: 'cut'; readonly after?: 'nothing' | 'half' }
  /** Headers and a beginning come at once, the rest byte by byte and never to its end. */
  | { readonly do: 'drip' }
  | { readonly do: 'hang' }
  | { readonly do: 'raw'; readonly text: string };

export const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };

export const passing = { reason: 'It is fine.', passed: true, confidence: 0.9 };
export const failing = { reason: 'It is not.', passed: false, confidence: 0.8 };
/** @param after milliseconds, or what is to happen before */
export const answer = (verdict: object, after: number | Promise<unknown> = 0): Script => ({
  do: 'answer',
  content: JSON.stringify(verdict),
  ...(typeof after === 'number' ? { delayMs: after } : { after }),
});

/** A real server on loopback that speaks as much of the OpenAI API as judges ask, as its script says. */
export class ModelEndpoint {
  readonly url: string;
  readonly asked: Asked[] = [];
  /** Decides what happens with a request. */
  script: (asked: Asked, index: number) => Script = () => answer(passing);
  underWay = 0;
  /** The most requests that were under way at once. */
  most = 0;
  readonly #server;

  private constructor(server: ReturnType<typeof createServer>, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}/v1`;
  }

  /** @param port one that another endpoint had; default: any */
  static async start(port = 0): Promise<ModelEndpoint> {
    const server = createServer((request, response) => {
      endpoint.#take(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const endpoint: ModelEndpoint = new ModelEndpoint(server, (server.address() as AddressInfo).port);
    return endpoint;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Answers with this from now on, and forgets what was asked. */
  reset(script: (asked: Asked, index: number) => Script = () => answer(passing)): void {
    this.script = script;
    this.asked.length = 0;
    this.most = this.underWay;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { messages?: { content: string }[] };
    const asked: Asked = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body,
      at: Date.now(),
      last: body.messages?.at(-1)?.content ?? '',
    };
    this.asked.push(asked);
    this.underWay += 1;
    this.most = Math.max(this.most, this.underWay);
    response.once('close', () => (this.underWay -= 1));
    await this.#play(this.script(asked, this.asked.length - 1), asked, response);
  }

  async #play(script: Script, { body }: Asked, response: ServerResponse): Promise<void> {
    const json = { 'content-type': 'application/json' };
    switch (script.do) {
      case 'answer': {
        // Whoever asked may have left long before.
        if (script.delayMs !== undefined && script.delayMs > 0) await sleep(script.delayMs, undefined, { ref: false });
        await script.after;
        const message = { role: 'assistant', content: script.content, refusal: null, ...script.with };
        const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }];
        const usage = script.usage === undefined ? USAGE : script.usage;
        const common = { id: 'chatcmpl-1', object: 'chat.completion', created: 1_767_225_600, model: body.model };
        response.writeHead(200, json).end(JSON.stringify({ ...common, choices, ...(usage === null ? {} : { usage }) }));
        return;
      }
      case 'status':
        response.writeHead(script.status, { ...json, ...script.headers });
        response.end(JSON.stringify(script.body ?? { error: { message: `scripted ${script.status}` } }));
        return;
      case 'cut':
        if (script.after === 'half') {
          response.writeHead(200, { ...json, 'content-length': '1000' }).write('{"id": "chat');
          await sleep(20);
        }
        response.destroy();
        return;
      case 'drip':
        response.writeHead(200, json);
        while (!response.destroyed) {
          response.write(' ');
          await sleep(50);
        }
        return;
      case 'hang':
        return;
      case 'raw':
        response.writeHead(200, json).end(script.text);
    }
  }
}
