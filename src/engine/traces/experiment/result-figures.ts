import type { ExperimentFigures, ScoreFigures } from '../model/experiment/results.js';
import { isTooLarge } from '../clickhouse/client/client-errors.js';
import { unitsOf, textOf } from '../clickhouse/client/decimal.js';
import { sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { versionTime } from '../write/version-clock.js';
import {
  ANY_SHARED_SETTINGS,
  anyShared,
  hasTraceScores,
  madeIn,
  scoresOfResults,
  shared,
  type SomeResults,
} from './result-scores.js';
import { newest, SPAN_COLUMNS, takenBy } from './result-statements.js';
import { valueAt } from '../../statistics/order.js';

/*
 * Figures of all results of experiments. They are read in portions by their place, as what results are joined with is in the engine's
 * memory; the figures of portions are put together here.
 */

/** Results that one statement reads, and so many at least where there is little memory. */
const RESULTS_AT_ONCE = 400_000;
const LEAST_AT_ONCE = 25_000;
/** Each thread has aggregates of its own. */
const ONE_THREAD = { max_threads: 1 };
/** Names of scores that figures are answered of. */
const MAX_NAMES = 1_000;

/** The place of a result among those of several experiments. */
interface Place {
  readonly experiment: string;
  readonly row: string;
  readonly repetition: number;
}

/** What is read, and where one portion begins and ends. */
interface Portion {
  readonly experiments: readonly string[];
  /** Behind which place; null: the first. */
  readonly after: Place | null;
  readonly limit: number;
  readonly haveShared: boolean;
}

/** A row of {@link figuresOf}. */
interface FigureRow {
  readonly experiment: string;
  readonly results: string;
  readonly rows: string;
  readonly errors: string;
  readonly repetitions: number;
  readonly cost: string | null;
  readonly input: string | null;
  readonly output: string | null;
  /** Numbers of 64 bits, as Base64, but for those that are 0: a string of zero bytes is empty where strings are joined. */
  readonly durations: string;
  readonly zeros: string;
  readonly first: string;
  readonly last: string;
  readonly first_row: string;
  readonly last_place: readonly [row: string, repetition: number];
}

/** A row of {@link scoreFiguresOf}. */
interface ScoreRow {
  readonly experiment: string;
  readonly name: string;
  readonly kind: string;
  /** The version of the newest. */
  readonly version: string;
  readonly count: string;
  readonly numbers: string;
  readonly sum: number | null;
}

/**
 * Figures of experiments that have results.
 * @param how `atOnce`: results that one statement reads; `least`: so many at least, where there is little memory
 */
export async function readFigures(
  read: ReadRows,
  scope: ReadScope,
  experiments: readonly string[],
  how: { readonly signal?: AbortSignal | undefined; readonly atOnce?: number; readonly least?: number } = {},
): Promise<ReadonlyMap<string, ExperimentFigures>> {
  const { signal, atOnce = RESULTS_AT_ONCE, least = LEAST_AT_ONCE } = how;
  const options = { signal, settings: ONE_THREAD };
  const found = new Map<string, Figures>();
  const ofTraces = (await read(hasTraceScores(scope), options)).length > 0;
  // One after the other: each takes much memory.
  const readPortion = async (asked: Portion): Promise<[FigureRow[], ScoreRow[]]> => [
    await read<FigureRow>(figuresOf(scope, asked), options),
    await read<ScoreRow>(scoreFiguresOf(scope, asked, ofTraces), options),
  ];
  const among = anyShared(scope, [ofExperiments(experiments)]);
  const haveShared = (await read(among, { signal, settings: { ...ONE_THREAD, ...ANY_SHARED_SETTINGS } })).length > 0;
  let portion: Portion = { experiments, after: null, limit: atOnce, haveShared };
  for (let isLast = false; !isLast;) {
    const [rows, scores] = await fitting(portion, readPortion, least, (smaller) => (portion = smaller));
    for (const row of rows)
      found.set(row.experiment, (found.get(row.experiment) ?? new Figures()).add(row, portion.after));
    for (const score of scores) found.get(score.experiment)?.addScore(score);
    const last: FigureRow | undefined = rows.at(-1);
    const count = rows.reduce((sum, row) => sum + Number(row.results), 0);
    isLast = last === undefined || count < portion.limit;
    if (last !== undefined) portion = { ...portion, after: placeOf(last) };
  }
  return new Map([...found].map(([id, figures]) => [id, figures.whole()]));
}

/** Reads a portion, in halves of it where it takes more memory than the engine has for it. @param halved is told of these */
async function fitting<T>(
  portion: Portion,
  read: (portion: Portion) => Promise<T>,
  least: number,
  halved: (portion: Portion) => void,
): Promise<T> {
  for (let asked = portion; ;) {
    try {
      return await read(asked);
    } catch (error) {
      if (!isTooLarge(error) || asked.limit <= least) throw error;
      asked = { ...asked, limit: Math.ceil(asked.limit / 2) };
      halved(asked);
    }
  }
}

function placeOf({ experiment, last_place: [row, repetition] }: FigureRow): Place {
  return { experiment, row, repetition };
}

/** The figures of one experiment, while portions are added to them. */
class Figures {
  #results = 0;
  #rows = 0;
  #errors = 0;
  #repetitions = 0;
  #cost: bigint | null = null;
  #input: number | null = null;
  #output: number | null = null;
  #first = Infinity;
  #last = 0;
  #zeros = 0;
  readonly #durations: Buffer[] = [];
  readonly #scores = new Map<string, ScoreSum>();

  add(row: FigureRow, after: Place | null): this {
    // A row may have results in two portions.
    const begun = after?.experiment === row.experiment && after.row === row.first_row;
    this.#results += Number(row.results);
    this.#rows += Number(row.rows) - (begun ? 1 : 0);
    this.#errors += Number(row.errors);
    this.#repetitions = Math.max(this.#repetitions, row.repetitions);
    if (row.cost !== null) this.#cost = (this.#cost ?? 0n) + unitsOf(row.cost);
    if (row.input !== null) this.#input = (this.#input ?? 0) + Number(row.input);
    if (row.output !== null) this.#output = (this.#output ?? 0) + Number(row.output);
    this.#first = Math.min(this.#first, Number(row.first));
    this.#last = Math.max(this.#last, Number(row.last));
    this.#zeros += Number(row.zeros);
    if (row.durations !== '') this.#durations.push(Buffer.from(row.durations, 'base64'));
    return this;
  }

  addScore({ name, kind, version, count, numbers, sum }: ScoreRow): void {
    const known = this.#scores.get(name) ?? { kind, version: 0, count: 0, numbers: 0, sum: 0 };
    const isNewer = Number(version) > known.version;
    this.#scores.set(name, {
      kind: isNewer ? kind : known.kind,
      version: Math.max(known.version, Number(version)),
      count: known.count + Number(count),
      numbers: known.numbers + Number(numbers),
      sum: known.sum + (sum ?? 0),
    });
  }

  whole(): ExperimentFigures {
    const durations = float64s(Buffer.concat(this.#durations), this.#zeros);
    return {
      ...{ results: this.#results, rows: this.#rows, errors: this.#errors, repetitions: this.#repetitions },
      cost: this.#cost === null ? null : Number(textOf(this.#cost)),
      ...{ input_tokens: this.#input, output_tokens: this.#output },
      duration_ms_p50: quantile(durations, 0.5),
      duration_ms_p95: quantile(durations, 0.95),
      ...{ first_at: versionTime(this.#first), last_at: versionTime(this.#last) },
      scores: [...this.#scores]
        .sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
        .slice(0, MAX_NAMES)
        .map(([name, score]) => scoreFigures(name, score)),
    };
  }
}

interface ScoreSum {
  readonly kind: string;
  readonly version: number;
  readonly count: number;
  readonly numbers: number;
  readonly sum: number;
}

function scoreFigures(name: string, { kind, count, numbers, sum }: ScoreSum): ScoreFigures {
  return { name, kind: kind as ScoreFigures['kind'], count, mean: numbers === 0 ? null : sum / numbers };
}

/** Numbers by their bytes, which need not begin at a multiple of eight, and so many zeros. */
function float64s(bytes: Buffer, zeros: number): Float64Array {
  const numbers = new Float64Array(bytes.length / 8 + zeros);
  Buffer.from(numbers.buffer).set(bytes);
  return numbers;
}

/** One of the values, as `quantileExact` of ClickHouse takes it; null: there is none. */
const quantile = (values: Float64Array, level: number) =>
  values.length === 0 ? null : valueAt(values, Math.floor(level * values.length));

const ofExperiments = (ids: readonly string[]) => sql`experiment_id IN ${value(ids, 'Array(UUID)')}`;

function resultsOf(scope: ReadScope, { experiments, after, limit, haveShared }: Portion): SomeResults {
  const wanted = [ofExperiments(experiments)];
  const conditions = after === null ? wanted : [...wanted, beyond(after)];
  return {
    experiments: wanted,
    haveShared,
    results: (columns) =>
      sql`${newest(scope, sql`experiment_id, row_id, repetition, ${columns}`, conditions)} LIMIT ${value(limit, 'UInt64')}`,
  };
}

/** The first condition is for the index. */
function beyond({ experiment, row, repetition }: Place): Sql {
  const [id, text, number] = [value(experiment, 'UUID'), value(row, 'String'), value(repetition, 'UInt64')];
  return sql`experiment_id >= ${id} AND (experiment_id > ${id} OR (row_id >= ${text} AND (row_id > ${text} OR repetition > ${number})))`;
}

/** Figures of a portion, but for those of scores: an experiment a row, in the order of results. */
function figuresOf(scope: ReadScope, portion: Portion): Sql {
  const asked = resultsOf(scope, portion);
  const ofTrace = sql`(trace.cost, trace.input_tokens, trace.output_tokens, trace.duration_ms)`;
  const own = asked.haveShared
    ? sql`if((experiment_id, made_in) IN ${shared(scope, asked)}, (result.cost, result.input_tokens, result.output_tokens, result.duration_ms), ${ofTrace})`
    : ofTrace;
  return sql`SELECT toString(experiment_id) AS experiment, toString(count()) AS results, toString(uniqExact(sipHash128(row_id))) AS rows,
  toString(countIf(has_error)) AS errors, max(repetition) AS repetitions, toString(sum(own.1)) AS cost, toString(sum(own.2)) AS input,
  toString(sum(own.3)) AS output, base64Encode(arrayStringConcat(arrayMap(each -> reinterpretAsFixedString(each), groupArrayIf(own.4, own.4 != 0)))) AS durations,
  toString(countIf(own.4 = 0)) AS zeros,
  toString(min(received)) AS first, toString(max(received)) AS last, min(row_id) AS first_row, max((row_id, repetition)) AS last_place
FROM (
  SELECT experiment_id, row_id, repetition, has_error, received, ${own} AS own
  FROM (${asked.results(asked.haveShared ? SPAN_COLUMNS : sql`made_in, received, has_error`)}) AS result
  LEFT ANY JOIN (${takenBy(scope, madeIn(asked))}) AS trace ON trace.id = result.made_in
)
GROUP BY experiment_id ORDER BY experiment_id`;
}

function scoreFiguresOf(scope: ReadScope, portion: Portion, ofTraces: boolean): Sql {
  const how = { columns: ['kind', 'number'], ofTraces, ofResult: ['experiment_id'] };
  return sql`SELECT toString(experiment_id) AS experiment, name, argMax(kind, ver) AS kind,
  toString(max(ver)) AS version, toString(count()) AS count, toString(count(number)) AS numbers, sumKahan(number) AS sum
FROM (${scoresOfResults(scope, resultsOf(scope, portion), how)})
GROUP BY experiment_id, name
ORDER BY experiment, name LIMIT ${value(MAX_NAMES, 'UInt64')} BY experiment`;
}
