import type { Static } from '@sinclair/typebox';
import type { RunEstimateRead, RunInput } from '../../features/experiment-runs/schema.js';
import { count, counted, money } from './format.js';

/** A run as it is entered. Of what is left empty, the server decides. */
export interface RunDraft {
  readonly dataset: string;
  /** A number, or a tag. */
  readonly datasetVersion: string;
  readonly prompt: string;
  /** A number, or a tag behind {@link TAGGED}. */
  readonly version: string;
  /** Column by variable, where it is not the one of the same name. */
  readonly variables: Readonly<Record<string, string>>;
  readonly model: string;
  readonly temperature: string;
  readonly repetitions: string;
  /** How many of the first rows, or ids with commas between them. */
  readonly rows: string;
  readonly name: string;
  readonly tags: string;
  readonly maxCost: string;
}

export const EMPTY_RUN: RunDraft = {
  ...{ dataset: '', datasetVersion: '', prompt: '', version: '', variables: {}, model: '', temperature: '' },
  ...{ repetitions: '1', rows: '', name: '', tags: '', maxCost: '' },
};
/** A tag may be all digits, as numbers of versions are. */
export const TAGGED = 'tag:';

/** Why a run cannot be asked for yet; null: it can. */
export function refusedRun({ dataset, prompt }: RunDraft): string | null {
  if (dataset === '') return 'Choose a dataset';
  return prompt === '' ? 'Choose a prompt' : null;
}

/** A run as it is sent. What is no number goes as it is: the server says what is wrong with it. */
export function runOf(draft: RunDraft): RunInput {
  const { version, datasetVersion, variables } = draft;
  const tag = version.startsWith(TAGGED) ? version.slice(TAGGED.length) : null;
  const given = Object.entries(variables).filter(([, column]) => column !== '');
  const tags = listIn(draft.tags);
  return {
    ...{ dataset: draft.dataset, prompt_slug: draft.prompt, prompt_tag: tag, name: draft.name.trim() || null },
    prompt_version: tag === null ? numberIn(version) : null,
    dataset_version: /^\d+$/.test(datasetVersion) ? Number(datasetVersion) : datasetVersion || null,
    variables: given.length === 0 ? null : Object.fromEntries(given),
    ...{ model: draft.model.trim() || null, temperature: numberIn(draft.temperature) },
    ...{ repetitions: numberIn(draft.repetitions), rows: rowsIn(draft.rows), max_cost: numberIn(draft.maxCost) },
    tags: tags.length === 0 ? null : tags,
  };
}

function numberIn(text: string): number | null {
  const entered = text.trim();
  const number = Number(entered);
  return entered === '' ? null : Number.isNaN(number) ? (entered as unknown as number) : number;
}

const listIn = (text: string) =>
  text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');

function rowsIn(text: string): number | string[] | null {
  if (/^\s*\d+\s*$/.test(text)) return Number(text);
  const ids = listIn(text);
  return ids.length === 0 ? null : ids;
}

/** What a run would be, in a sentence. */
export function estimateText(
  estimate: Static<typeof RunEstimateRead>,
  { prompt, dataset }: Pick<RunDraft, 'prompt' | 'dataset'>,
): string {
  const { rows, calls, model, cost, cost_unknown_reason, input_tokens, prompt_version, dataset_version } = estimate;
  const price = cost === null ? (cost_unknown_reason ?? 'The cost is unknown') : `About ${money(cost)}`;
  const what = `${prompt} v${prompt_version} on ${counted(rows, 'row')} of ${dataset} v${dataset_version}`;
  return `${price}: ${counted(calls, 'call')} of ${model} with ${count(input_tokens)} input tokens, for ${what}.`;
}
