import { Type } from '@sinclair/typebox';
import { DomainError } from '../engine/errors.js';
import { FairSemaphore } from '../engine/work/fair-semaphore.js';
import { mayChange, requireSomeRead } from '../engine/identity/scopes.js';
import type { InnerCalls } from '../http/inner-calls.js';
import { defineRoute } from '../http/route.js';
import { parseAndFree } from '../http/wire/json.js';

export interface McpRouteParts {
  readonly calls: Pick<InnerCalls, 'call'>;
  readonly version: string;
  readonly onFailed: (failure: { readonly requestId: string; readonly error: unknown }) => void;
}

/** A message is a question of an agent, with a body of an API call at most. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
const MAX_DEPTH = 64;
/** Messages that are answered together: what a tool reads is in memory until its result is cut. */
const TURNS = { atOnce: 8, perParty: 2, maxWaitMs: 30_000, maxWaiting: 50 };

/**
 * `POST /mcp`: the Model Context Protocol by its streamable HTTP transport, without sessions. It is no call of the API but another
 * way to make them, and not in its document.
 */
export function mcpRoute({ calls, version, onFailed }: McpRouteParts) {
  const turns = new FairSemaphore('MCP messages', TURNS);
  return defineRoute({
    method: 'POST',
    path: '/mcp',
    operationId: 'answerMcp',
    summary: 'Answer an MCP message',
    description: 'Answers a message of the Model Context Protocol.',
    tag: 'Operations',
    access: 'key',
    // What a tool needs, its call asks for.
    scopes: [],
    hidden: true,
    body: {
      contentTypes: ['application/json'],
      maxBytes: MAX_MESSAGE_BYTES,
      schema: Type.Unknown({ description: 'A JSON-RPC message.' }),
      decode: (bytes) => messageIn(parseAndFree(bytes, MAX_DEPTH)),
    },
    responses: { 200: { description: 'A JSON-RPC message.', contentType: 'application/json', schema: Type.Unknown() } },
    errors: ['overloaded'],
    async handle(context) {
      const { principal, headers, body, requestId } = context;
      requireSomeRead(principal);
      // The protocol's library is loaded by the first who needs it.
      const { answerMcp } = await import('./answer.js');
      const answer = () =>
        answerMcp(
          {
            caller: { call: ({ id }, asked, sent) => calls.call(id, asked, sent, context) },
            projectId: principal.project_id,
            mayChange: mayChange(principal),
            version,
            onFailed(error) {
              if (!context.signal.aborted) onFailed({ requestId, error });
            },
          },
          headers,
          body,
        );
      return turns.run(principal.project_id, answer, context.signal);
    },
  });
}

/** @throws DomainError `malformed` for several messages at once, which the protocol has no longer, and which nothing would bound */
function messageIn(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new DomainError('malformed', 'The body must be one JSON-RPC message');
}
