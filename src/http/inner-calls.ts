import { DomainError, type Issue } from '../engine/errors.js';
import { requireScopes } from '../engine/identity/scopes.js';
import { UnknownNames } from '../engine/validation/unknown-names.js';
import type { FairSemaphore } from '../engine/work/fair-semaphore.js';
import { MAX_ANSWER_BYTES, type AskedCall } from './api-calls.js';
import { toProblem, type ProblemDetails } from './errors.js';
import { readingOf } from './handler.js';
import { namesHeader, UNKNOWN_FIELDS } from './names-header.js';
import type { HandlerResult, RequestContext, Route } from './route.js';

/** What a call is answered: JSON, or the problem. */
export type InnerAnswer =
  { readonly text: string; readonly headers: Readonly<Record<string, string>> } | { readonly problem: ProblemDetails };

export interface InnerCallsParts {
  readonly routes: readonly Route[];
  /** Turns of projects at routes whose answers may be large. */
  readonly answers: Pick<FairSemaphore, 'take'>;
  readonly onFailed: (failure: { readonly requestId: string; readonly error: unknown }) => void;
}

type Caller = RequestContext<unknown, unknown, unknown>;

/**
 * Calls of routes by a route, for the caller of that: what the key may do, how path, query and body are read, and whose turn it is
 * are as for any other request.
 */
export class InnerCalls {
  readonly #parts: InnerCallsParts;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #readings = new Map<string, ReturnType<typeof readingOf>>();

  constructor(parts: InnerCallsParts) {
    this.#parts = parts;
    this.#routes = new Map(parts.routes.map((route) => [route.operationId, route]));
  }

  /** @param body what a client would send as JSON */
  async call(operationId: string, asked: AskedCall, body: unknown, caller: Caller): Promise<InnerAnswer> {
    try {
      return await this.#answer(this.#route(operationId), asked, body, caller);
    } catch (error) {
      // No one waits for the answer anymore.
      if (caller.signal.aborted) throw error;
      const { problem, defect } = toProblem(error, caller.requestId);
      if (defect) this.#parts.onFailed({ requestId: caller.requestId, error });
      return { problem };
    }
  }

  #route(operationId: string): Route {
    const route = this.#routes.get(operationId);
    if (route?.access !== 'key') throw new Error(`no route ${operationId} that needs a key`);
    return route;
  }

  async #answer(route: Route, asked: AskedCall, sent: unknown, caller: Caller): Promise<InnerAnswer> {
    const { principal, signal } = caller;
    const { scopes, parseParams, parseQuery } = this.#readingOf(route);
    requireScopes(principal, scopes);
    const found: Issue[] = [];
    // The project is that of the key, whatever was asked.
    const params = parseParams({ ...asked.params, ...projectOf(route, principal.project_id) }, found);
    const unknown = new UnknownNames();
    const query = parseQuery(asked.query, { unknown, found });
    const body = route.body?.decode(Buffer.from(JSON.stringify(sent ?? null)), 'application/json', unknown);
    const endTurn = route.bulk !== undefined ? await this.#parts.answers.take(principal.project_id, signal) : undefined;
    try {
      const result = await route.handle({ ...caller, params, query, body, unknown });
      const names = unknown.some ? { [UNKNOWN_FIELDS]: namesHeader(unknown.names) } : {};
      return { text: await textOf(result), headers: { ...result.headers, ...names } };
    } finally {
      endTurn?.();
    }
  }

  #readingOf(route: Route): ReturnType<typeof readingOf> {
    const known = this.#readings.get(route.operationId) ?? readingOf(route);
    this.#readings.set(route.operationId, known);
    return known;
  }
}

function projectOf({ params }: Route, projectId: string): Readonly<Record<string, string>> {
  return params !== undefined && 'project_id' in params.properties ? { project_id: projectId } : {};
}

/** @throws DomainError `too_large` */
async function textOf(result: HandlerResult): Promise<string> {
  if ('body' in result) return bounded(JSON.stringify(result.body)).toString();
  if ('json' in result) return bounded(result.json).toString();
  if ('content' in result) return bounded(result.content).toString();
  if (!('stream' in result)) return '';
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of result.stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop ends the source.
    if (bytes > MAX_ANSWER_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString();
}

function bounded(content: string | Buffer): string | Buffer {
  if (content.length > MAX_ANSWER_BYTES) throw tooLarge();
  return content;
}

function tooLarge(): DomainError {
  return new DomainError(
    'too_large',
    `The answer has more than ${MAX_ANSWER_BYTES} bytes: ask for fewer rows or fields`,
  );
}
