import { resolve } from 'node:path';
import { filesIn } from '../files.js';
import { ImportError } from '../import-error.js';
import { textOf, type Members } from '../members.js';
import { PARQUET, readParquetFiles, sizeOf, type RowReader } from '../parquet-files.js';
import type { Given } from '../source-options.js';
import type { Source, Step } from '../step.js';
import { FeedbackReader } from './feedback.js';
import { LANGSMITH, spanOfRun } from './runs.js';

/** Files of LangSmith's bulk export, and from its API the feedback about their runs, which they lack. @throws ImportError */
export async function openLangSmith(paths: readonly string[], given: Given): Promise<Source> {
  if (paths.length === 0) throw new ImportError('Name the files of a bulk export of LangSmith, or a folder of them');
  const folders = paths.map((path) => resolve(path));
  const files = await filesIn(folders, PARQUET);
  const { sinceMs, sourceUrl } = given;
  const feedback = await feedbackOf(given);
  return {
    identity: JSON.stringify([LANGSMITH, folders, sinceMs, ...(sourceUrl === undefined ? [] : [sourceUrl])]),
    mark: LANGSMITH,
    size: sizeOf(files),
    found: [`${files.length} files of a bulk export`, ...(feedback === null ? [] : [`feedback of ${sourceUrl}`])],
    read: (cursor, project) => readParquetFiles(files, cursor, runs(project, sinceMs, feedback)),
  };
}

/** Null: none is asked for. */
async function feedbackOf({ sourceUrl, sourceKey }: Given): Promise<FeedbackReader | null> {
  if (sourceUrl === undefined) return null;
  const key = sourceKey ?? process.env['LANGSMITH_API_KEY'];
  if (key === undefined) throw new ImportError('Give the API key of LangSmith with --source-key');
  return FeedbackReader.open(sourceUrl, key);
}

function runs(project: string, sinceMs: number | null, feedback: FeedbackReader | null): RowReader {
  let sent: string[] = [];
  return {
    *row(row: Members, name: string): Iterable<Step> {
      const span = spanOfRun(project, row, name);
      if ('why' in span) yield { type: 'left', left: span };
      else if (sinceMs === null || Date.parse(span.started_at) >= sinceMs) {
        yield { type: 'spans', spans: [span] };
        if (feedback !== null) sent.push(textOf(row['id']) ?? '');
      }
    },
    async *steps() {
      const about = sent;
      sent = [];
      if (feedback !== null) yield* feedback.about(about, project);
    },
  };
}
