import { resolve } from 'node:path';
import { filesIn, type FoundFile } from '../files.js';
import { linesOf, MAX_LINE_BYTES } from '../lines.js';
import { objectIn } from '../members.js';
import type { Given } from '../source-options.js';
import { ScoreBatch } from '../score-batch.js';
import type { Source, Step } from '../step.js';
import { EventBatch } from './event-batch.js';
import { LANGFUSE, observationEvent, traceEvent, traceOfRow } from './events.js';
import { datedScoreOf } from './score.js';
import { fromBlob, type Thing } from './shapes.js';

/** How far each file is sent. */
type Cursor = Readonly<Record<string, { readonly to: number; readonly size: number }>>;

const LINES_PER_CURSOR = 2000;

/** Files of Langfuse's blob export as JSON lines, packed or not. @throws ImportError when there is none */
export async function openBlobExport(paths: readonly string[], { sinceMs }: Given): Promise<Source> {
  const folders = paths.map((path) => resolve(path));
  const files = await filesIn(folders, /\.(jsonl|ndjson)(\.gz|\.zst)?$/);
  return {
    identity: JSON.stringify(['langfuse', folders, sinceMs]),
    mark: LANGFUSE,
    size: { total: files.reduce((sum, { size }) => sum + size, 0), unit: 'bytes' },
    found: [`${files.length} files of a blob export`],
    read: (cursor, project) => read(files, (cursor ?? {}) as Cursor, project, sinceMs),
  };
}

async function* read(
  files: readonly FoundFile[],
  known: Cursor,
  project: string,
  sinceMs: number | null,
): AsyncGenerator<Step> {
  let cursor = known;
  let before = 0;
  const scores = new ScoreBatch(project);
  for (const { path, size } of files) {
    const { to = 0, size: then = -1 } = cursor[path] ?? {};
    before += size;
    if (then !== size) {
      const batch = new EventBatch();
      let end = to;
      let lines = 0;
      for await (const { bytes, from, to, number } of linesOf(path, end)) {
        const name = end === 0 || from === 0 ? `${path}:${number}` : `${path} at byte ${from}`;
        yield* lineSteps({ bytes, name }, { batch, scores, sinceMs, project });
        end = to;
        yield { type: 'progress', done: before - size + Math.min(size, end) };
        if ((lines += 1) % LINES_PER_CURSOR !== 0) continue;
        yield* batch.steps();
        yield* scores.steps();
        cursor = { ...cursor, [path]: { to: end, size: -1 } };
        yield { type: 'cursor', cursor };
      }
      yield* batch.steps();
      yield* scores.steps();
      cursor = { ...cursor, [path]: { to: end, size } };
      yield { type: 'cursor', cursor };
    }
    yield { type: 'progress', done: before };
  }
}

interface Into {
  readonly batch: EventBatch;
  readonly scores: ScoreBatch;
  readonly sinceMs: number | null;
  readonly project: string;
}

function* lineSteps(
  { bytes, name }: { readonly bytes: Buffer | null; readonly name: string },
  { batch, scores, sinceMs, project }: Into,
): Iterable<Step> {
  if (bytes?.length === 0) return;
  const row = bytes === null ? null : objectIn(bytes);
  if (row === null) {
    const why = bytes === null ? `the line has more than ${MAX_LINE_BYTES} bytes` : 'the line is no JSON object';
    yield { type: 'left', left: { what: name, why } };
    return;
  }
  const thing = fromBlob(row);
  const at = thing['startTime'] ?? thing['timestamp'];
  if (sinceMs !== null && typeof at === 'string' && Date.parse(at) < sinceMs) return;
  if (isScore(thing)) yield* scores.add(datedScoreOf(project, thing));
  else if ('startTime' in thing) {
    // Rows of the newer export say what their trace is, which has no row.
    const trace = 'traceName' in thing || 'sessionId' in thing ? traceOfRow(thing) : null;
    if (trace !== null) yield* batch.add(traceEvent(trace), name);
    yield* batch.add(observationEvent(thing), name);
  } else yield* batch.add(traceEvent(thing), name);
}

function isScore(thing: Thing): boolean {
  return 'dataType' in thing && ('value' in thing || 'stringValue' in thing);
}
