import type { JudgeInput, JudgePatch, JudgeRead } from '../../features/judges/schema.js';

/** A judge as its form has it: numbers are the texts that were typed. */
export interface JudgeDraft {
  readonly name: string;
  readonly evaluation_type: 'binary' | 'scored';
  /** Whether the instruction is a text of the form's own, or that of a prompt that exists. */
  readonly instruction: 'own' | 'prompt';
  readonly prompt: string;
  readonly task_slug: string;
  readonly score_min: string;
  readonly score_max: string;
  readonly pass_threshold: string;
  readonly criteria: readonly { readonly key: string; readonly label: string; readonly description: string }[];
  readonly model: string;
  readonly temperature: string;
  /** In percent. */
  readonly sample_rate: string;
  readonly kinds: readonly string[];
  readonly names: readonly string[];
  /** Each as `key=value`. */
  readonly tags: readonly string[];
  readonly prompt_slug: string;
  readonly enabled: boolean;
}

export const NEW_DRAFT: JudgeDraft = {
  name: '',
  evaluation_type: 'binary',
  instruction: 'own',
  prompt:
    'Does the output answer what the input asks, correctly and completely?\n\nInput:\n{{input}}\n\nOutput:\n{{output}}',
  task_slug: '',
  score_min: '0',
  score_max: '10',
  pass_threshold: '6',
  criteria: [],
  model: '',
  temperature: '',
  sample_rate: '100',
  kinds: ['llm'],
  names: [],
  tags: [],
  prompt_slug: '',
  enabled: true,
};

/** @param prompt the text of its instruction */
export function draftOf(judge: JudgeRead, prompt: string): JudgeDraft {
  const { name, evaluation_type, task_slug, filters, enabled } = judge;
  const text = (value: number | null) => (value === null ? '' : String(value));
  const isScored = evaluation_type === 'scored';
  return {
    name,
    evaluation_type,
    instruction: 'own',
    prompt,
    task_slug,
    score_min: isScored ? text(judge.score_min) : NEW_DRAFT.score_min,
    score_max: isScored ? text(judge.score_max) : NEW_DRAFT.score_max,
    pass_threshold: isScored ? text(judge.pass_threshold) : NEW_DRAFT.pass_threshold,
    criteria: judge.criteria,
    model: judge.model ?? '',
    temperature: text(judge.temperature),
    sample_rate: String(Number((judge.sample_rate * 100).toPrecision(12))),
    kinds: filters.kinds,
    names: filters.names,
    tags: Object.entries(filters.tags).map(([key, value]) => `${key}=${value}`),
    prompt_slug: filters.prompt_slug ?? '',
    enabled,
  };
}

/** What the API takes; a number that is none stays a text, which the API refuses by name. */
export function bodyOf(draft: JudgeDraft): JudgeInput {
  const isScored = draft.evaluation_type === 'scored';
  const scale = isScored
    ? {
        score_min: numberOf(draft.score_min),
        score_max: numberOf(draft.score_max),
        pass_threshold: numberOf(draft.pass_threshold),
      }
    : {};
  const rate = numberOf(draft.sample_rate);
  return {
    name: draft.name,
    evaluation_type: draft.evaluation_type,
    ...(draft.instruction === 'own' ? { prompt: draft.prompt } : { task_slug: draft.task_slug }),
    ...scale,
    criteria: [...draft.criteria],
    model: draft.model.trim() === '' ? null : draft.model,
    temperature: numberOf(draft.temperature),
    sample_rate: typeof rate === 'number' ? rate / 100 : rate,
    filters: {
      kinds: [...draft.kinds],
      names: [...draft.names],
      tags: tagsOf(draft.tags),
      prompt_slug: draft.prompt_slug === '' ? null : draft.prompt_slug,
    },
    enabled: draft.enabled,
  };
}

/** What changes a judge into the draft: its instruction only where that was edited. */
export function patchOf(draft: JudgeDraft, promptBefore: string): JudgePatch {
  const { prompt, ...settings } = bodyOf(draft);
  return prompt === undefined || prompt === promptBefore ? settings : { ...settings, prompt };
}

/** A judge whose instruction was not edited is previewed with its own prompt. */
export function previewOf(draft: JudgeDraft, judge: JudgeRead | null, promptBefore: string): JudgeInput {
  const { prompt, ...body } = bodyOf({ ...draft, name: draft.name.trim() === '' ? 'Draft' : draft.name });
  return judge !== null && prompt === promptBefore
    ? { ...body, task_slug: judge.task_slug }
    : { ...body, ...(prompt !== undefined && { prompt }) };
}

/** `key=value` pairs; what is behind the first sign of equality is the value. */
export function tagsOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]];
    }),
  );
}

/** The rules that an answer names as broken, by the field they are of: the first part of their pointer. */
export function wrongFields(
  errors: readonly { readonly pointer: string; readonly detail: string }[] = [],
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { pointer, detail } of errors) {
    const [, field = '', ...rest] = pointer.split('/');
    const text = rest.length === 0 ? detail : `${rest.join(', ')}: ${detail}`;
    found[field] = found[field] === undefined ? text : `${found[field]}; ${text}`;
  }
  return found;
}

/** A text that is no number stays one, whatever the type says: the API is to refuse it by name. */
function numberOf(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : (text as unknown as number);
}
