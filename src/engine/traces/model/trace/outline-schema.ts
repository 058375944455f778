import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { uuid } from '../../../schema/parts.js';

/** Spans that an outline has at most. */
export const MAX_OUTLINED = 50_000;
/** Longest name of a span or a model in an outline, in characters. */
export const LONGEST_OUTLINED = 256;

const column = <T extends TSchema>(item: T, description: string) => Type.Array(item, { description });
const integers = (description: string) => column(Type.Integer(), description);
const counts = (description: string) => column(Type.Integer({ minimum: 0 }), description);
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const texts = (description: string) => column(Type.String(), description);

const PLACES = counts('Places of spans in the columns of `spans`.');

export const OutlineRead = Type.Object(
  {
    trace_id: uuid('The trace.'),
    total: Type.Integer({
      description: `All spans of the trace; the columns have the first ${MAX_OUTLINED} by start.`,
    }),
    start: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'The earliest start of a span; null: there are none.',
    }),
    spans: Type.Object(
      {
        id: column(uuid('Id of a span.'), 'Ids.'),
        parent: integers(
          'Place of the parent; -1: none, or as `missing_parents` and `cycles` say. Following parents always ends.',
        ),
        name: counts('Indexes into `names`.'),
        kind: counts('Indexes into `kinds`.'),
        status: integers('Indexes into `statuses`; -1: none.'),
        started_at: counts('Starts, in microseconds after `start`.'),
        duration_ms: column(
          orNull(Type.Number()),
          'Durations in milliseconds; null: unknown, for example if the span has not ended.',
        ),
        cost: column(orNull(Type.Number()), 'Costs in US dollars; null: unknown.'),
      },
      { description: 'One array per field, all of the same length: the spans by start, then id.' },
    ),
    names: texts(
      `The distinct names of spans; names longer than ${LONGEST_OUTLINED} characters are truncated and end with "…".`,
    ),
    kinds: texts('Their distinct kinds.'),
    statuses: texts('Their distinct statuses.'),
    errors: counts('Places of the spans with errors.'),
    models: texts('The distinct models of calls, truncated as names are.'),
    calls: Type.Object(
      {
        span: PLACES,
        model: integers('Indexes into `models`; -1: none.'),
        input_tokens: column(orNull(Type.Integer()), 'All input tokens; null: unknown.'),
        output_tokens: column(orNull(Type.Integer()), 'Output tokens; null: unknown.'),
      },
      { description: 'The spans that call a model.' },
    ),
    missing_parents: Type.Object(
      { span: PLACES, id: column(uuid('Id of a parent.'), 'The parent that each span names.') },
      { description: 'Spans whose parent is not among the spans of the trace (or not in the response).' },
    ),
    cycles: Type.Array(PLACES, {
      description:
        'Spans that are their own ancestors: each is the child of the next one, and the last is the child of the ' +
        'first. In `parent`, the first has none.',
    }),
    evaluations: Type.Object(
      {
        span: PLACES,
        passed: counts('Number of judges that passed it.'),
        failed: counts('Number of judges that failed it.'),
      },
      {
        description:
          'The spans with evaluations, and how many judges passed and failed each in their latest evaluation.',
      },
    ),
    feedback: Type.Object(
      { span: PLACES, up: counts('Thumbs up.'), down: counts('Thumbs down.') },
      { description: 'The spans with feedback from people.' },
    ),
  },
  { $id: 'TraceOutline', description: 'A whole trace as columns, without the texts of its spans.' },
);
export type OutlineRead = Static<typeof OutlineRead>;
