import { Type } from '@sinclair/typebox';
import type { ExportFormat } from '../../../engine/traces/model/list/export.js';
import type { QueryDefinition } from '../../../http/query.js';
import { defineRoute } from '../../../http/route.js';
import type { Scope } from '../../../engine/identity/scopes.js';
import type { Tag } from '../../../http/route-scopes.js';
import { EXPORTS_PER_PROJECT, type Exports } from '../exports.js';
import type { ExportedRows } from '../exported-rows.js';

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

/** What is particular to the export of one list. */
export interface ExportedList<N extends string, Q> {
  readonly name: N;
  /** What the list is called in sentences; default: its name. */
  readonly objects?: string;
  /** Default: as the group says. */
  readonly scopes?: readonly Scope[];
  /** How the documentation groups the routes of the list. */
  readonly tag: Tag;
  /** Which objects the file has, and by which parameters. */
  readonly described: string;
  readonly query: QueryDefinition<{ readonly query: Q; readonly format: ExportFormat }>;
  /** Headers of the answer by name, with what they say. */
  readonly headers?: Readonly<Record<string, string>>;
  headersOf?(query: Q): Readonly<Record<string, string>>;
  rows(projectId: string, query: Q): ExportedRows;
}

/** `GET /spans:export`, and those of the other lists. */
export function exportRoute<const N extends string, Q>(list: ExportedList<N, Q>, exports: Exports) {
  const { name, objects = name, tag, scopes, described, query: asked, headers = {} } = list;
  return defineRoute({
    method: 'GET',
    path: `/${name}:export` as const,
    operationId: `export${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    summary: `Export ${objects}`,
    description: `Returns all ${objects} that match, newest first, as one file: JSON lines, CSV or Parquet. ${described} CSV has texts as they are and objects as JSON. The file is sent while it is read: ${objects} that exist all the time are in it exactly once, and those that are written or deleted meanwhile may be missing. If the export fails midway, the connection breaks, so that no client takes a part for the whole. A project can have up to ${EXPORTS_PER_PROJECT} exports at once.`,
    tag,
    access: 'key',
    ...(scopes === undefined ? {} : { scopes }),
    query: asked,
    responses: {
      200: {
        description: 'The file.',
        schema: Type.String({ format: 'binary' }),
        contentType: 'application/octet-stream',
        headers,
      },
    },
    errors: ['invalid', 'overloaded', 'unavailable'],
    async handle({ principal: by, query: { query, format }, signal, isAdmitted }) {
      const wanted = { by, list: name, rows: list.rows(by.project_id, query), format, isAdmitted };
      return {
        status: 200,
        headers: {
          'Content-Disposition': `attachment; filename="${name}.${format}"`,
          ...list.headersOf?.(query),
        },
        stream: await exports.open(wanted, signal),
        contentType: MEDIA_TYPES[format],
        lasting: true,
      };
    },
  });
}
