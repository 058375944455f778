import { Readable } from 'node:stream';
import { Type, type TSchema } from '@sinclair/typebox';
import { DomainError } from '../../../engine/errors.js';
import type { Lists, Page } from '../../../engine/traces/model/list/lists.js';
import { oneSpan, traceOrSession } from '../../../engine/traces/model/list/one.js';
import { SessionRead, SpanRead, TraceRead } from '../../../engine/traces/model/list/read-schemas.js';
import { uuid } from '../../../engine/schema/parts.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, type SerializedResult } from '../../../http/route.js';
import { NOT_CURRENT_HEADERS, notCurrentHeaders } from './object-headers.js';

type Kind = 'span' | 'trace' | 'session';

/** Names the trace of a span whose id several traces have. */
export const spanQuery = queryOf(
  Type.Object({
    trace_id: Type.Optional(uuid('Trace of the span; required if several traces have a span with this id.')),
  }),
);

/** `GET /spans/{id}`, `/traces/{id}` and `/sessions/{id}`. */
export function getRoutes(lists: Lists) {
  return [
    defineRoute({
      ...shared(
        'span',
        SpanRead,
        ' Without `trace_id`, an id that spans of several traces share is a conflict that names these traces.',
      ),
      query: spanQuery,
      params: Type.Object({ id: uuid('Id of the span.') }),
      errors: ['not_found', 'conflict', 'invalid', 'unavailable'],
      async handle({ principal, params: { id }, query: { trace_id: traceId = null }, signal }) {
        return answer('span', traceId, await oneSpan(lists, principal.project_id, { id, traceId }, signal));
      },
    }),
    getByIdRoute('trace', TraceRead, lists),
    getByIdRoute('session', SessionRead, lists),
  ];
}

// The schema's type is that of the answer.
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
function getByIdRoute<const W extends 'trace' | 'session', S extends TSchema>(what: W, schema: S, lists: Lists) {
  return defineRoute({
    ...shared(what, schema),
    params: Type.Object({ id: uuid(`Id of the ${what}.`) }),
    errors: ['not_found', 'invalid', 'unavailable'],
    async handle({ principal, params: { id }, signal }) {
      return answer(what, id, await traceOrSession(lists, `${what}s`, principal.project_id, id, signal));
    },
  });
}

function shared<const W extends Kind, S extends TSchema>(what: W, schema: S, more = '') {
  return {
    method: 'GET',
    path: `/${what}s/:id`,
    operationId: `get${what.charAt(0).toUpperCase()}${what.slice(1)}`,
    summary: `Get a ${what}`,
    description: `Returns the ${what} as the list of ${what}s has it, including the server's own model calls.${more}`,
    tag: 'Traces',
    access: 'key',
    bulk: true,
    responses: { 200: { description: `The ${what}.`, schema, headers: NOT_CURRENT_HEADERS } },
  } as const;
}

async function answer(what: Kind, concerned: string | null, { json, notCurrent }: Page): Promise<SerializedResult> {
  const object = await onlyElement(json);
  if (object === null) throw new DomainError('not_found', `There is no ${what} with this id`);
  const headers = notCurrentHeaders(notCurrent.filter((id) => id === concerned));
  const answered = { status: 200, headers };
  if (Buffer.isBuffer(object)) return { ...answered, json: object };
  return { ...answered, stream: object, contentType: 'application/json; charset=utf-8' };
}

/** The object in the bytes of an array of one, which may be too large to be held; null: the array is empty. */
async function onlyElement(json: Readable | Buffer): Promise<Readable | Buffer | null> {
  if (Buffer.isBuffer(json)) return json.length <= EMPTY ? null : json.subarray(1, -1);
  const chunks = json[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
  let head = Buffer.alloc(0);
  while (head.length <= EMPTY) {
    const next = await chunks.next();
    if (next.done === true) return null;
    head = Buffer.concat([head, next.value]);
  }
  return Readable.from(withoutBrackets(head, chunks), { objectMode: false });
}

/** Bytes of `[]`. */
const EMPTY = 2;

async function* withoutBrackets(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = head.subarray(1);
  for await (const chunk of rest) {
    if (chunk.length === 0) continue;
    yield held;
    held = chunk;
  }
  yield held.subarray(0, -1);
}
