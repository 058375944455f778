import { resolve } from 'node:path';
import { spanUuid } from '../../../src/engine/schema/ids.js';
import { scoreOfAnnotation, type Annotation } from '../../../src/phoenix/annotation.js';
import { RefusedError, Remote } from '../../transfer/remote.js';
import { filesIn } from '../files.js';
import { ImportError } from '../import-error.js';
import { membersIn, membersOf, textOf, type Members } from '../members.js';
import { PARQUET, readParquetFiles, sizeOf } from '../parquet-files.js';
import { ScoreBatch, type DatedScore } from '../score-batch.js';
import type { Given } from '../source-options.js';
import type { NotTaken, Source, Step } from '../step.js';
import { OtlpBatch } from './otlp-batch.js';
import { PHOENIX } from './otlp-span.js';

interface Cursor {
  /** Null: all of it was imported up to `until`. */
  readonly page: string | null;
  readonly from: string | null;
  readonly until: string;
  readonly done: number;
  readonly isDone: boolean;
}

const PATIENCE_MS = 900_000;
const PAGE = 100;

/** A project of a Phoenix server, or a data frame of spans in Parquet. @throws ImportError */
export async function openPhoenix(paths: readonly string[], given: Given): Promise<Source> {
  if (paths.length > 0) return openFrames(paths, given);
  const {
    sourceUrl = process.env['PHOENIX_COLLECTOR_ENDPOINT'],
    sourceKey = process.env['PHOENIX_API_KEY'],
    sourceProject = 'default',
    sinceMs,
  } = given;
  if (sourceUrl === undefined)
    throw new ImportError('Give the URL of the Phoenix server with --source-url, or name files of spans in Parquet');
  const credentials: Readonly<Record<string, string>> =
    sourceKey === undefined ? {} : { authorization: `Bearer ${sourceKey}`, api_key: sourceKey };
  const remote = new Remote(sourceUrl, '', PATIENCE_MS, { credentials, option: '--source-url' });
  const project = new PhoenixProject(remote, sourceProject, sinceMs);
  await project.exists();
  return {
    identity: JSON.stringify([PHOENIX, sourceUrl, sourceProject, sinceMs]),
    mark: PHOENIX,
    size: null,
    found: [`Project ${sourceProject} of ${sourceUrl}`],
    read: (cursor, target) => project.read(cursor as Cursor | null, target),
  };
}

async function openFrames(paths: readonly string[], { sinceMs }: Given): Promise<Source> {
  const folders = paths.map((path) => resolve(path));
  const files = await filesIn(folders, PARQUET);
  const batch = new OtlpBatch(null, sinceMs);
  return {
    identity: JSON.stringify([PHOENIX, folders, sinceMs]),
    mark: PHOENIX,
    size: sizeOf(files),
    found: [`${files.length} files of spans`],
    read: (cursor) =>
      readParquetFiles(files, cursor, {
        row: (row, name) => batch.row(ofFrame(row), name),
        steps: () => batch.steps(),
      }),
  };
}

/** A row of a data frame as the API answers the span. */
function ofFrame(row: Members): Members {
  const attributes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row))
    if (name.startsWith('attributes.')) attributes[name.slice('attributes.'.length)] = value;
  const context = { trace_id: row['context.trace_id'], span_id: row['context.span_id'] ?? row['__index_level_0__'] };
  return { ...row, context, attributes };
}

class PhoenixProject {
  readonly #remote: Remote;
  readonly #at: string;
  readonly #name: string;
  readonly #sinceMs: number | null;

  constructor(remote: Remote, name: string, sinceMs: number | null) {
    this.#remote = remote;
    this.#name = name;
    this.#at = `/v1/projects/${encodeURIComponent(name)}`;
    this.#sinceMs = sinceMs;
  }

  /** @throws ImportError when there is no such project, or the key is refused */
  async exists(): Promise<void> {
    try {
      await this.#remote.get(`${this.#at}/spans?limit=1`);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.status === 404)
        throw new ImportError(`The Phoenix server has no project ${this.#name}: name one with --source-project`);
      if ([401, 403].includes(error.status))
        throw new ImportError('The Phoenix server rejected the key: give one with --source-key');
      throw error;
    }
  }

  async *read(known: Cursor | null, project: string): AsyncGenerator<Step> {
    const since = this.#sinceMs === null ? null : new Date(this.#sinceMs).toISOString();
    const now = new Date().toISOString();
    const isOver = known?.isDone === true;
    const range = {
      from: isOver ? known.until : (known?.from ?? since),
      until: isOver ? now : (known?.until ?? now),
    };
    let [page, done] = isOver ? [null, 0] : [known?.page ?? null, known?.done ?? 0];
    const [batch, scores] = [new OtlpBatch(this.#name, null), new ScoreBatch(project)];
    do {
      const { spans, next } = await this.#page(page, range);
      for (const span of spans) yield* batch.row(span, `span ${textOf(span['id']) ?? ''}`);
      yield* batch.steps();
      for (const annotation of await this.#annotations(spans)) yield* scores.add(scoreOf(annotation));
      yield* scores.steps();
      [page, done] = [next, done + spans.length];
      yield { type: 'cursor', cursor: { page, ...range, done, isDone: page === null } satisfies Cursor };
      yield { type: 'progress', done };
    } while (page !== null);
  }

  async #page(page: string | null, { from, until }: { readonly from: string | null; readonly until: string }) {
    const query = new URLSearchParams({
      ...{ limit: String(PAGE), end_time: until },
      ...(from !== null && { start_time: from }),
      ...(page !== null && { cursor: page }),
    });
    const answer = await this.#remote.get<Members>(`${this.#at}/spans?${query.toString()}`);
    return { spans: membersIn(answer['data']), next: textOf(answer['next_cursor']) };
  }

  /** What people and programs say of some spans; older servers do not answer that. */
  async #annotations(spans: readonly Members[]): Promise<Members[]> {
    const ids = spans.flatMap(({ context }) => textOf(membersOf(context)['span_id']) ?? []);
    if (ids.length === 0) return [];
    const found: Members[] = [];
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ limit: '1000', ...(cursor !== null && { cursor }) });
      for (const id of ids) query.append('span_ids', id);
      try {
        const answer: Members = await this.#remote.get<Members>(`${this.#at}/span_annotations?${query.toString()}`);
        found.push(...membersIn(answer['data']));
        cursor = textOf(answer['next_cursor']);
      } catch (error) {
        if (error instanceof RefusedError && error.status === 404) return found;
        throw error;
      }
    } while (cursor !== null);
    return found;
  }
}

/** An annotation of a span as the calls of Phoenix's clients make a score of it, or why there is none. */
function scoreOf(annotation: Members): DatedScore | NotTaken {
  const spanId = textOf(annotation['span_id'])?.toLowerCase() ?? '';
  const what = `annotation ${textOf(annotation['name']) ?? ''} of span ${spanId}`;
  const at = textOf(annotation['updated_at']) ?? textOf(annotation['created_at']);
  const about = { entity_type: 'span', entity_id: spanUuid(spanId) } as const;
  const score = scoreOfAnnotation(about, annotation as unknown as Annotation);
  if (!/^[0-9a-f]{16}$/.test(spanId) || at === null || score === null)
    return { what, why: 'it has neither a score nor a label, no span or no time' };
  const { author = null, source = null, ...said } = score;
  return {
    what,
    at,
    score: said,
    kind: typeof said.value === 'number' ? 'numeric' : 'categorical',
    author,
    source: source ?? 'sdk',
  };
}
