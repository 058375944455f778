import type { JudgeInput, JudgePatch, JudgeRead } from '../../features/judges/schema.js';
import { bodyOfFields, fieldsOf, NEW_FIELDS, type FieldDraft } from './judge-fields.js';

/** A judge as its form has it. */
export interface JudgeDraft extends FieldDraft {
  readonly name: string;
  /** It is chosen where a judge is made, and stays. */
  readonly subject: JudgeRead['subject'];
  readonly context_kinds: readonly string[];
  readonly evaluation_type: 'binary' | 'scored';
  /** Whether the instruction is a text of the form's own, or that of a prompt that exists. */
  readonly instruction: 'own' | 'prompt';
  readonly prompt: string;
  readonly task_slug: string;
  readonly criteria: readonly { readonly key: string; readonly label: string; readonly description: string }[];
  readonly kinds: readonly string[];
  readonly names: readonly string[];
  /** Each as `key=value`. */
  readonly tags: readonly string[];
  readonly prompt_slug: string;
}

/** What the form begins with, by what is evaluated. */
const FIRST_PROMPTS: Readonly<Record<JudgeRead['subject'], string>> = {
  span: 'Does the output answer what the input asks, correctly and completely?\n\nInput:\n{{input}}\n\nOutput:\n{{output}}',
  trace: 'Did the program do what it was asked, without errors and needless steps?\n\n{{outline}}',
  session: 'Did the user get what they asked for by the end of the conversation?\n\n{{outline}}',
};

export const NEW_DRAFT: JudgeDraft = {
  ...NEW_FIELDS,
  name: '',
  subject: 'span',
  context_kinds: [],
  evaluation_type: 'binary',
  instruction: 'own',
  prompt: FIRST_PROMPTS.span,
  task_slug: '',
  criteria: [],
  kinds: ['llm'],
  names: [],
  tags: [],
  prompt_slug: '',
};

/** A draft about something else, with the instruction that fits unless someone wrote one. */
export function aboutSubject(draft: JudgeDraft, subject: JudgeRead['subject']): Partial<JudgeDraft> {
  const isUnwritten = draft.prompt.trim() === '' || draft.prompt === FIRST_PROMPTS[draft.subject];
  return { subject, ...(isUnwritten && { prompt: FIRST_PROMPTS[subject] }) };
}

/** @param prompt the text of its instruction */
export function draftOf(judge: JudgeRead, prompt: string): JudgeDraft {
  const { name, subject, context_kinds, evaluation_type, task_slug, criteria, filters } = judge;
  return {
    ...fieldsOf(judge),
    name,
    subject,
    context_kinds,
    evaluation_type,
    instruction: 'own',
    prompt,
    task_slug,
    criteria,
    kinds: filters.kinds,
    names: filters.names,
    tags: Object.entries(filters.tags).map(([key, value]) => `${key}=${value}`),
    prompt_slug: filters.prompt_slug ?? '',
  };
}

/** What the API takes. */
export function bodyOf(draft: JudgeDraft): JudgeInput {
  return {
    name: draft.name,
    subject: draft.subject,
    ...(draft.subject === 'trace' && { context_kinds: [...draft.context_kinds] }),
    evaluation_type: draft.evaluation_type,
    ...(draft.instruction === 'own' ? { prompt: draft.prompt } : { task_slug: draft.task_slug }),
    criteria: [...draft.criteria],
    filters: {
      kinds: [...draft.kinds],
      names: [...draft.names],
      tags: tagsOf(draft.tags),
      prompt_slug: draft.prompt_slug === '' ? null : draft.prompt_slug,
    },
    ...bodyOfFields(draft),
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
