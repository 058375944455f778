import { Type, type Static } from '@sinclair/typebox';
import { spanFields, traceFields } from '../list/fields.js';
import { attributes, cost, duration, label, name, optional, status, tags, time } from '../../../schema/inputs.js';
import { uuid } from '../../../schema/parts.js';

export const TraceInput = Type.Object(
  {
    id: optional(uuid('Trace id; generated when absent. Posting an id again replaces all fields posted before.')),
    session_id: uuid('Session to which the trace belongs.'),
    name: name('Name of the trace.'),
    started_at: time('Start time.'),
    ended_at: optional(time('End time.')),
    status: optional(status('Outcome of the trace; derived from its spans when absent.')),
    duration_ms: optional(duration(traceFields.duration_ms.description)),
    cost: optional(cost(traceFields.cost.description)),
    attributes: optional(attributes(spanFields.attributes.description)),
    tags: optional(tags('Tags of the trace; they override tags from its spans.')),
  },
  {
    $id: 'TraceInput',
    description: 'A trace to post; its fields override values derived from its spans.',
  },
);
export type TraceInput = Static<typeof TraceInput>;

export const SessionInput = Type.Object(
  {
    id: optional(uuid('Session id; generated when absent. Posting an id again replaces all fields posted before.')),
    project_id: Type.String({ description: "Project of the session; must be the API key's." }),
    name: optional(label('Name of the session.')),
    attributes: optional(attributes(spanFields.attributes.description)),
    tags: optional(tags('Tags of the session; they override tags from its spans.')),
  },
  { $id: 'SessionInput', description: 'A session to post.' },
);
export type SessionInput = Static<typeof SessionInput>;
