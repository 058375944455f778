import { shownText } from '../../engine/json-text.js';
import { DELIMITED_IS_DATA, delimiter, type Delimit } from './delimited.js';
import type { Examples } from './examples.js';
import { columnText, expectedText, type JudgedRow } from './judged-row.js';
import type { JudgeSettings } from './judge.js';
import type { ChatMessage, ModelRequest } from '../../engine/models/model-client.js';
import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import { answerSchema } from './verdict.js';

export interface RequestParts {
  readonly judge: JudgeSettings;
  /** Text of the judge's instruction; may hold placeholders such as `{{input}}`. */
  readonly instruction: string;
  readonly span: JudgedSpan;
  readonly examples: Examples;
  /** The row of the dataset that the span is a result of; null, or absent: none. */
  readonly row?: JudgedRow | null;
  readonly model: string;
  /** Code in the tags around texts of the span; of this request alone, and not to be guessed. */
  readonly code: string;
}

const PLACEHOLDER =
  /\{\{\s*(input|output|outline|expected|name|kind|tags|attributes|error|row\.[^{}\r\n]{1,200}?)\s*\}\}/g;
const SHOWS_SUBJECT = /\{\{\s*(?:input|output|outline)\s*\}\}/;
/** What is evaluated, as a model is told. */
const NAMES = {
  span: { one: 'one recorded step of a program', name: 'step' },
  trace: { one: 'one recorded trace of a program, with all its steps,', name: 'trace' },
  session: { one: 'one recorded conversation with a program', name: 'conversation' },
} as const;

/**
 * Request that asks a model for an evaluation. An instruction that holds `{{input}}`, `{{output}}` or `{{outline}}` is shown
 * with what is evaluated filled in; else that follows it. Texts of spans stand between tags that no span can have guessed.
 */
export function judgeRequest({
  judge,
  instruction,
  span,
  examples,
  model,
  code,
  row = null,
}: RequestParts): ModelRequest {
  const filled = SHOWS_SUBJECT.test(instruction);
  const { name } = NAMES[span.whole?.kind ?? 'span'];
  const delimit = delimiter(code);
  // The part that is the same for every span comes first, so that endpoints can keep it in their cache.
  const system = filled
    ? rules(judge, span)
    : `${rules(judge, span)}\n\n# Instruction\n\n${fill(instruction, { span, row }, delimit)}`;
  const asked = filled
    ? fill(instruction, { span, row }, delimit)
    : `The ${name} to evaluate:\n\n${shownParts(span, delimit).join('\n\n')}`;
  const messages: ChatMessage[] = [
    { role: 'system', content: system },
    ...examples.messages,
    { role: 'user', content: asked },
  ];
  return { model, temperature: judge.temperature, messages, schema: { name: 'verdict', schema: answerSchema(judge) } };
}

/** What is evaluated, in parts of delimited data: its name, kind and status, its input and its output, or its outline. */
function shownParts(span: JudgedSpan, delimit: Delimit): string[] {
  const { whole } = span;
  if (whole != null) {
    const about = { name: span.name, kind: whole.kind, spans: whole.spans };
    return [delimit(NAMES[whole.kind].name, JSON.stringify(about)), delimit('outline', whole.outline)];
  }
  const about = { name: span.name, kind: span.kind, ...(span.status === null ? {} : { status: span.status }) };
  return [
    delimit('step', JSON.stringify(about)),
    delimit('input', span.input?.text ?? '(none)'),
    delimit('output', span.output?.text ?? '(none)'),
    ...(errorOf(span) === '' ? [] : [delimit('error', errorOf(span))]),
  ];
}

function rules(judge: JudgeSettings, { whole }: JudgedSpan): string {
  const scored = judge.evaluation_type === 'scored';
  const { one, name } = NAMES[whole?.kind ?? 'span'];
  const criteria = judge.criteria.map(
    ({ key, label, description }) => `- ${key}: ${label}${description === '' ? '' : `. ${description}`}`,
  );
  const heading = scored ? 'Criteria, each with a score and a reason of its own' : 'Criteria';
  return [
    `You are a judge. You evaluate ${one} by an instruction.`,
    DELIMITED_IS_DATA,
    scored
      ? `Answer with one JSON object: a reason, a score from ${judge.score_min} to ${judge.score_max}, and how sure you are, from 0 to 1.`
      : `Answer with one JSON object: a reason, whether the ${name} passes, and how sure you are, from 0 to 1.`,
    ...(criteria.length === 0 ? [] : [`${heading}:\n${criteria.join('\n')}`]),
  ].join('\n\n');
}

/** The most characters that are filled in; an instruction may hold very many placeholders, and no model reads as much. */
const MAX_FILLED = 2_000_000;

/** What placeholders are filled from. */
type Shown = { readonly span: JudgedSpan; readonly row: JudgedRow | null };

/** Fills placeholders in one pass, so that filled-in texts are not searched for placeholders. */
function fill(instruction: string, shown: Shown, delimit: Delimit): string {
  let left = MAX_FILLED;
  return instruction.replace(PLACEHOLDER, (whole, name: string) => {
    const filled = left > 0 ? delimit(name.replaceAll(/[^\w.]/g, '_'), valueOf(name, shown)) : whole;
    left -= filled.length;
    return filled;
  });
}

function valueOf(name: string, { span, row }: Shown): string {
  if (name.startsWith('row.')) return columnText(row, name.slice('row.'.length));
  switch (name) {
    case 'input':
      return span.input?.text ?? '';
    case 'output':
      return span.output?.text ?? '';
    case 'outline':
      return span.whole?.outline ?? '';
    case 'expected':
      return row === null
        ? shownText(span.attributes['expected_output'] ?? span.attributes['expected'])
        : expectedText(row);
    case 'tags':
      return JSON.stringify(span.tags);
    case 'attributes':
      return JSON.stringify(span.attributes);
    case 'error':
      return errorOf(span);
    default:
      return name === 'kind' ? span.kind : span.name;
  }
}

function errorOf({ error_code, error_message }: JudgedSpan): string {
  return [error_code, error_message].filter(Boolean).join(': ');
}
