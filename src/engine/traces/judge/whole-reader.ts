import { isBounded } from '../model/judged/filters.js';
import type { JudgedSpan } from '../model/judged/span-reader.js';
import type {
  FoundWhole,
  JudgedWhole,
  WholeFilters,
  WholeKind,
  WholeOutline,
  WholeReader,
  WholeShape,
} from '../model/judged/whole-reader.js';
import { invalid } from '../../validation/validation.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { join, sql } from '../clickhouse/client/sql.js';
import { readState, type StateParts } from '../list/state.js';
import { openReader, type ReadLimits, type ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { current } from '../read/visibility.js';
import { judgedColumns, toJudged, type JudgedSpanRow } from './judged-rows.js';
import { latestWholes, sessionsOf } from './latest-wholes.js';
import { sessionOutline } from './outline/session-outline.js';
import type { OutlinePlan, Texts, WantedText } from './outline/shapes.js';
import { traceOutline } from './outline/trace-outline.js';
import { readSession } from './session-turns.js';
import { placed, textsOf, toTexts, type StoredShape, type TextRow } from './shape-rows.js';
import { matches, TOO_LONG } from './span-rows.js';
import { readTrace } from './trace-shapes.js';
import { readOutlines } from './whole-outlines.js';

export interface WholeReaderSource {
  readonly client: ClickHouseClient;
  readonly state: StateParts;
  readonly limits: ReadLimits;
  /** Longer inputs and outputs of the span that stands for a whole have their middle left out. */
  readonly maxCharacters: number;
}

const IDS_AT_ONCE = 200;

/** A span as far as it is known where it stands. */
type Place = Pick<StoredShape, 'started_at' | 'version'>;
/** A whole before its texts are read. */
interface Planned extends Pick<JudgedWhole, 'spans' | 'arrived_at'> {
  readonly anchor: Place;
  readonly plan: OutlinePlan;
  readonly placeOf: (span: WantedText['span']) => Place;
}

/** Traces and sessions for judges: first without texts, then with those texts that there is room for. */
export class ClickHouseWholeReader implements WholeReader {
  readonly #source: WholeReaderSource;
  readonly #rows: ReadRows;

  constructor(source: WholeReaderSource) {
    this.#source = source;
    // Reads for judges are not in a hurry.
    this.#rows = openReader(source.client, source.limits, { max_threads: 1 }).rows;
  }

  async readWholes(projectId: string, ids: readonly string[], shape: WholeShape): Promise<Map<string, JudgedSpan>> {
    const wholes = new Map<string, JudgedSpan>();
    for (const id of new Set(ids)) {
      const whole = await this.#at(projectId, shape.kind, [id], (scope) => this.#read(scope, id, shape));
      if (whole !== null) wholes.set(id, whole);
    }
    return wholes;
  }

  async outlines(
    projectId: string,
    kind: WholeKind,
    ids: readonly string[],
    asked: WholeFilters | null = null,
  ): Promise<Map<string, WholeOutline>> {
    const outlines = new Map<string, WholeOutline>();
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
      const some = ids.slice(from, from + IDS_AT_ONCE);
      const read = await this.#at(projectId, kind, some, (scope) => readOutlines(this.#rows, scope, kind, some, asked));
      for (const outline of read) outlines.set(outline.id, outline);
    }
    return outlines;
  }

  async newestWholes(projectId: string, kind: WholeKind, asked: WholeFilters, limit: number): Promise<FoundWhole[]> {
    if (!isBounded([asked.filters])) throw invalid([TOO_LONG]);
    if (asked.filters.prompt_slug !== null && asked.prompt === null) return [];
    return this.#source.state.reads.run(projectId, (upTo) => {
      const where = join([...matches(projectId, asked), current({ projectId, upTo })], ' AND ');
      return latestWholes(this.#rows, kind, { projectId, where }, limit);
    });
  }

  sessionsOf(projectId: string, traceIds: readonly string[]): Promise<Map<string, string>> {
    // Sessions of traces are read as they are rolled up.
    return this.#source.state.reads.run(projectId, () => sessionsOf(this.#rows, { projectId }, traceIds));
  }

  #at<T>(
    projectId: string,
    kind: WholeKind,
    ids: readonly string[],
    read: (scope: ReadScope) => Promise<T>,
  ): Promise<T> {
    const about = kind === 'trace' ? { ids } : { figures: true };
    return readState(this.#source.state, { list: 'spans', projectId, ...about }, read);
  }

  async #read(scope: ReadScope, id: string, shape: WholeShape): Promise<JudgedSpan | null> {
    const planned = await (shape.kind === 'trace' ? this.#trace(scope, id, shape) : this.#session(scope, id, shape));
    if (planned === null) return null;
    const { anchor, plan, placeOf, spans, arrived_at } = planned;
    const [rows, texts] = await Promise.all([
      this.#rows<JudgedSpanRow>(
        sql`SELECT ${judgedColumns(this.#source.maxCharacters)} FROM spans WHERE ${inProject(scope.projectId)} AND ${placed([anchor])}`,
      ),
      this.#texts(scope, plan.wanted, placeOf),
    ]);
    const [row] = rows;
    if (row === undefined) return null;
    const span_ids = [...new Set(plan.shown.map((span) => span.id))];
    // Its own name and texts are shown, whether the outline has a place for it or not.
    const trace_ids = [...new Set([...plan.shown.map(({ trace_id }) => trace_id), row.trace])];
    const outline = plan.write(texts);
    return { ...toJudged(row), whole: { kind: shape.kind, id, outline, spans, arrived_at, span_ids, trace_ids } };
  }

  async #trace(scope: ReadScope, id: string, { maxCharacters, kinds, withIds }: WholeShape): Promise<Planned | null> {
    const trace = await readTrace(this.#rows, scope, id, kinds);
    if (trace === null) return null;
    const { spans, anchor, unread, total, arrived_at } = trace;
    const plan = traceOutline({ spans, anchor: anchor.id, unread }, maxCharacters, withIds);
    return { plan, anchor, placeOf: placesOf(spans), spans: total, arrived_at };
  }

  async #session(scope: ReadScope, id: string, { maxCharacters, withIds }: WholeShape): Promise<Planned | null> {
    const session = await readSession(this.#rows, scope, id);
    if (session === null) return null;
    const { turns, anchor, traces, spans, arrived_at } = session;
    const plan = sessionOutline({ turns, traces, spans }, maxCharacters, withIds);
    const placeOf = placesOf(turns.flatMap((turn) => [turn.anchor, ...turn.failed]));
    return { plan, anchor, placeOf, spans, arrived_at };
  }

  /** The ends of texts, each as long as it may be shown. */
  async #texts(scope: ReadScope, wanted: readonly WantedText[], placeOf: Planned['placeOf']): Promise<Texts> {
    if (wanted.length === 0) return new Map();
    const byVersion = new Map<string, WantedText[]>();
    for (const text of wanted) {
      const { version } = placeOf(text.span);
      byVersion.set(version, [...(byVersion.get(version) ?? []), text]);
    }
    const places = wanted.map(({ span }) => placeOf(span));
    const where = sql`${inProject(scope.projectId)} AND ${placed(places)}`;
    const rows = await this.#rows<TextRow>(textsOf(byVersion, where), { settings: LONG_STATEMENTS });
    return toTexts(rows, byVersion);
  }
}

function placesOf(spans: readonly StoredShape[]): Planned['placeOf'] {
  const places = new Map<WantedText['span'], Place>(spans.map((span) => [span, span]));
  return (span) => {
    const place = places.get(span);
    if (place === undefined) throw new Error('a text of a span that was not read');
    return place;
  };
}
