import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { label, optional } from '../../engine/schema/inputs.js';
import { compile } from '../../engine/validation/validation.js';
import { MAX_ID } from '../ids.js';

/* Bodies of events, as far as they are read. Clients send more, and `null` for what they do not know. */

const id = optional(Type.String({ minLength: 1, maxLength: MAX_ID }));
const text = optional(Type.String());
const time = optional(Type.String({ minLength: 1, maxLength: 64 }));
const name = optional(label('Name.'));
const anything = optional(Type.Unknown());
const object = optional(Type.Record(Type.String(), Type.Unknown()));

export const Observation = Type.Object({
  id,
  traceId: id,
  parentObservationId: id,
  type: text,
  name,
  startTime: time,
  endTime: time,
  completionStartTime: time,
  input: anything,
  output: anything,
  metadata: anything,
  model: text,
  modelParameters: object,
  usage: object,
  usageDetails: object,
  costDetails: object,
  promptName: text,
  promptVersion: optional(Type.Union([Type.Number(), Type.String()])),
  level: text,
  statusMessage: text,
  version: text,
  environment: text,
});
export type Observation = Static<typeof Observation>;

export const Trace = Type.Object({
  id,
  timestamp: time,
  name,
  input: anything,
  output: anything,
  metadata: anything,
  sessionId: optional(label('Session.')),
  userId: text,
  tags: optional(Type.Array(Type.String())),
  release: text,
  version: text,
  environment: text,
  externalId: text,
  public: optional(Type.Boolean()),
});
export type Trace = Static<typeof Trace>;

const Event = Type.Object({
  id: Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Id of the event, by which the response names it.' }),
  type: Type.String({ maxLength: 64, description: 'What the event tells, such as `generation-create`.' }),
  timestamp: Type.String({ minLength: 1, maxLength: 64, description: 'When the event was.' }),
  body: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The trace, observation or score, or what changed.',
  }),
});
export type Event = Static<typeof Event>;

export const event = compile(Event);
export const observation = compile(Observation);
export const trace = compile(Trace);

/** Most events of one request. */
export const MAX_EVENTS = 10_000;

export const Batch = Type.Object(
  {
    batch: Type.Array(Event, { maxItems: MAX_EVENTS, description: 'The events.' }),
    metadata: Type.Optional(Type.Unknown({ description: 'What the client says of itself. Ignored.' })),
  },
  { $id: 'LangfuseBatch', description: 'Events of a client of Langfuse.' },
);

/** The batch before its events are looked at: each stands or falls alone. */
export const batch = compile(
  Type.Object({ batch: Type.Array(Type.Unknown(), { maxItems: MAX_EVENTS }) }) satisfies TSchema,
);
