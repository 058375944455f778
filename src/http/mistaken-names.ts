import { sessionList, spanList, traceList, type ListDefinition } from '../engine/traces/model/list/definitions.js';
import { CALL_FIELDS } from '../engine/traces/model/span/span-call.js';
import type { MistakenNames } from './parameter.js';

const lists: readonly ListDefinition[] = [spanList, traceList, sessionList];

/** Parameters of the calls beside a list that the list itself has not. */
const BESIDE: readonly (readonly [call: string, names: readonly string[]])[] = [
  ['stats', ['measures', 'bucket', 'time_zone', 'group_by']],
  ['facets', ['field', 'prefix']],
  ['tail', ['after']],
];

/**
 * Names that clients write by mistake, though the call has no parameter of that name: fields, filters of other lists, and
 * parameters of calls about the same objects. As tags they would find nothing, and the client would not know why.
 * @param paging parameters of the list that the call has not
 */
export function mistakenForTags(list: ListDefinition, paging: readonly string[] = []): MistakenNames {
  const own = new Set(list.filters.map(({ parameter }) => parameter));
  const mistaken = new Map<string, string>();
  for (const other of [list, ...lists.filter(({ name }) => name !== list.name)]) {
    for (const name of [...Object.keys(other.fields), ...other.filters.map(({ parameter }) => parameter)])
      if (!own.has(name) && !mistaken.has(name) && !isTag(name))
        mistaken.set(name, `${reason(list, other, name)}; ${asTag(name)}`);
  }
  for (const name of paging)
    mistaken.set(name, `applies only to the list, because this call covers everything that matches; ${asTag(name)}`);
  for (const [call, names] of BESIDE)
    // Sessions have no tail.
    if (call !== 'tail' || list.name !== 'sessions')
      for (const name of names) mistaken.set(name, `applies only to GET /${list.name}:${call}; ${asTag(name)}`);
  if (!list.hasInternal)
    for (const name of ['internal', 'experiments', 'experiment_id'])
      mistaken.set(name, `applies only to spans and traces, not to ${list.name}; ${asTag(name)}`);
  return mistaken;
}

function reason(list: ListDefinition, other: ListDefinition, name: string): string {
  if (!Object.hasOwn(list.fields, name)) return `filters ${other.name}, not ${list.name}`;
  const filters = list.filters.filter(({ field }) => field === name).map(({ parameter }) => parameter);
  if (filters.length > 0) return `is a field, not a filter: to filter by it, use ${filters.join(' or ')}`;
  return `is a field that ${list.name} cannot be filtered by${SEARCHED.has(name) ? ' (q searches its text)' : ''}`;
}

/** Clients have tags called `model` and the like, and filtered by them before there were such fields. */
const filters = new Set<string>(spanList.filters.map(({ parameter }) => parameter));
const isTag = (name: string) => CALL_FIELDS.has(name) && !filters.has(name);

const SEARCHED = new Set([
  'input_data',
  'output_data',
  'error_message',
  'root_span_input',
  'root_span_output',
  'root_span_error',
]);

const asTag = (name: string) =>
  name === 'tags' ? 'for a tag, use tags.<key>=<value>' : `for the tag with this name, use tags.${name}`;
