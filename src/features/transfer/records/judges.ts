import { Type } from '@sinclair/typebox';
import { byKey, number, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { MAX_KEPT_EXAMPLES } from '../../calibration/kept-example.js';
import { EvaluationRead, JudgeRead, MAX_EVALUATION_REASON } from '../../judges/schema.js';
import { CRITERION_KEY, MAX_CRITERIA, MAX_MODEL, settingSchemas } from '../../judges/settings.js';
import { json, person, record, revision, text } from './record.js';

/** Longest answer of a model, also of earlier versions, which could be told to keep so much: its reasons are kept whole. */
export const MAX_MODEL_ANSWER = 8_000_000;
/** Most traces that one evaluation is moved with. */
export const MAX_JUDGED_TRACES = 1_000;

export const JUDGE_VERSION = text(100, 'Name of the version of the judge.');

const { id, created_at, updated_at } = JudgeRead.properties;
const { subject, quiet_seconds, context_tokens, context_kinds, ...settings } = settingSchemas('moved');
/** Settings that earlier exports do not have: they have their defaults. */
const later = {
  subject: Type.Optional(subject),
  quiet_seconds: Type.Optional(quiet_seconds),
  context_tokens: Type.Optional(context_tokens),
  context_kinds: Type.Optional(context_kinds),
};
export const judges = record('Judge', 'A judge, including deleted ones. It is disabled when it is imported.', {
  id,
  ...settings,
  ...later,
  created_at,
  created_by: person('Who created it.'),
  updated_at,
  deleted_at: orNull(time('When it was deleted; null if it was not.')),
  corrections_revision: revision('Revision of its set of corrections.'),
  corrections_last_removal: revision('The last revision at which one of them was removed; 0: none ever was.'),
});

const byCriterion = {
  maxProperties: MAX_CRITERIA,
  propertyNames: { pattern: CRITERION_KEY, 'x-must': 'have keys of criteria' },
};
const {
  evaluation_reason,
  criteria_scores,
  model_used,
  judge_version: _version,
  // Its judge says it.
  subject: _subject,
  ...evaluated
} = EvaluationRead.properties;
export const evaluations = record('Evaluation', 'An evaluation of a span by a judge.', {
  ...evaluated,
  evaluation_reason: text(MAX_EVALUATION_REASON, evaluation_reason.description ?? ''),
  criteria_scores: orNull(
    byKey(
      Type.Object(
        { score: number('Score of the criterion.'), reason: text(MAX_MODEL_ANSWER, 'Reason for the score.') },
        { description: 'Score of one criterion.' },
      ),
      { ...byCriterion, description: criteria_scores.description ?? '' },
    ),
  ),
  // A provider's name may stand in front of it.
  model_used: orNull(text(2 * MAX_MODEL, model_used.description ?? '')),
  judge_version: orNull(JUDGE_VERSION),
  confidence_score: orNull(Type.Number({ minimum: 0, maximum: 1, description: 'Confidence of the judge.' })),
  prompt_version_id: orNull(uuid("Version of the judge's prompt that produced it; null: unknown.")),
  subject_id: Type.Optional(
    orNull(uuid('The trace or session that was evaluated, for which the span stands; null: the span itself was.')),
  ),
  subject_arrived_at: Type.Optional(
    orNull(time('When the last of its spans had arrived that the judge was shown; null: a span was evaluated.')),
  ),
  trace_ids: Type.Optional(
    orNull(
      Type.Array(uuid('A trace.'), {
        ...{ minItems: 1, maxItems: MAX_JUDGED_TRACES, uniqueItems: true },
        description:
          'The traces that the judge was shown: the deletion of a span of them deletes the evaluation. null: a span was evaluated.',
      }),
    ),
  ),
});

export const pinned_examples = record(
  'PinnedExample',
  'A correction as versions of a judge that are kept for experiments show it: with what its span said then.',
  {
    id: uuid('Id of the example.'),
    judge_id: uuid('The judge.'),
    span_id: uuid('Id of the span: with it, the example is deleted.'),
    example: json('The correction, the step that it is of, and the line that shows both.'),
  },
);

export const pinned_versions = record(
  'PinnedVersion',
  'A version of a judge that is kept, as results of experiments were evaluated by it.',
  {
    judge_id: uuid('The judge.'),
    judge_version: JUDGE_VERSION,
    prompt_version_id: uuid("Version of the judge's prompt with the instruction; it may be gone."),
    revision: revision("Revision of the judge's corrections then; 0: none are shown."),
    created_at: time('When it was kept.'),
    lost_at: orNull(time('Since when nothing is evaluated by it, as an example was deleted; null: it can be used.')),
    examples: Type.Array(uuid('Id of an example.'), {
      ...{ maxItems: MAX_KEPT_EXAMPLES, uniqueItems: true },
      description: 'The examples, oldest correction first.',
    }),
  },
);
