import { Type, type Static } from '@sinclair/typebox';
import { oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import type { ScoreSource } from '../../engine/traces/model/score/score.js';
import type { ScoreQuery, StoredScore } from '../../engine/traces/model/score/scores.js';
import { ANY_SCORES } from '../../facade/score-query.js';
import { capital, type What } from './about.js';

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

const read = {
  ...{ id: uuid('Id of the score.'), ...said },
  result: Type.Object(found, { description: 'What was found.' }),
  identifier: Type.String({ description: 'The author of the score.' }),
  source: oneOf(['API', 'APP'], '`APP`: a person gave it.'),
  user_id: Type.Null({ description: 'Always null.' }),
  created_at: time('When it was received.'),
  updated_at: time('The same.'),
};

/** A score as it is read, with the id of what it is about beside what the type says. */
export function annotationRead(what: What) {
  const about: object = { [`${what}_id`]: Type.String({ description: `Id of the ${what}.` }) };
  const $id = what === 'span' ? 'PhoenixAnnotation' : `Phoenix${capital(what)}AnnotationRead`;
  return Type.Object(
    { ...about, ...read },
    { $id, description: `A score of a ${what}, as clients of Phoenix read it.` },
  );
}
export type AnnotationRead = Static<ReturnType<typeof annotationRead>>;

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

/** @param named how clients name what the score is about */
export function toAnnotation(score: StoredScore, what: What, named: string): AnnotationRead {
  const at = formatTimestamp(score.created_at);
  return {
    ...{
      [`${what}_id`]: named,
      id: score.id,
      ...saidBy(score),
      result: foundBy(score),
      identifier: score.author ?? '',
    },
    ...{ source: score.source === 'human' ? 'APP' : 'API', user_id: null, created_at: at, updated_at: at },
  };
}

export function toRunAnnotation(score: StoredScore): Static<typeof RunAnnotation> {
  const at = formatTimestamp(score.created_at);
  return { ...saidBy(score), ...foundBy(score), error: null, trace_id: null, start_time: at, end_time: at };
}

/** Scores of spans or others, newest first. */
export function scoresOf(
  ids: readonly string[],
  window: Pick<ScoreQuery, 'limit' | 'offset'>,
  entityType: What = 'span',
): ScoreQuery {
  return { ...ANY_SCORES, ...window, entityType, entityIds: ids };
}
