import type {
  EvaluationFilter,
  EvaluationKey,
  EvaluationOrder,
  EvaluationPlace,
  EvaluationPortion,
  EvaluationSelection,
} from '../evaluation-store.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Database } from '../../../engine/metadata/database.js';

/** What statements are run with; only the ends of the range that a segment has are used. */
type Values = Readonly<Record<string, number | string>>;

const HAS_FEEDBACK =
  'EXISTS (SELECT 1 FROM feedback AS f WHERE f.judge_id = e.judge_id AND f.completion_id = e.span_id)';

const said = (condition: string) => `EXISTS (SELECT 1 FROM corrections AS c WHERE ${condition})`;
const SPOKEN_OF = said('c.evaluation_seq = e.seq');
const WRONG = said('c.evaluation_seq = e.seq AND c.thumbs_up = 0');
/** What people said, asked of each evaluation. */
const ASKED = {
  disagreed: WRONG,
  agreed: `${SPOKEN_OF} AND NOT ${WRONG}`,
  unreviewed: `NOT ${said('c.judge_id = e.judge_id AND c.span_id = e.span_id AND c.evaluation_seq >= e.seq')}`,
};

const numbers = (condition: string) =>
  `(SELECT evaluation_seq FROM corrections WHERE judge_id = @judgeId AND evaluation_seq IS NOT NULL${condition})`;
const WRONG_NUMBERS = numbers(' AND thumbs_up = 0');
/** Evaluations that people spoke of, by their numbers. */
const SPOKEN = {
  disagreed: `e.seq IN ${WRONG_NUMBERS}`,
  agreed: `e.seq IN ${numbers('')} AND e.seq NOT IN ${WRONG_NUMBERS}`,
};
type Spoken = keyof typeof SPOKEN;
/** Corrections of a judge that are looked through at once; where there are more, so are all of its evaluations, in portions. */
const FEW = 2_000;

/** The conditions of a filter that are not null, except for the agreement. */
function conditionsOf({ result, withFeedback, versions }: EvaluationFilter): string[] {
  return [
    'e.judge_id = @judgeId',
    'e.seq <= @upTo',
    ...(result === null ? [] : [`e.evaluation_result = ${result ? 1 : 0}`]),
    ...(withFeedback === null ? [] : [withFeedback ? HAS_FEEDBACK : `NOT ${HAS_FEEDBACK}`]),
    ...(versions === null
      ? []
      : [`e.judge_version ${versions === 'external' ? 'IS NULL' : 'IN (SELECT value FROM json_each(@versions))'}`]),
  ];
}

const AT_TIME = 'e.created_at BETWEEN @start AND @end';
const LAST = Number.MAX_SAFE_INTEGER;

/** A part of a list whose order is that of an index. */
interface Segment {
  readonly index: string;
  readonly condition: string;
  readonly keys: readonly string[];
  /** What the ends of the range leave to be looked at in each entry. */
  readonly rest: string;
  /** Before all keys that are looked at, and behind them. */
  low(start: number): readonly number[];
  high(end: number): readonly number[];
}

const STORED = {
  keys: ['e.created_at', 'e.seq'],
  rest: 'true',
  low: (start: number) => [start, 0],
  high: (end: number) => [end, LAST],
};

const SEGMENTS: Readonly<Record<EvaluationOrder['by'], readonly Segment[]>> = {
  created_at: [{ index: 'evaluations_by_judge', condition: 'true', ...STORED }],
  confidence: [
    {
      index: 'evaluations_by_confidence',
      condition: 'e.confidence_score IS NOT NULL',
      keys: ['e.confidence_score', ...STORED.keys],
      rest: AT_TIME,
      low: () => [-1, 0, 0],
      high: () => [2, LAST, LAST],
    },
    { index: 'evaluations_by_confidence', condition: 'e.confidence_score IS NULL', ...STORED },
  ],
};

function prepareSegment(db: Database, filter: EvaluationFilter, descending: boolean, segment: Segment) {
  const { index, condition, keys, rest } = segment;
  const [direction, beyond, within] = descending ? ['DESC', '<', '>='] : ['ASC', '>', '<='];
  const tuple = (name: string) => `(${keys.map((_key, at) => `@${name}${at}`).join(', ')})`;
  const from = `FROM evaluations AS e INDEXED BY ${index}`;
  const range = `e.judge_id = @judgeId AND ${condition} AND (${keys.join(', ')}) ${beyond} ${tuple('from')}
    AND (${keys.join(', ')}) ${within} ${tuple('to')}`;
  const order = `ORDER BY ${keys.map((key) => `${key} ${direction}`).join(', ')}`;
  const { agreement } = filter;
  const asked = agreement === null ? [] : [ASKED[agreement]];
  const found = `${from} WHERE ${[range, rest, ...conditionsOf(filter), ...asked].join(' AND ')}`;
  return {
    segment,
    end: db
      .prepare<Values, number[]>(`SELECT ${keys.join(', ')} ${from} WHERE ${range} ${order} LIMIT 1 OFFSET @most - 1`)
      .raw(),
    count: db.prepare<Values, number>(`SELECT count(*) ${found}`).pluck(),
    numbers: db.prepare<Values, number>(`SELECT e.seq ${found} ${order} LIMIT @limit OFFSET @offset`).pluck(),
  };
}

type SpokenFilter = EvaluationFilter & { readonly agreement: Spoken };

function isOfSpoken(filter: EvaluationFilter): filter is SpokenFilter {
  return filter.agreement === 'disagreed' || filter.agreement === 'agreed';
}

/** Those that were spoken of, found by their numbers, and sorted. */
function prepareSpoken(db: Database, filter: SpokenFilter, { by, descending }: EvaluationOrder) {
  const direction = descending ? 'DESC' : 'ASC';
  const first = by === 'confidence' ? [`e.confidence_score ${direction} NULLS LAST`] : [];
  const keys = [...first, ...STORED.keys.map((key) => `${key} ${direction}`)];
  // Left to choose, SQLite looks through all of the judge's.
  const found = `FROM evaluations AS e NOT INDEXED WHERE ${[AT_TIME, ...conditionsOf(filter), SPOKEN[filter.agreement]].join(' AND ')}`;
  return {
    count: db.prepare<Values, number>(`SELECT count(*) ${found}`).pluck(),
    numbers: db
      .prepare<Values, number>(`SELECT e.seq ${found} ORDER BY ${keys.join(', ')} LIMIT @limit OFFSET @offset`)
      .pluck(),
  };
}

/** Those of some spans. */
function prepareOfSpans(db: Database, filter: EvaluationFilter) {
  const { agreement } = filter;
  const asked = agreement === null ? [] : [ASKED[agreement]];
  // Left to choose, SQLite may look through all of the judge's.
  return db.prepare<Values, EvaluationKey>(
    `SELECT e.seq AS number, e.created_at, e.confidence_score AS confidence FROM json_each(@spans) AS s
     CROSS JOIN evaluations AS e INDEXED BY evaluations_by_span ON e.project_id = @projectId AND e.span_id = s.value
     WHERE ${[AT_TIME, ...conditionsOf(filter), ...asked].join(' AND ')}`,
  );
}

type Counted = Pick<ReturnType<typeof prepareSegment>, 'count' | 'numbers'>;

/** Walks through the evaluations of judges in the order of a list, some at a time, by indexes alone. */
export class EvaluationPortions {
  readonly #db: Database;
  /** Prepared statements by the filter and the order that they are of, as text. */
  readonly #segments = new Map<string, ReturnType<typeof prepareSegment>[]>();
  readonly #spoken = new Map<string, ReturnType<typeof prepareSpoken>>();
  readonly #spans = new Map<string, ReturnType<typeof prepareOfSpans>>();

  readonly #corrections;

  constructor(db: Database) {
    this.#db = db;
    this.#corrections = db
      .prepare<[string, number], number>('SELECT count(*) FROM (SELECT 1 FROM corrections WHERE judge_id = ? LIMIT ?)')
      .pluck();
  }

  portion(of: EvaluationSelection, place: EvaluationPlace | null, most: number, window: Window): EvaluationPortion {
    const { filter, order } = of;
    const values = { ...valuesOf(of), ...window, most };
    if (place === null && isOfSpoken(filter) && (this.#corrections.get(of.judgeId, FEW + 1) ?? 0) <= FEW)
      return { ...lookedAt(this.#ofSpoken(filter, order), values, window), next: null };
    const { segment: at, key } = place ?? { segment: 0, key: null };
    const segments = this.#ofSegments(filter, order);
    const here = segments[at];
    if (here === undefined) return { found: 0, numbers: [], next: null };
    const [low, high] = [here.segment.low(values.start), here.segment.high(values.end)];
    const [first, last] = order.descending ? [high, low] : [low, high];
    const range = { ...values, ...named('from', key ?? first) };
    const end = here.end.get({ ...range, ...named('to', last) });
    const portion = lookedAt(here, { ...range, ...named('to', end ?? last) }, window);
    if (end !== undefined) return { ...portion, next: { segment: at, key: end } };
    const following = segments[at + 1]?.segment;
    if (following === undefined) return { ...portion, next: null };
    const begin = order.descending ? following.high(values.end) : following.low(values.start);
    return { ...portion, next: { segment: at + 1, key: begin } };
  }

  ofSpans(of: EvaluationSelection, projectId: string, spanIds: readonly string[]): EvaluationKey[] {
    const key = JSON.stringify([conditionsOf(of.filter), of.filter.agreement]);
    const known = this.#spans.get(key) ?? prepareOfSpans(this.#db, of.filter);
    this.#spans.set(key, known);
    return known.all({ ...valuesOf(of), projectId, spans: JSON.stringify(spanIds) });
  }

  #ofSegments(filter: EvaluationFilter, { by, descending }: EvaluationOrder) {
    const key = JSON.stringify([conditionsOf(filter), filter.agreement, by, descending]);
    const known =
      this.#segments.get(key) ?? SEGMENTS[by].map((segment) => prepareSegment(this.#db, filter, descending, segment));
    this.#segments.set(key, known);
    return known;
  }

  #ofSpoken(filter: SpokenFilter, order: EvaluationOrder) {
    const key = JSON.stringify([conditionsOf(filter), filter.agreement, order.by, order.descending]);
    const known = this.#spoken.get(key) ?? prepareSpoken(this.#db, filter, order);
    this.#spoken.set(key, known);
    return known;
  }
}

function lookedAt({ count, numbers }: Counted, values: Values, { limit, offset }: Window) {
  const found = count.get(values) ?? 0;
  return { found, numbers: limit > 0 && offset < found ? numbers.all(values) : [] };
}

function valuesOf({ judgeId, upTo, filter: { start, end, versions } }: EvaluationSelection) {
  return { judgeId, upTo, start: start ?? 0, end: end ?? LAST, versions: JSON.stringify(versions) };
}

function named(name: string, keys: readonly number[]): Values {
  return Object.fromEntries(keys.map((key, at) => [`${name}${at}`, key]));
}
