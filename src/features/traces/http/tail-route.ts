import { Type } from '@sinclair/typebox';
import { DomainError } from '../../../engine/errors.js';
import type { ListDefinition } from '../../../engine/traces/model/list/definitions.js';
import { TAILS_PER_PROJECT, type State, type Tailed, type Tails } from '../../../engine/traces/model/list/tail.js';
import { tailQueryOf } from '../../../http/list-query.js';
import { NAMES_HEADERS, namesHeader, TAG_FILTERS } from '../../../http/names-header.js';
import { defineRoute } from '../../../http/route.js';
import { TailStream } from './tail-stream.js';

const TEXT = 'text/event-stream';

/** `GET /spans:tail` and `/traces:tail`. */
export function tailRoute<const N extends Tailed>(list: ListDefinition & { readonly name: N }, tails: Tails) {
  const { name } = list;
  return defineRoute({
    method: 'GET',
    path: `/${name}:tail` as const,
    operationId: `tail${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    summary: `Follow ${name}`,
    description: `Streams ${name} as they are written or changed, as server-sent events until the client disconnects. Filters and \`fields\` are those of \`GET /${name}\`. Event \`rows\`: an array of up to 200 ${name} as the list has them, newest first, at most twice a second. Event \`gap\`: \`{"skipped": 17}\`, so many more matched than are sent (of more than 200, of more than 1 MB, or because the client read too slowly); null: they were not counted. A comment every 15 seconds keeps the connection open. To resume up to ten minutes later, send the id of an event (\`Last-Event-ID\`, or \`after\`); older missed data is a gap. A project can have up to ${TAILS_PER_PROJECT} tails open at once.`,
    tag: 'Traces',
    access: 'key',
    query: tailQueryOf(list),
    responses: {
      200: {
        description: 'The events.',
        contentType: TEXT,
        schema: Type.String({ description: 'Server-sent events.' }),
        headers: { [TAG_FILTERS]: NAMES_HEADERS[TAG_FILTERS] },
      },
    },
    errors: ['invalid', 'overloaded', 'unavailable'],
    handle({ principal, query: { query, after }, headers, isAdmitted }) {
      const lastSeen = headers['last-event-id'];
      const from = typeof lastSeen === 'string' ? stateOf(lastSeen) : after;
      const tail = tails.open({ projectId: principal.project_id, list: name, query }, from);
      return {
        status: 200,
        headers: {
          // A proxy must neither keep the events back nor compress them.
          'Cache-Control': 'no-store, no-transform',
          'X-Accel-Buffering': 'no',
          ...(query.tags.size > 0 && { [TAG_FILTERS]: namesHeader([...query.tags.keys()]) }),
        },
        stream: new TailStream(tail, isAdmitted),
        contentType: `${TEXT}; charset=utf-8`,
        lasting: true,
      };
    },
  });
}

function stateOf(id: string): State {
  const state = /^\d{1,16}$/.test(id) ? Number(id) : NaN;
  if (Number.isSafeInteger(state)) return state;
  throw new DomainError('invalid', 'The header Last-Event-ID must be the id of an event of this tail', {
    issues: [{ pointer: 'Last-Event-ID', detail: 'must be the id of an event' }],
  });
}
