import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox';
import { label, optional } from '../engine/schema/inputs.js';
import { oneOf } from '../engine/schema/parts.js';
import { MAX_SCORE_TEXT, ScoreName } from '../engine/traces/model/score/schema.js';
import type { ScoreSource } from '../engine/traces/model/score/score.js';
import type { ScoreInput } from '../features/scores/schema.js';

const SOURCES = { HUMAN: 'human', LLM: 'judge', CODE: 'code' } as const satisfies Record<string, ScoreSource>;

const result = Type.Object(
  {
    score: optional(Type.Number({ description: 'The value, if it is a number.' })),
    label: optional(label('The value, if there is no score; else kept in the metadata.')),
    explanation: optional(Type.String({ maxLength: MAX_SCORE_TEXT, description: 'Why.' })),
  },
  { description: 'What was found: a score, a label, or both.' },
);

/** What an annotation says, of whatever it is about. */
const said = {
  name: ScoreName,
  annotator_kind: oneOf(Object.keys(SOURCES) as (keyof typeof SOURCES)[], 'Who or what annotated.'),
  result: optional(result),
  metadata: optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Any JSON.' })),
  identifier: optional(
    Type.String({ maxLength: 200, description: 'Tells annotations of one name apart, such as those of two versions.' }),
  ),
};
export type Annotation = Static<TObject<typeof said>>;

/** An annotation with the id of what it is about. @param $id name of the schema */
export const annotationOf = <P extends TProperties>(about: P, $id: string) =>
  Type.Object({ ...about, ...said }, { $id, description: 'An annotation, as clients of Phoenix send it.' });

/** The score that an annotation is; null: it has neither a score nor a label. */
export function scoreOfAnnotation(
  entity: Pick<ScoreInput, 'entity_type' | 'entity_id'>,
  { name, annotator_kind, result, metadata, identifier }: Annotation,
): ScoreInput | null {
  const { score = null, label = null, explanation = null } = result ?? {};
  const value = score ?? label;
  if (value === null) return null;
  const isBoth = score !== null && label !== null;
  return {
    ...{ ...entity, name, value, source: SOURCES[annotator_kind] },
    metadata: { ...metadata, ...(isBoth && { label }) },
    ...(explanation !== null && { comment: explanation }),
    ...(identifier != null && identifier !== '' && { author: identifier }),
  };
}
