import { Type, type TSchema } from '@sinclair/typebox';
import { LRUCache } from 'lru-cache';
import { answerForm, type AnswerForm } from './answer-form.js';
import type { CriteriaScores, Verdict } from './evaluation.js';
import type { JudgeSettings } from './judge.js';

/** Settings of a judge that decide the form of its answer. */
export type AnswerShape = Pick<
  JudgeSettings,
  'evaluation_type' | 'score_min' | 'score_max' | 'pass_threshold' | 'criteria'
>;

/** Compiled forms: compiling takes milliseconds, and a server has few judges. */
const forms = new LRUCache<string, AnswerForm<Answer>>({ max: 200 });
const MAX_REASON = 20_000;

/** The JSON Schema that a judge's answer is asked for and checked by. */
export function answerSchema(judge: AnswerShape): TSchema {
  return formOf(judge).schema;
}

/** @throws InvalidAnswer */
export function readVerdict(judge: AnswerShape, text: string): Verdict {
  return verdictOf(judge, formOf(judge).read(text));
}

interface Answer {
  readonly reason: string;
  readonly passed: boolean;
  readonly score: number;
  readonly confidence: number;
  readonly criteria?: CriteriaScores;
}

function verdictOf(judge: AnswerShape, answer: Answer): Verdict {
  const common = {
    evaluation_reason: answer.reason.slice(0, MAX_REASON).toWellFormed(),
    confidence_score: answer.confidence,
  };
  if (judge.evaluation_type === 'binary')
    return { ...common, evaluation_result: answer.passed, score: null, criteria_scores: null };
  return {
    ...common,
    evaluation_result: passes(judge, answer.score),
    score: answer.score,
    criteria_scores: answer.criteria ?? null,
  };
}

/** A scored evaluation passes with the threshold or more. */
export function passes({ pass_threshold }: Pick<AnswerShape, 'pass_threshold'>, score: number): boolean {
  return score >= (pass_threshold ?? 0);
}

function formOf(judge: AnswerShape): AnswerForm<Answer> {
  const { evaluation_type, score_min, score_max, criteria } = judge;
  const key = JSON.stringify([evaluation_type, score_min, score_max, criteria.map(({ key }) => key)]);
  let form = forms.get(key);
  if (form === undefined) {
    form = answerForm<Answer>(schemaOf(judge));
    forms.set(key, form);
  }
  return form;
}

/** The reason comes first, so that a model thinks before it decides. */
function schemaOf({ evaluation_type, score_min, score_max, criteria }: AnswerShape): TSchema {
  const closed = { additionalProperties: false };
  const reason = (of: string) => Type.String({ description: `Why ${of}, in one to three sentences.` });
  const confidence = Type.Number({ minimum: 0, maximum: 1, description: 'How sure you are, from 0 to 1.' });
  if (evaluation_type === 'binary') {
    const passed = Type.Boolean({ description: 'Whether the step passes.' });
    return Type.Object({ reason: reason('it passes or fails'), passed, confidence }, closed);
  }
  const range = { minimum: score_min ?? 0, maximum: score_max ?? 1 };
  const score = (of: string) =>
    Type.Number({ ...range, description: `Score of ${of}, from ${range.minimum} to ${range.maximum}.` });
  const byKey = criteria.map(
    ({ key }) => [key, Type.Object({ reason: reason('this score'), score: score('this criterion') }, closed)] as const,
  );
  const parts = criteria.length === 0 ? {} : { criteria: Type.Object(Object.fromEntries(byKey), closed) };
  return Type.Object({ reason: reason('this score'), ...parts, score: score('the whole step'), confidence }, closed);
}
