import { Type } from '@sinclair/typebox';
import type { ListDefinition } from '../../../engine/traces/model/list/definitions.js';
import type { ExportFormat } from '../../../engine/traces/model/list/export.js';
import { exportQueryOf } from '../../../http/list-query.js';
import { NAMES_HEADERS, namesHeader, TAG_FILTERS } from '../../../http/names-header.js';
import { defineRoute } from '../../../http/route.js';
import { EXPORTS_PER_PROJECT, type ListExports } from '../export/list-exports.js';

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

/** Fields without which an export could not go on. */
const KEPT = {
  spans: '`id`, `trace_id` and `started_at`',
  traces: '`id` and `started_at`',
  sessions: '`id` and `created_at`',
};

/** `GET /spans:export`, `/traces:export` and `/sessions:export`. */
export function exportRoute<const N extends ListDefinition['name']>(
  list: ListDefinition & { readonly name: N },
  exports: ListExports,
) {
  const { name } = list;
  return defineRoute({
    method: 'GET',
    path: `/${name}:export` as const,
    operationId: `export${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    summary: `Export ${name}`,
    description: `Returns all ${name} that match, newest first, as one file: JSON lines, CSV or Parquet. Filters, \`fields\` and \`text_limit\` are those of \`GET /${name}\`; ${KEPT[name]} are always included. CSV has texts as they are and objects as JSON. The file is sent while it is read: ${name} that exist all the time are in it exactly once, and those that are written or deleted meanwhile may be missing. If the export fails midway, the connection breaks, so that no client takes a part for the whole. A project can have up to ${EXPORTS_PER_PROJECT} exports at once.`,
    tag: 'Traces',
    access: 'key',
    query: exportQueryOf(list),
    responses: {
      200: {
        description: 'The file.',
        schema: Type.String({ format: 'binary' }),
        contentType: 'application/octet-stream',
        headers: { [TAG_FILTERS]: NAMES_HEADERS[TAG_FILTERS] },
      },
    },
    errors: ['invalid', 'overloaded', 'unavailable'],
    async handle({ principal, query: { query, format }, signal, isAdmitted }) {
      const wanted = { list, projectId: principal.project_id, query, format, isAdmitted };
      return {
        status: 200,
        headers: {
          'Content-Disposition': `attachment; filename="${name}.${format}"`,
          ...(query.tags.size > 0 && { [TAG_FILTERS]: namesHeader([...query.tags.keys()]) }),
        },
        stream: await exports.open(wanted, signal),
        contentType: MEDIA_TYPES[format],
        lasting: true,
      };
    },
  });
}
