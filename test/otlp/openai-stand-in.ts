import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the stand-in says to every question, and what it charges for it: 400 of the input tokens are cached ones. */
export const ANSWER = 'A span is one timed step.';
export const USAGE = {
  prompt_tokens: 1000,
  completion_tokens: 500,
  total_tokens: 1500,
  prompt_tokens_details: { cached_tokens: 400 },
  completion_tokens_details: { reasoning_tokens: 100 },
};
export const MODEL = 'gpt-4o-mini';
export const SNAPSHOT = 'gpt-4o-mini-2024-07-18';

export interface OpenAiStandIn {
  readonly url: string;
  stop(): Promise<void>;
}

/** A local server that speaks as much of the OpenAI API as instrumented clients ask: chat (streamed too), embeddings, errors. */
export async function startOpenAiStandIn(): Promise<OpenAiStandIn> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Asked {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked;
  if (asked.model === 'no-such-model') {
    const error = { message: 'The model does not exist', type: 'invalid_request_error', code: 'model_not_found' };
    response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  } else if (request.url === '/v1/embeddings') {
    const data = [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }];
    const usage = { prompt_tokens: 1000, total_tokens: 1000 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', model: asked.model, data, usage }));
  } else if (asked.stream === true) {
    stream(response);
  } else {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion()));
  }
}

const common = { id: 'chatcmpl-1', created: 1_767_225_600, model: SNAPSHOT };

function completion(): unknown {
  const message = { role: 'assistant', content: ANSWER, refusal: null };
  const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }];
  return { ...common, object: 'chat.completion', choices, usage: USAGE };
}

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (part: object) =>
    response.write(`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', ...part })}\n\n`);
  send({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] });
  for (const word of ANSWER.split(/(?= )/)) {
    send({ choices: [{ index: 0, delta: { content: word }, finish_reason: null }] });
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  send({ choices: [], usage: USAGE });
  response.end('data: [DONE]\n\n');
}
