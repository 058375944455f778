import type { Static } from '@sinclair/typebox';
import type { RunEstimateRead, RunInput } from '../../features/experiment-runs/schema.js';
import { count, counted, money } from './format.js';

/** A run as it is entered. Of what is left empty, the server decides. */
export interface RunDraft {
  readonly dataset: string;
  readonly prompt: string;
  readonly version: string;
  readonly model: string;
  readonly repetitions: string;
  readonly maxCost: string;
}

export const EMPTY_RUN: RunDraft = { dataset: '', prompt: '', version: '', model: '', repetitions: '1', maxCost: '' };

/** Why a run cannot be asked for yet; null: it can. */
export function refusedRun({ dataset, prompt }: RunDraft): string | null {
  if (dataset === '') return 'Choose a dataset';
  return prompt === '' ? 'Choose a prompt' : null;
}

/** A run as it is sent. */
export function runOf({ dataset, prompt, version, model, repetitions, maxCost }: RunDraft): RunInput {
  const number = (text: string) => (text.trim() === '' ? null : Number(text));
  return {
    ...{ dataset, prompt_slug: prompt, prompt_version: number(version), repetitions: number(repetitions) },
    ...{ model: model.trim() === '' ? null : model.trim(), max_cost: number(maxCost) },
  };
}

/** What a run would be, in a sentence. */
export function estimateText(estimate: Static<typeof RunEstimateRead>): string {
  const { calls, model, cost, cost_unknown_reason, input_tokens, prompt_version } = estimate;
  const price = cost === null ? (cost_unknown_reason ?? 'The cost is unknown') : `about ${money(cost)}`;
  return `${counted(calls, 'call')} of ${model} with version ${prompt_version}, ${count(input_tokens)} input tokens: ${price}`;
}
