import type { ListDefinition } from '../../../engine/traces/model/list/definitions.js';
import type { Lists } from '../../../engine/traces/model/list/lists.js';
import type { ListQuery } from '../../../engine/traces/model/list/query.js';
import { exportQueryOf } from '../../../http/list-query.js';
import { NAMES_HEADERS, namesHeader, TAG_FILTERS } from '../../../http/names-header.js';
import type { ExportedList } from '../../exports/http/export-route.js';
import { listRows } from '../row-pages.js';

/** Fields without which an export could not continue. */
const KEPT = {
  spans: '`id`, `trace_id` and `started_at`',
  traces: '`id` and `started_at`',
  sessions: '`id` and `created_at`',
};

/** The export of one of the three lists. */
export function exportedList<const N extends ListDefinition['name']>(
  list: ListDefinition & { readonly name: N },
  lists: Lists,
): ExportedList<N, ListQuery> {
  const { name } = list;
  return {
    name,
    tag: 'Traces',
    described: `Filters, \`fields\` and \`text_limit\` are those of \`GET /${name}\`; ${KEPT[name]} are always included.`,
    query: exportQueryOf(list),
    headers: { [TAG_FILTERS]: NAMES_HEADERS[TAG_FILTERS] },
    headersOf: ({ tags }) => (tags.size > 0 ? { [TAG_FILTERS]: namesHeader([...tags.keys()]) } : {}),
    rows: (projectId, query) => listRows(lists, { list, projectId, query }),
  };
}
