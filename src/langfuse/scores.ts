import { Type, type Static } from '@sinclair/typebox';
import { v5 as uuidFrom } from 'uuid';
import { UUID } from '../engine/schema/ids.js';
import { label, optional } from '../engine/schema/inputs.js';
import { compile } from '../engine/validation/validation.js';
import type { StatedMetric } from '../features/experiments/experiment.js';
import type { ScoreInput } from '../features/scores/schema.js';
import { sessionNamed } from '../otlp/session-id.js';
import { MAX_ID, ownId } from './ids.js';
import { isJsonObject } from '../engine/json-object.js';

const MAX_METRIC_NAME = 200;
const id = (description: string) => optional(Type.String({ minLength: 1, maxLength: MAX_ID, description }));
const DATA_TYPES = ['NUMERIC', 'BOOLEAN', 'CATEGORICAL', 'TEXT', 'CORRECTION'];

/** A score as clients of Langfuse send it. */
export const LangfuseScore = Type.Object(
  {
    id: id('Ignored: a score of the same object, name and source replaces the earlier one.'),
    traceId: id('Trace that the score is about.'),
    observationId: id('Observation of the trace that the score is about, if it is about one.'),
    sessionId: id('Session that the score is about.'),
    datasetRunId: id('Run that the score is about, if it is about all of it: becomes a figure of the experiment.'),
    name: Type.String({ minLength: 1, description: 'Name of the score.' }),
    value: Type.Union([Type.Number(), Type.String(), Type.Boolean()], { description: 'The value.' }),
    dataType: optional(
      Type.Unsafe<string>({
        type: 'string',
        enum: DATA_TYPES,
        description: 'What the value is; default: as it is sent.',
      }),
    ),
    comment: optional(label('Why.')),
    metadata: optional(Type.Unknown({ description: 'Any JSON.' })),
    environment: optional(Type.String({ description: 'Ignored.' })),
  },
  { $id: 'LangfuseScore', description: 'A score, as clients of Langfuse send it.' },
);
export type LangfuseScore = Static<typeof LangfuseScore>;

const validator = compile(LangfuseScore);

/** A score of a whole run: what a client found of all results together. */
export interface RunScore {
  readonly experimentId: string;
  readonly metric: Omit<StatedMetric, 'created_at'>;
}

/** Names the ids of scores of runs. */
const RUN_SCORES = 'b7d0f1a5-7c0e-4a64-9c3e-0f4d2b1a6e58';

export function runScoreId({ experimentId, metric }: RunScore): string {
  return uuidFrom(JSON.stringify([experimentId, metric.name]), RUN_SCORES);
}

/** What a score of a run alone says; null: it is none, or another score. */
export function runScoreOf(body: unknown): RunScore | string | null {
  if (!validator.accepts(body)) return null;
  const { datasetRunId, traceId, observationId, sessionId, name, value, comment, metadata } = body as LangfuseScore;
  if (datasetRunId == null || (traceId ?? observationId ?? sessionId) != null) return null;
  const experimentId = datasetRunId.toLowerCase();
  if (!UUID.test(experimentId)) return 'body/datasetRunId must be the id of a run';
  if (name.length > MAX_METRIC_NAME) return `body/name must have at most ${MAX_METRIC_NAME} characters`;
  const results = { value, ...(comment != null && { comment }), ...(metadata != null && { metadata }) };
  return { experimentId, metric: { scope: 'run', name, repetition: 0, results, output_formats: {} } };
}

/** A score as one of ours, or what is wrong with it. */
export function scoreOf(projectId: string, body: unknown): ScoreInput | string {
  const [issue] = validator.issues(body, '/body', 1);
  if (issue !== undefined) return `${issue.pointer.slice(1)} ${issue.detail}`;
  const { name, value, dataType, comment, metadata, ...sent } = body as LangfuseScore;
  const entity = entityOf(projectId, sent);
  if (entity === null) return 'body/traceId, sessionId or datasetRunId is required';
  return {
    ...entity,
    ...{ name, value: dataType === 'BOOLEAN' ? booleanOf(value) : value },
    ...(comment != null && { comment }),
    ...(metadata != null && { metadata: isJsonObject(metadata) ? metadata : { metadata } }),
  };
}

function entityOf(
  projectId: string,
  { observationId, traceId, sessionId }: Pick<LangfuseScore, 'observationId' | 'traceId' | 'sessionId'>,
): Pick<ScoreInput, 'entity_type' | 'entity_id'> | null {
  if (observationId != null) return { entity_type: 'span', entity_id: ownId(projectId, observationId) };
  if (traceId != null) return { entity_type: 'trace', entity_id: ownId(projectId, traceId) };
  const session = sessionId == null ? null : sessionNamed(sessionId);
  return session === null ? null : { entity_type: 'session', entity_id: session.id };
}

/** Clients of Langfuse send 1 and 0. */
function booleanOf(value: LangfuseScore['value']): LangfuseScore['value'] {
  return value === 1 || value === 0 ? value === 1 : value;
}
