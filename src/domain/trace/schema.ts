import { Type, type Static } from '@sinclair/typebox';
import { spanFields, traceFields } from '../list/fields.js';
import { attributes, cost, duration, label, name, optional, status, tags, time } from '../schema/inputs.js';
import { uuid } from '../schema/parts.js';

export const TraceInput = Type.Object(
  {
    id: optional(uuid('Trace id; generated when absent. Posting an id again replaces all fields posted before.')),
    session_id: uuid('Session the trace belongs to.'),
    name: name('Name of the trace.'),
    started_at: time('Start time.'),
    ended_at: optional(time('End time.')),
    status: optional(status('Outcome of the trace; derived from its spans when absent.')),
    duration_ms: optional(duration(traceFields.duration_ms.description)),
    cost: optional(cost(traceFields.cost.description)),
    attributes: optional(attributes(spanFields.attributes.description)),
    tags: optional(tags('Tags of the trace; they win over tags that its spans give it.')),
  },
  {
    $id: 'TraceInput',
    description: 'A trace as it is posted; its fields win over values derived from its spans.',
  },
);
export type TraceInput = Static<typeof TraceInput>;

export const SessionInput = Type.Object(
  {
    id: optional(uuid('Session id; generated when absent. Posting an id again replaces all fields posted before.')),
    project_id: Type.String({ description: "Project of the session; must be the API key's." }),
    name: optional(label('Name of the session.')),
    attributes: optional(attributes(spanFields.attributes.description)),
    tags: optional(tags('Tags of the session; they win over tags that its spans give it.')),
  },
  { $id: 'SessionInput', description: 'A session as it is posted.' },
);
export type SessionInput = Static<typeof SessionInput>;
