import type { JudgeInput, JudgeRead } from '../../features/judges/schema.js';
import type { SettingName } from '../../features/judges/settings.js';

/** A setting of judges that its form has a single control for. */
interface JudgeField {
  /** The part of the form: that of judges of traces and sessions, that of scored ones, or the last one. */
  readonly part: 'whole' | 'scale' | 'model';
  readonly label: string;
  readonly hint?: string;
  readonly control: keyof typeof CONTROLS;
  /** What a new judge has; default: an empty text. */
  readonly first?: string | boolean;
}

/** What controls show of a setting, and what is sent of it. What is no number stays a text, which the API refuses by name. */
const CONTROLS = {
  text: { shown: (value: string | null) => value ?? '', sent: (text: string) => (text.trim() === '' ? null : text) },
  number: { shown: (value: number | null) => (value === null ? '' : String(value)), sent: numberOf },
  percent: {
    shown: (value: number) => String(Number((value * 100).toPrecision(12))),
    sent: (text: string) => {
      const rate = numberOf(text);
      return typeof rate === 'number' ? rate / 100 : rate;
    },
  },
  check: { shown: (value: boolean) => value, sent: (isChecked: boolean) => isChecked },
};

function numberOf(text: string): number | string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : text;
}

/** All of them, in the order in which they are shown. */
export const JUDGE_FIELDS = {
  quiet_seconds: {
    part: 'whole',
    label: 'Quiet period (seconds)',
    hint: 'without a new span, before the evaluation. Leave empty for 30 (traces) or 600 (sessions)',
    control: 'number',
  },
  context_tokens: {
    part: 'whole',
    label: 'Maximum tokens shown',
    hint: 'of each trace or session. Leave empty for 8000',
    control: 'number',
  },
  score_min: { part: 'scale', label: 'Minimum score', control: 'number', first: '0' },
  score_max: { part: 'scale', label: 'Maximum score', control: 'number', first: '10' },
  pass_threshold: { part: 'scale', label: 'Passing score', control: 'number', first: '6' },
  sample_rate: { part: 'model', label: 'Sample (%)', hint: 'of matching spans', control: 'percent', first: '100' },
  model: {
    part: 'model',
    label: 'Model',
    hint: "Leave empty for the prompt's model, or the server default",
    control: 'text',
  },
  temperature: { part: 'model', label: 'Temperature', hint: 'Leave empty for the model default', control: 'number' },
  enabled: { part: 'model', label: 'Evaluate new spans automatically', control: 'check', first: true },
} as const satisfies Partial<Record<SettingName, JudgeField>>;

type FieldName = keyof typeof JUDGE_FIELDS;

/** The fields as the form has them: numbers are the texts that were typed, rates are in percent. */
export type FieldDraft = {
  readonly [K in FieldName]: (typeof JUDGE_FIELDS)[K]['control'] extends 'check' ? boolean : string;
};

/** What decides which fields a judge has. */
type Sort = Pick<JudgeRead, 'evaluation_type' | 'subject'>;

const FIELDS = (Object.entries(JUDGE_FIELDS) as [FieldName, JudgeField][]).map(([name, field]) => ({ name, ...field }));

export const fieldsOfPart = (part: JudgeField['part']) => FIELDS.filter((field) => field.part === part);

/** A value of each field that such judges have. */
function each({ evaluation_type, subject }: Sort, of: (field: (typeof FIELDS)[number]) => unknown) {
  const has = { scale: evaluation_type === 'scored', whole: subject !== 'span', model: true };
  const fields = FIELDS.filter(({ part }) => has[part]);
  return Object.fromEntries(fields.map((field) => [field.name, of(field)]));
}

const ALL: Sort = { evaluation_type: 'scored', subject: 'trace' };
export const NEW_FIELDS = each(ALL, ({ first = '' }) => first) as unknown as FieldDraft;

export function fieldsOf(judge: JudgeRead): FieldDraft {
  return {
    ...NEW_FIELDS,
    ...each(judge, ({ name, control }) => CONTROLS[control].shown(judge[name] as never)),
  };
}

export function bodyOfFields(draft: FieldDraft & Sort): Pick<JudgeInput, FieldName> {
  return each(draft, ({ name, control }) => CONTROLS[control].sent(draft[name] as never));
}
