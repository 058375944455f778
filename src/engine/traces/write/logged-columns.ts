import type { LoggedColumns } from './log/segment.js';
import { insertedColumns, type TableName } from './table-columns.js';

const SPANS = [
  ...['ver', 'project_id', 'trace_id', 'id', 'parent_span_id', 'session_id', 'session_name', 'name', 'kind', 'status'],
  ...['started_at', 'ended_at', 'duration_ms', 'cost', 'payload', 'input_bytes', 'no_output', 'attributes', 'tags'],
  ...['trace_tags', 'session_tags', 'error_code', 'error_message', 'error_stack', 'code_filepath', 'code_lineno'],
  ...[
    'has_error',
    'cost_calculated',
    'origin_ver',
    'received_ver',
    'provider',
    'model',
    'input_tokens',
    'output_tokens',
  ],
  ...['cache_read_tokens', 'cache_write_tokens', 'prompt_slug', 'prompt_version', 'prompt_version_id'],
];

/** What rows held when segments of the log did not say it: in all versions the same. */
export const UNNAMED_COLUMNS: Readonly<Record<TableName, readonly string[]>> = {
  spans: SPANS,
  marked_spans: [...SPANS, 'experiment_id', 'experiment_row', 'experiment_repetition', 'experiment_trace'],
  facts: [
    ...['ver', 'project_id', 'trace_id', 'row_type', 'id', 'deleted', 'session_id', 'name', 'status', 'started_at'],
    ...['ended_at', 'duration_ms', 'cost', 'trace_tags', 'attributes', 'origin_ver'],
  ],
  session_statements: ['ver', 'project_id', 'session_id', 'deleted', 'name', 'tags', 'attributes'],
  scores: [
    ...['ver', 'project_id', 'entity_type', 'entity_id', 'name', 'id', 'deleted', 'source', 'author', 'kind', 'number'],
    ...['text', 'comment', 'metadata', 'received_ver'],
  ],
};

/** The columns of rows that were read from the log; undefined: those of now. @param said null: nothing */
export function loggedColumns(said: LoggedColumns | null, table: TableName): readonly string[] | undefined {
  const columns = (said ?? UNNAMED_COLUMNS)[table] ?? insertedColumns[table];
  return String(columns) === String(insertedColumns[table]) ? undefined : columns;
}
