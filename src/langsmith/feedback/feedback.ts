import { Type, type Static } from '@sinclair/typebox';
import { DomainError, type Issue } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { optional } from '../../engine/schema/inputs.js';
import { MAX_SCORE_NAME, type ScoreSource } from '../../engine/traces/model/score/score.js';
import { MAX_SCORE_TEXT, ScoreName } from '../../engine/traces/model/score/schema.js';
import { compile, invalid } from '../../engine/validation/validation.js';
import { MAX_SCORES, type ScoreInput } from '../../features/scores/schema.js';
import type { ScoreService } from '../../features/scores/score-service.js';
import { asObject } from '../../facade/json.js';
import { MAX_ID, ownId } from '../ids.js';

const id = (description: string) => optional(Type.String({ minLength: 1, maxLength: MAX_ID, description }));
const scalar = [Type.Number(), Type.Boolean(), Type.String({ maxLength: MAX_SCORE_TEXT })];
const object = (description: string) => optional(Type.Record(Type.String(), Type.Unknown(), { description }));
const Values = {
  score: optional(Type.Union([Type.Number(), Type.Boolean()], { description: 'The value of the score.' })),
  value: optional(
    Type.Union([...scalar, Type.Record(Type.String(), Type.Unknown())], {
      description: 'The value of the score if there is no `score`, else kept in its metadata.',
    }),
  ),
  comment: optional(
    Type.String({ maxLength: MAX_SCORE_TEXT, description: 'Why. Without `score` and `value`, the value.' }),
  ),
  correction: optional(
    Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
      description: 'What would have been right; kept in the metadata.',
    }),
  ),
};

export const FeedbackInput = Type.Object(
  {
    id: id('Id of the feedback: the author of the score.'),
    run_id: id('Run that the feedback is about.'),
    trace_id: id('Its trace. Without `run_id`, the feedback is about the run with this id.'),
    session_id: id('Experiment that the feedback is about, if it is about no run.'),
    key: Type.String({ ...ScoreName, description: 'Name of the score.' }),
    ...Values,
    feedback_source: object('Where the feedback comes from: its `type`, and metadata.'),
    extra: object('Kept in the metadata.'),
    error: optional(
      Type.Boolean({ description: 'Whether no value was found. The score is then named `<key> error`.' }),
    ),
  },
  { $id: 'LangsmithFeedbackInput', description: 'Feedback, as clients of LangSmith send it.' },
);
export type FeedbackInput = Static<typeof FeedbackInput>;

export const FeedbackPatch = Type.Object(Values, {
  $id: 'LangsmithFeedbackPatch',
  description: 'What is new of feedback; absent fields stay.',
});
export type FeedbackPatch = Static<typeof FeedbackPatch>;

export const feedbackInput = compile(FeedbackInput);

/** Types of sources, as clients call them. */
export const SOURCE_OF: Readonly<Record<string, ScoreSource>> = {
  api: 'sdk',
  app: 'human',
  model: 'code',
  auto_eval: 'judge',
};

/** A score as feedback says it. @throws DomainError `invalid` where it says none */
export function scoreOf(projectId: string, input: FeedbackInput): ScoreInput {
  const run = input.run_id ?? input.trace_id;
  if (run == null) throw invalid([{ pointer: '/run_id', detail: 'is required' }]);
  const { type, metadata: source } = input.feedback_source ?? {};
  const metadata = { ...metadataOf(input), ...(input.extra != null && { extra: input.extra }) };
  return {
    entity_type: 'span',
    entity_id: ownId(projectId, run),
    name: hasFailed(input) ? `${input.key.slice(0, MAX_SCORE_NAME - 6)} error` : input.key,
    value: valueOf(input),
    source: SOURCE_OF[typeof type === 'string' ? type : ''] ?? 'sdk',
    author: input.id == null ? '' : ownId(projectId, input.id),
    ...(input.comment != null && { comment: input.comment }),
    metadata: { ...metadata, ...(Object.keys(asObject(source) ?? {}).length > 0 && { source }) },
  };
}

/** A program that scores, and failed, says why in the comment. */
function hasFailed({ score, value, error, extra }: FeedbackInput): boolean {
  return score == null && value == null && (error === true || extra?.['error'] === true);
}

export function valueOf({ score, value, comment }: FeedbackPatch): ScoreInput['value'] {
  const said = score ?? (value == null || value === '' ? comment : value);
  if (said == null || said === '') throw invalid([{ pointer: '/score', detail: 'is required, or value, or comment' }]);
  return typeof said === 'object' ? JSON.stringify(said).slice(0, MAX_SCORE_TEXT) : said;
}

export function metadataOf({ score, value, correction }: FeedbackPatch): Record<string, unknown> {
  return {
    ...(score != null && value != null && { value }),
    ...(correction != null && { correction }),
  };
}

/** Stores feedback that came with runs, all or none. @throws DomainError `invalid` with the issues of all; those of WriteLog */
export async function storeFeedback(
  by: Principal,
  sent: readonly { readonly body: unknown; readonly pointer: string }[],
  scores: Pick<ScoreService, 'post'>,
): Promise<void> {
  const issues: Issue[] = [];
  const read = sent.flatMap(({ body, pointer }): ScoreInput[] => {
    const found = feedbackInput.issues(body, pointer, 1);
    issues.push(...found);
    if (found.length > 0) return [];
    return placed(issues, pointer, () => scoreOf(by.project_id, body as FeedbackInput));
  });
  if (issues.length > 0) throw invalid(issues);
  for (let from = 0; from < read.length; from += MAX_SCORES) await scores.post(by, read.slice(from, from + MAX_SCORES));
}

function placed<T>(issues: Issue[], at: string, read: () => T): T[] {
  try {
    return [read()];
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error;
    issues.push(...error.issues.map(({ pointer, detail }) => ({ pointer: `${at}${pointer}`, detail })));
    return [];
  }
}
