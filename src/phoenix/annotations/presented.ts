import { Type, type Static } from '@sinclair/typebox';
import { oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import type { ScoreSource } from '../../engine/traces/model/score/score.js';
import { ANY_SCORES } from '../../facade/score-query.js';
import type { ScoreQuery, StoredScore } from '../../engine/traces/model/score/scores.js';

/* Scores as clients of Phoenix read them. */

const KINDS = ['HUMAN', 'LLM', 'CODE'] as const;
const KIND_OF: Readonly<Record<ScoreSource, (typeof KINDS)[number]>> = {
  ...{ human: 'HUMAN', judge: 'LLM', code: 'CODE', sdk: 'CODE', import: 'CODE' },
};

export const said = {
  name: Type.String({ description: 'Name of the score.' }),
  annotator_kind: oneOf(KINDS, 'Who or what annotated.'),
  metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Metadata of the score.' }),
};
const found = {
  score: orNull(Type.Number({ description: 'The value, if it is a number; of a boolean, 1 or 0.' })),
  label: orNull(Type.String({ description: 'The value, if it is a text, else what the metadata has.' })),
  explanation: orNull(Type.String({ description: 'The comment.' })),
};

export const AnnotationRead = Type.Object(
  {
    ...{ id: uuid('Id of the score.'), span_id: Type.String({ description: 'Id of the span.' }), ...said },
    result: Type.Object(found, { description: 'What was found.' }),
    identifier: Type.String({ description: 'The author of the score.' }),
    source: oneOf(['API', 'APP'], '`APP`: a person gave it.'),
    user_id: Type.Null({ description: 'Always null.' }),
    created_at: time('When it was received.'),
    updated_at: time('The same.'),
  },
  { $id: 'PhoenixAnnotation', description: 'A score of a span, as clients of Phoenix read it.' },
);

/** A score beside the result of an experiment. */
export const RunAnnotation = Type.Object(
  {
    ...said,
    ...found,
    error: Type.Null({ description: 'Always null.' }),
    trace_id: Type.Null({ description: 'Always null.' }),
    start_time: time('When it was received.'),
    end_time: time('The same.'),
  },
  { $id: 'PhoenixRunAnnotation', description: 'A score of a result, as clients of Phoenix read it.' },
);

function saidBy({ name, source, metadata }: StoredScore) {
  return { name, annotator_kind: KIND_OF[source], metadata: { ...metadata } };
}

function foundBy({ value, metadata, comment }: StoredScore) {
  const label = metadata['label'];
  const isText = typeof value === 'string';
  return {
    score: isText ? null : Number(value),
    label: isText ? value : typeof label === 'string' ? label : null,
    explanation: comment ?? null,
  };
}

/** @param spanId as OpenTelemetry names it */
export function toAnnotation(score: StoredScore, spanId: string): Static<typeof AnnotationRead> {
  const at = formatTimestamp(score.created_at);
  return {
    ...{ id: score.id, span_id: spanId, ...saidBy(score), result: foundBy(score), identifier: score.author ?? '' },
    ...{ source: score.source === 'human' ? 'APP' : 'API', user_id: null, created_at: at, updated_at: at },
  };
}

export function toRunAnnotation(score: StoredScore): Static<typeof RunAnnotation> {
  const at = formatTimestamp(score.created_at);
  return { ...saidBy(score), ...foundBy(score), error: null, trace_id: null, start_time: at, end_time: at };
}

/** Scores of spans, newest first. */
export function scoresOf(spanIds: readonly string[], window: Pick<ScoreQuery, 'limit' | 'offset'>): ScoreQuery {
  return { ...ANY_SCORES, ...window, entityType: 'span', entityIds: spanIds };
}
