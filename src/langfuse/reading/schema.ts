import { Type } from '@sinclair/typebox';
import { number, orNull, time, uuid } from '../../engine/schema/parts.js';
import { PageMeta } from '../page.js';

const text = (description: string) => orNull(Type.String({ description }));
const json = (description: string) => Type.Unknown({ description });
const object = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const sums = (description: string) => Type.Record(Type.String(), Type.Number(), { description });

const traceFields = {
  id: uuid('Id of the trace.'),
  projectId: uuid('Id of the project.'),
  timestamp: time('When it started.'),
  name: Type.String({ description: 'Name of the trace.' }),
  input: json('Input of the root span, as JSON if it is JSON of up to 100,000 characters.'),
  output: json('Output of the root span, in the same form.'),
  sessionId: text('Name of its session, or the id if it has no name.'),
  userId: text('The tag `user`.'),
  environment: Type.String({ description: 'The tag `environment`, else `default`.' }),
  release: text('The tag `release`.'),
  version: text('The tag `version`.'),
  tags: Type.Array(Type.String(), { description: 'Tags with the value `true`.' }),
  metadata: object('All other tags.'),
  public: Type.Boolean({ description: 'Always false.' }),
  bookmarked: Type.Boolean({ description: 'Always false.' }),
  htmlPath: Type.String({ description: 'Path that leads into the console.' }),
  latency: number('Duration in seconds.'),
  totalCost: number('Cost in US dollars; 0 if unknown.'),
  createdAt: time('When the trace was first written.'),
  updatedAt: time('The same.'),
};

export const TraceRead = Type.Object(traceFields, {
  $id: 'LangfuseTrace',
  description: 'A trace, as clients of Langfuse read it.',
});

export const TraceListed = Type.Object(
  {
    ...traceFields,
    observations: Type.Array(uuid('Id of an observation.'), {
      description: 'Ids of observations: of all traces of the page, the first 10,000.',
    }),
    scores: Type.Array(uuid('Id of a score.'), { description: 'Ids of scores of the trace itself, up to 1,000.' }),
  },
  { $id: 'LangfuseTraceListed', description: 'A trace in a list, as clients of Langfuse read it.' },
);

export const ObservationRead = Type.Object(
  {
    id: uuid('Id of the observation: of the span.'),
    traceId: uuid('Trace of the observation.'),
    projectId: uuid('Id of the project.'),
    type: Type.String({ description: 'Type, such as `GENERATION` or `SPAN`.' }),
    name: Type.String({ description: 'Name.' }),
    startTime: time('When it started.'),
    endTime: orNull(time('When it ended.')),
    completionStartTime: orNull(time('When the completion started, if the client said so.')),
    parentObservationId: orNull(uuid('Parent; null where only the trace is above it.')),
    model: text('Model.'),
    providedModelName: text('The same.'),
    modelParameters: object('Parameters of the model, as the client said them.'),
    input: json('Input, as JSON if it is JSON of up to 100,000 characters.'),
    output: json('Output, in the same form.'),
    metadata: object('Metadata and tags.'),
    environment: Type.String({ description: 'The tag `environment`, else `default`.' }),
    version: text('The tag `version`.'),
    level: Type.String({ description: '`ERROR` if the span has an error, else what the client said, else `DEFAULT`.' }),
    statusMessage: text('Error message.'),
    usage: object('Tokens and cost, in the old form.'),
    usageDetails: sums('Tokens by kind.'),
    costDetails: sums('Cost in US dollars: `total`.'),
    totalCost: orNull(number('Cost in US dollars.')),
    calculatedTotalCost: orNull(number('The same.')),
    promptId: orNull(uuid('Id of the version of its prompt.')),
    promptName: text('Prompt.'),
    promptVersion: orNull(Type.Integer({ description: 'Version of the prompt.' })),
    latency: orNull(number('Duration in seconds.')),
    createdAt: time('When the stored version was received.'),
    updatedAt: time('The same.'),
  },
  { $id: 'LangfuseObservation', description: 'An observation, as clients of Langfuse read it.' },
);

export const SessionRead = Type.Object(
  {
    id: Type.String({ description: 'Name of the session, or its id if it has no name.' }),
    projectId: uuid('Id of the project.'),
    createdAt: time('When the session was first written.'),
    environment: Type.String({ description: 'The tag `environment`, else `default`.' }),
  },
  { $id: 'LangfuseSession', description: 'A session, as clients of Langfuse read it.' },
);

export const SessionWithTraces = Type.Object(
  {
    ...SessionRead.properties,
    traces: Type.Array(TraceRead, { description: 'Its newest 500 traces.' }),
  },
  { $id: 'LangfuseSessionWithTraces', description: 'A session with its traces.' },
);

export const TracePage = Type.Object(
  { data: Type.Array(TraceListed, { description: 'A page of traces.' }), meta: PageMeta },
  { $id: 'LangfuseTraces', description: 'A page of traces.' },
);
export const ObservationPage = Type.Object(
  { data: Type.Array(ObservationRead, { description: 'A page of observations.' }), meta: PageMeta },
  { $id: 'LangfuseObservations', description: 'A page of observations.' },
);
export const ObservationsBehind = Type.Object(
  {
    data: Type.Array(ObservationRead, { description: 'Observations, newest first.' }),
    meta: Type.Object(
      { cursor: text('What to send as `cursor` for the next page; null: there is none.') },
      { description: 'Where the page ends.' },
    ),
  },
  { $id: 'LangfuseObservationsV2', description: 'A page of observations.' },
);
export const SessionPage = Type.Object(
  { data: Type.Array(SessionRead, { description: 'A page of sessions.' }), meta: PageMeta },
  { $id: 'LangfuseSessions', description: 'A page of sessions.' },
);
