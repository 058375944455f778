import type { SpanRead, TraceRead } from '../../engine/traces/model/list/fields.js';
import type { TracePart } from './share-link.js';

type FieldsOf<F> = Readonly<Partial<Record<TracePart, readonly (keyof F & string)[]>>>;

/** What every link shows of a trace: no id of anything that the trace is part of. */
const ALWAYS_OF_TRACE = [
  ...(['name', 'status', 'has_error', 'started_at', 'ended_at', 'duration_ms', 'span_count', 'error_count'] as const),
] as const satisfies readonly (keyof TraceRead)[];
const OF_TRACE = {
  costs: ['cost', 'input_tokens', 'output_tokens'],
  metadata: ['tags'],
} as const satisfies FieldsOf<TraceRead>;

const ALWAYS_OF_SPAN = [
  ...(['id', 'name', 'kind', 'status', 'has_error', 'started_at', 'ended_at', 'duration_ms'] as const),
  ...(['provider', 'model'] as const),
] as const satisfies readonly (keyof SpanRead)[];
const OF_SPAN = {
  texts: ['input_data', 'output_data'],
  errors: ['error_code', 'error_message', 'error_stack', 'code_filepath', 'code_lineno'],
  costs: ['cost', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'],
  metadata: ['tags', 'trace_tags', 'session_tags', 'prompt_slug', 'prompt_version'],
  attributes: ['attributes'],
} as const satisfies FieldsOf<SpanRead>;

type Optional<F, P extends Readonly<Record<string, readonly string[]>>> = Partial<
  Pick<F, Extract<P[keyof P][number], keyof F>>
>;
/** A trace as a link shows it: a field that is left out is absent. */
export type ShownTrace = Pick<TraceRead, (typeof ALWAYS_OF_TRACE)[number]> & Optional<TraceRead, typeof OF_TRACE>;
/** A span as a link shows it. */
export type ShownSpan = Pick<SpanRead, (typeof ALWAYS_OF_SPAN)[number]> & Optional<SpanRead, typeof OF_SPAN>;

/** Whether a part is shown. Attributes may repeat anything, so that they are shown only where everything is. */
export function isShown(leftOut: readonly TracePart[], part: TracePart): boolean {
  return part === 'attributes' ? leftOut.length === 0 : !leftOut.includes(part);
}

/** The fields of a trace that are read for a link: what is left out is never read. */
export function shownOfTrace(leftOut: readonly TracePart[]): string[] {
  return [...ALWAYS_OF_TRACE, ...among(OF_TRACE, leftOut)];
}

/** The fields of a span that are read for a link. */
export function shownOfSpan(leftOut: readonly TracePart[]): string[] {
  return [...ALWAYS_OF_SPAN, ...among(OF_SPAN, leftOut)];
}

function among(
  fields: Readonly<Partial<Record<TracePart, readonly string[]>>>,
  leftOut: readonly TracePart[],
): string[] {
  return Object.entries(fields).flatMap(([part, names]) => (isShown(leftOut, part as TracePart) ? (names ?? []) : []));
}

const TAGS = ['tags', 'trace_tags', 'session_tags'] as const;
/** How words begin in keys of tags that say who the user is. */
const OF_USER = /^(?:end)?(?:user|e?mail|customer|account|person|(?:tele)?phone)/i;

/** Whether a key has such a word, as in `enduser.id`, `langfuse.user.id`, `customer_id` and `contactEmail`. */
function isOfUser(key: string): boolean {
  const words = key.replace(/([a-z0-9])([A-Z])/g, '$1.$2').split(/[^A-Za-z]+/);
  return words.some((word) => OF_USER.test(word));
}

/** An object without tags that say who the user is. */
export function withoutUser<T extends ShownTrace | ShownSpan>(shown: T): T {
  const changes = TAGS.flatMap((field) => {
    const tags = (shown as Partial<ShownSpan>)[field];
    if (tags === undefined) return [];
    return [[field, Object.fromEntries(Object.entries(tags).filter(([key]) => !isOfUser(key)))]];
  });
  return { ...shown, ...(Object.fromEntries(changes) as Partial<T>) };
}
