import { resolve } from 'node:path';
import { scoreOfAnnotation, type Annotation } from '../../../src/phoenix/annotation.js';
import { ABOUT, WHATS, type What } from '../../../src/phoenix/annotations/about.js';
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
    const sessions = new Set<string>();
    do {
      const { spans, next } = await this.#page(page, range);
      for (const span of spans) yield* batch.row(span, `span ${textOf(span['id']) ?? ''}`);
      yield* batch.steps();
      for (const what of WHATS)
        for (const annotation of await this.#annotations(what, annotated(what, spans, sessions)))
          yield* scores.add(scoreOf(what, annotation));
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

  /** What people and programs say of something; older servers do not answer that. */
  async #annotations(what: What, ids: readonly string[]): Promise<Members[]> {
    if (ids.length === 0) return [];
    const found: Members[] = [];
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ limit: '1000', ...(cursor !== null && { cursor }) });
      for (const id of ids) query.append(`${what}_ids`, id);
      try {
        const answer: Members = await this.#remote.get<Members>(`${this.#at}/${what}_annotations?${query.toString()}`);
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

/** What is asked for with some spans: these, the traces that they are roots of, and the sessions of these, each once. */
function annotated(what: What, spans: readonly Members[], sessions: Set<string>): string[] {
  const contexts = (of: readonly Members[]) => of.map(({ context }) => membersOf(context));
  if (what === 'span') return contexts(spans).flatMap(({ span_id }) => textOf(span_id) ?? []);
  const roots = spans.filter(({ parent_id }) => textOf(parent_id) === null);
  if (what === 'trace') return [...new Set(contexts(roots).flatMap(({ trace_id }) => textOf(trace_id) ?? []))];
  const named = roots.flatMap(({ attributes }) => sessionOf(membersOf(attributes)) ?? []);
  const asked = [...new Set(named)].filter((name) => !sessions.has(name));
  for (const name of asked) sessions.add(name);
  return asked;
}

const sessionOf = (attributes: Members): string | null =>
  textOf(attributes['session.id']) ?? textOf(membersOf(attributes['session'])['id']);

/** An annotation as the calls of Phoenix's clients make a score of it, or why there is none. */
function scoreOf(about: What, annotation: Members): DatedScore | NotTaken {
  const named = textOf(annotation[`${about}_id`]) ?? '';
  const what = `annotation ${textOf(annotation['name']) ?? ''} of ${about} ${named}`;
  const at = textOf(annotation['updated_at']) ?? textOf(annotation['created_at']);
  const id = ID[about].test(named) ? ABOUT[about].idOf(named) : null;
  const entity = { entity_type: about, entity_id: id ?? '' };
  const score = scoreOfAnnotation(entity, annotation as unknown as Annotation);
  if (id === null || at === null || score === null)
    return { what, why: `it has neither a score nor a label, no ${about} or no time` };
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

const ID: Readonly<Record<What, RegExp>> = { span: /^[0-9a-f]{16}$/i, trace: /^[0-9a-f]{32}$/i, session: /./ };
