import { spanList, type ListDefinition } from '../../../engine/traces/model/list/definitions.js';
import type { Suggest } from '../../model/filter-choices.js';
import { listRangeOf, selectionOf, type Property } from '../../model/list-query.js';
import { boundsOf } from '../../model/range.js';
import { call } from './api.js';

/** Values of what is listed, other than by the same property; nothing where values of a property are not counted. */
export function suggestFrom(list: ListDefinition, query: URLSearchParams): Suggest {
  return async (property, text, signal) => {
    // Fields of spans are those of spans, whatever trace they are in.
    const source = property?.ofSpans === true ? spanList : list;
    if (!isCounted(source, property)) return [];
    const asked = source === list ? selectionOf(query) : new URLSearchParams(boundsOf(listRangeOf(query)));
    if (property !== null) asked.delete(property.parameter);
    asked.set('field', property?.field ?? 'tags');
    asked.set('prefix', text);
    const { values } = await call(`GET /${source.name}:facets`, { query: asked, signal });
    return values.map(({ value, count }) => ({ value: String(value), count }));
  };
}

function isCounted({ groups }: ListDefinition, property: Property | null): boolean {
  const field = property === null ? 'tags.' : (property.field ?? '');
  return /^(tags|scores)\./.test(field) || groups.includes(field);
}
