import { UUID } from '../../engine/schema/ids.js';
import type { Comparison, spanList } from '../../engine/traces/model/list/definitions.js';
import type { AppliedFilter, AskedOfSpan, FilterValue, ScoreFilter } from '../../engine/traces/model/list/query.js';
import { sessionNamed } from '../../otlp/session-id.js';
import { DomainError } from '../../engine/errors.js';
import { asObject } from '../../facade/json.js';
import { ownId } from '../ids.js';
import { parseFilter, refused, type Call, type Expression } from './filter-grammar.js';
import { boundOf, type Unit } from './filter-values.js';

/**
 * What a filter asks for, by the filters of lists.
 * @param field of the request that has it
 * @returns null: nothing is asked
 * @throws DomainError `malformed` with what cannot be applied
 */
export function readRunFilter(
  projectId: string,
  text: string | null | undefined,
  field = 'filter',
): AskedOfSpan | null {
  if (text == null || text === '') return null;
  const asked = new Asked(projectId);
  try {
    asked.group([parseFilter(text)]);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const issues = error.issues.map((issue) => ({ ...issue, pointer: `/${field}` }));
    throw new DomainError(error.kind, error.message.replace('The filter', `\`${field}\``), { issues });
  }
  return asked;
}

type Field = keyof typeof spanList.fields;
type Value = string | number | boolean | null;

/** Fields that are compared with one value, or some. */
const TEXTS: ReadonlyMap<string, Field> = new Map([
  ['run_type', 'kind'],
  ['name', 'name'],
]);
const IDS: ReadonlyMap<string, Field> = new Map([
  ['id', 'id'],
  ['run_id', 'id'],
  ['trace_id', 'trace_id'],
]);
/** Fields that are compared with a bound. */
const BOUNDED: ReadonlyMap<string, readonly [Field, Unit]> = new Map([
  ['latency', ['duration_ms', 'seconds']],
  ['start_time', ['started_at', 'time']],
  ['end_time', ['ended_at', 'time']],
  ['prompt_tokens', ['input_tokens', 'count']],
  ['completion_tokens', ['output_tokens', 'count']],
  ['total_cost', ['cost', 'dollars']],
]);
/** Runs that are part of no other, and those that are. */
export const ROOTS = parentFilter('isOrNull');
export const PARTS = parentFilter('isSet');
/** Metadata that tells which session a run belongs to. */
const SESSIONS: ReadonlySet<string> = new Set(['session_id', 'thread_id', 'conversation_id']);
/** Metadata and scores are named by one comparison and compared by another beside it. */
const PAIRED: ReadonlySet<string> = new Set([
  ...['metadata_key', 'metadata_value'],
  ...['feedback_key', 'feedback_score', 'feedback_value'],
]);

function parentFilter(comparison: Comparison): AppliedFilter {
  const field = 'parent_span_id';
  return { filter: { parameter: field, field, comparison, description: '' }, values: [null] };
}

interface Compared {
  readonly by: string;
  readonly field: string;
  readonly values: readonly Value[];
}

class Asked implements AskedOfSpan {
  readonly filters: AppliedFilter[] = [];
  readonly tags = new Map<string, readonly string[]>();
  readonly scores = new Map<string, ScoreFilter>();
  search: string | null = null;
  readonly #projectId: string;

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  /** Conditions that all have to be met. */
  group(calls: readonly Expression[]): void {
    const paired: Compared[] = [];
    for (const call of calls) {
      if (call.is !== 'call') throw refused('has a value where a condition must stand');
      if (call.name === 'and') this.group(call.args);
      else if (call.name === 'search') this.#searchFor(call);
      else if (call.name === 'has') this.#has(call);
      else {
        const compared = call.name === 'or' ? alternatives(call) : comparison(call);
        if (PAIRED.has(compared.field)) paired.push(compared);
        else this.#compare(compared);
      }
    }
    this.#pairs(paired);
  }

  #compare({ by, field, values }: Compared): void {
    const first = values[0] ?? null;
    const isEqual = by === 'eq' || by === 'in';
    const [text, id, bounded] = [TEXTS.get(field), IDS.get(field), BOUNDED.get(field)];
    if (text !== undefined && isEqual) this.#anyOf(text, values.map(field === 'run_type' ? lower : String));
    else if (id !== undefined && isEqual)
      this.#anyOf(
        id,
        values.map((value) => this.#id(field, value)),
      );
    else if (field === 'parent_run_id' && by === 'eq')
      this.#filter('parent_span_id', 'isOrNull', first === null ? null : this.#id(field, first));
    else if (field === 'is_root' && by === 'eq' && typeof first === 'boolean') this.#root(first);
    else if (field === 'error' && (by === 'eq' || by === 'neq')) this.#error(by, first);
    else if (field === 'status' && (by === 'eq' || by === 'neq')) this.#status(by, first);
    else if (SESSIONS.has(field) && by === 'eq') this.#session(String(first));
    else if (bounded !== undefined && /^[gl]te?$/.test(by)) {
      const [own, unit] = bounded;
      this.#filter(own, by.startsWith('g') ? 'atLeast' : 'atMost', boundOf(by, field, first, unit));
    } else throw refused(`compares ${field} by ${by}, which is not supported`);
  }

  #filter(field: Field, comparison: Comparison, ...values: FilterValue[]): void {
    this.filters.push({ filter: { parameter: field, field, comparison, description: '' }, values });
  }

  #anyOf(field: Field, values: readonly string[]): void {
    if (values.length === 0) throw refused(`compares ${field} with no value`);
    this.#filter(field, 'anyOf', ...values);
  }

  #id(field: string, id: Value): string {
    const own = typeof id === 'string' && id !== '' ? ownId(this.#projectId, id) : '';
    if (!UUID.test(own)) throw refused(`compares ${field} with what is no id`);
    return own;
  }

  #root(isRoot: boolean): void {
    this.filters.push(isRoot ? ROOTS : PARTS);
  }

  #error(by: string, value: Value): void {
    if (value !== null && typeof value !== 'boolean') throw refused('compares error with a text: use search("…")');
    const hasError = value === null ? by === 'neq' : value === (by === 'eq');
    this.#filter('has_error', 'is', hasError);
  }

  #status(by: string, value: Value): void {
    if (value === 'error') {
      this.#filter('has_error', 'is', by === 'eq');
      return;
    }
    if (by === 'neq' || (value !== 'success' && value !== 'pending'))
      throw refused('compares status with something else than "success", "error" or "pending"');
    this.#filter('has_error', 'is', false);
    if (value === 'success') this.#filter('ended_at', 'atLeast', 0);
    else this.#filter('ended_at', 'isOrNull', null);
  }

  #session(name: string): void {
    const id = sessionNamed(name)?.id;
    if (id === undefined) throw refused('compares a session with what names none');
    this.#filter('session_id', 'is', id);
  }

  #searchFor({ args }: Call): void {
    const [text, ...more] = args;
    if (text?.is !== 'value' || typeof text.value !== 'string' || text.value === '' || more.length > 0)
      throw refused('has a search of something else than one text');
    if (text.value.length > MAX_SEARCHED) throw refused(`searches for more than ${MAX_SEARCHED} characters`);
    if (this.search !== null && this.search !== text.value) throw refused('searches for more than one text');
    this.search = text.value;
  }

  #has(call: Call): void {
    const { field, values } = comparison(call);
    const [value = null] = values;
    if (field === 'tags' && typeof value === 'string') this.#tag(value, 'true');
    else if (field === 'metadata' && typeof value === 'string')
      for (const [name, each] of Object.entries(objectIn(value))) this.#metadata(name, each);
    else throw refused(`has ${field}, which is not supported`);
  }

  #metadata(name: string, value: unknown): void {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw refused(`compares ${name} of the metadata with what is no text or number`);
    if (SESSIONS.has(name)) this.#session(String(value));
    else this.#tag(name === 'user_id' ? 'user' : name, String(value));
  }

  #tag(name: string, value: string): void {
    const known = this.tags.get(name);
    if (known !== undefined && known[0] !== value) throw refused(`asks for two values of ${name}`);
    this.tags.set(name, [value]);
  }

  #pairs(paired: readonly Compared[]): void {
    const of = (field: string) => paired.filter((each) => each.field === field);
    const [keys, values, names] = [of('metadata_key'), of('metadata_value'), of('feedback_key')];
    const scored = [...of('feedback_score'), ...of('feedback_value')];
    const [key, name] = [keys[0], names[0]];
    if (keys.length + values.length > 0) {
      if (key?.by !== 'eq' || keys.length > 1 || values.length !== 1 || values[0]?.by !== 'eq')
        throw refused('must have one `eq(metadata_key, …)` and one `eq(metadata_value, …)` in the same `and`');
      this.#metadata(String(key.values[0]), values[0].values[0]);
    }
    if (names.length + scored.length === 0) return;
    if (name?.by !== 'eq' || names.length > 1)
      throw refused('must have one `eq(feedback_key, …)` in the same `and` as the score');
    const scoreName = String(name.values[0]);
    this.scores.set(
      scoreName,
      scored.reduce(narrowed, this.scores.get(scoreName) ?? { values: null, min: null, max: null }),
    );
  }
}

/** Longest text that is searched for, in characters. */
const MAX_SEARCHED = 1_000;

/** @throws DomainError `malformed` */
function comparison({ name, args }: Call): Compared {
  const [field, value, ...more] = args;
  if (!COMPARISONS.has(name)) throw refused(`calls ${name}, which is not supported`);
  if (field?.is !== 'field' || value === undefined || more.length > 0)
    throw refused(`calls ${name} with something else than a field and a value`);
  if (value.is === 'value') return { by: name, field: field.name, values: [value.value] };
  if (value.is !== 'list' || name !== 'in') throw refused(`compares ${field.name} with what is no value`);
  return { by: name, field: field.name, values: value.items.map(valueIn) };
}

const COMPARISONS: ReadonlySet<string> = new Set(['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in', 'has']);

function valueIn(item: Expression): Value {
  if (item.is !== 'value') throw refused('has a list with something else than values');
  return item.value;
}

/** Values of one field, each of which will do. */
function alternatives({ args }: Call): Compared {
  const compared = args.map((each) => {
    if (each.is !== 'call') throw refused('has a value where a condition must stand');
    return comparison(each);
  });
  const [first] = compared;
  const isOne = compared.every(({ by, field }) => (by === 'eq' || by === 'in') && field === first?.field);
  if (first === undefined || !isOne || PAIRED.has(first.field))
    throw refused('has an `or` of something else than `eq` of one field');
  return { by: 'in', field: first.field, values: compared.flatMap(({ values }) => values) };
}

function narrowed(score: ScoreFilter, { by, field, values }: Compared): ScoreFilter {
  const value = values[0] ?? null;
  if (by === 'eq') {
    if (score.values !== null && score.values[0] !== String(value)) throw refused('asks for two values of a score');
    return { ...score, values: [String(value)] };
  }
  if (field !== 'feedback_score' || !/^[gl]te?$/.test(by))
    throw refused(`compares ${field} by ${by}, which is not supported`);
  const bound = boundOf(by, field, value, 'number');
  return by.startsWith('g')
    ? { ...score, min: Math.max(bound, score.min ?? -Infinity) }
    : { ...score, max: Math.min(bound, score.max ?? Infinity) };
}

function objectIn(json: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = undefined;
  }
  const object = asObject(value);
  if (object === undefined) throw refused('has metadata that is no JSON object');
  return object;
}

const lower = (value: Value) => String(value).toLowerCase();
