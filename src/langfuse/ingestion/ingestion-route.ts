import { Type } from '@sinclair/typebox';
import { parseAndFree } from '../../http/wire/json.js';
import { defineRoute, type BodyDefinition } from '../../http/route.js';
import { renderError } from '../errors.js';
import { TAG } from '../tag.js';
import { Batch, MAX_EVENTS } from './event-schema.js';
import { ingest, type IngestionParts } from './ingestion.js';

const id = Type.String({ description: 'Id of the event.' });
const status = Type.Integer({ description: 'What an event sent alone would be answered.' });

const Ingested = Type.Object(
  {
    successes: Type.Array(Type.Object({ id, status }), { description: 'Events that are stored.' }),
    errors: Type.Array(
      Type.Object({
        ...{ id, status },
        message: Type.String({ description: 'The rule that the event breaks.' }),
        error: Type.String({ description: 'What went wrong, in two words.' }),
      }),
      { description: 'Events that are not.' },
    ),
  },
  { $id: 'LangfuseIngested', description: 'What became of each event.' },
);

/** What clients send at once is smaller: this is parsed while others wait. */
const MAX_MB = 8;

/** Events are read one by one, so that one that breaks a rule is refused alone. */
const body: BodyDefinition<unknown> = {
  maxBytes: MAX_MB * 1024 * 1024,
  contentTypes: ['application/json'],
  schema: Batch,
  lenient: true,
  decode: (bytes) => parseAndFree(bytes),
};

/** What clients of Langfuse send that do not speak OpenTelemetry. */
export function ingestionRoute(parts: IngestionParts) {
  return defineRoute({
    method: 'POST',
    path: '/api/public/ingestion',
    operationId: 'postLangfuseEvents',
    summary: 'Store events (Langfuse)',
    description:
      `Stores up to ${MAX_EVENTS} events, and up to ${MAX_MB} MB, about traces, observations and scores. If an event is invalid, only that event is refused. ` +
      'Observations become spans. A trace also becomes a span: the parent of all observations without a parent. For each field, ' +
      'the event with the latest timestamp wins, so order does not matter, and you can safely resend events. When the call ' +
      'responds, everything under `successes` is durable and included in lists and figures.',
    tag: TAG,
    access: 'key',
    body,
    responses: { 207: { description: 'What became of each event.', schema: Ingested } },
    errors: ['invalid', 'overloaded', 'unavailable'],
    renderError,
    async handle({ principal, body }) {
      return { status: 207, body: await ingest(principal, body, parts) };
    },
  });
}
