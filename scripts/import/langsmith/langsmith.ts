import { resolve } from 'node:path';
import { filesIn } from '../files.js';
import { ImportError } from '../import-error.js';
import type { Members } from '../members.js';
import { PARQUET, readParquetFiles, sizeOf, type RowReader } from '../parquet-files.js';
import type { Given } from '../source-options.js';
import type { Source, Step } from '../step.js';
import { LANGSMITH, spanOfRun } from './runs.js';

/** Files of LangSmith's bulk export. @throws ImportError when there are none */
export async function openLangSmith(paths: readonly string[], { sinceMs }: Given): Promise<Source> {
  if (paths.length === 0) throw new ImportError('Name the files of a bulk export of LangSmith, or a folder of them');
  const folders = paths.map((path) => resolve(path));
  const files = await filesIn(folders, PARQUET);
  return {
    identity: JSON.stringify([LANGSMITH, folders, sinceMs]),
    mark: LANGSMITH,
    size: sizeOf(files),
    found: [`${files.length} files of a bulk export`],
    read: (cursor, project) => readParquetFiles(files, cursor, runs(project, sinceMs)),
  };
}

const runs = (project: string, sinceMs: number | null): RowReader => ({
  *row(row: Members, name: string): Iterable<Step> {
    const span = spanOfRun(project, row, name);
    if ('why' in span) yield { type: 'left', left: span };
    else if (sinceMs === null || Date.parse(span.started_at) >= sinceMs) yield { type: 'spans', spans: [span] };
  },
  steps: () => [],
});
