import type { Readable } from 'node:stream';
import type { MeasuredResult } from '../model/experiment/results.js';
import type { Sql } from '../clickhouse/client/sql.js';
import type { Reader } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { ofExperiment } from './marked-rows.js';
import {
  isUncertain,
  lastOf,
  measured,
  resultSpans,
  toMeasured,
  type MeasuredAsked,
  type MeasuredLine,
  type Places,
  type ResultSpans,
} from './measured.js';
import { ANY_SHARED_SETTINGS, anyShared, hasTraceScores } from './result-scores.js';
import type { ResultPlace } from './result-statements.js';
import type { ScoreReads } from './score-reads.js';

/** Results that are handed out together. */
const PORTION = 5_000;
/** Versions of results that one statement reads: the engine has what they are joined with in memory. */
const MEASURED_AT_ONCE = 120_000;
/** Characters of the text of a score. */
const LONGEST = 200;
/** What stands for the trace of a result whose scores do not count. */
const NO_TRACE: ReadonlySet<string> = new Set(['']);

/** What all results of an experiment measured. */
export class MeasuredReads {
  readonly #reader: Reader;
  readonly #scores: ScoreReads;
  readonly #atOnce: number;

  /** @param atOnce versions of results that one statement reads */
  constructor(reader: Reader, scores: ScoreReads, atOnce = MEASURED_AT_ONCE) {
    this.#reader = reader;
    this.#scores = scores;
    this.#atOnce = atOnce;
  }

  /** All results by row and repetition, in portions. @param names of the only scores */
  async *all(
    scope: ReadScope,
    experiment: string,
    names: readonly string[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly MeasuredResult[]> {
    const { asked, isOne } = await this.#asked(scope, experiment, names, signal);
    let after: ResultPlace | null = null;
    do {
      const places: Places = { after, last: isOne ? null : await this.#lastOf(scope, experiment, after, signal) };
      const stream = await this.#reader.stream(measured(scope, asked, places, LONGEST), { signal });
      for await (const lines of portionsOf<MeasuredLine>(stream, PORTION))
        yield await this.#known(scope, names, lines, signal);
      after = places.last;
    } while (after !== null);
  }

  /** How all results of an experiment are read, and whether by one statement. */
  async #asked(
    scope: ReadScope,
    experiment: string,
    names: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<{ readonly asked: MeasuredAsked; readonly isOne: boolean }> {
    const isAny = async (statement: Sql, settings = {}) =>
      (await this.#reader.rows(statement, { signal, settings })).length > 0;
    const [found] = await this.#reader.rows<ResultSpans>(resultSpans(scope, experiment, this.#atOnce + 1), { signal });
    const [spans, traces] = [Number(found?.spans ?? 0), Number(found?.traces ?? 0)];
    const isOne = spans <= this.#atOnce;
    // As many traces as spans: none has two.
    const mayShare = !isOne || traces < spans;
    const haveShared = mayShare && (await isAny(anyShared(scope, [ofExperiment(experiment)]), ANY_SHARED_SETTINGS));
    const ofTraces = names.length > 0 && (await isAny(hasTraceScores(scope)));
    return { asked: { experiment, names, ofTraces, haveShared }, isOne };
  }

  /** Where a portion of all results ends; null: with the last of them. */
  async #lastOf(scope: ReadScope, experiment: string, after: ResultPlace | null, signal: AbortSignal | undefined) {
    const statement = lastOf(scope, experiment, after, this.#atOnce);
    return (await this.#reader.rows<ResultPlace>(statement, { signal }))[0] ?? null;
  }

  /** What lines say, and where they leave a score open, what counts. */
  async #known(
    scope: ReadScope,
    names: readonly string[],
    lines: readonly MeasuredLine[],
    signal: AbortSignal | undefined,
  ): Promise<MeasuredResult[]> {
    const uncertain = lines.filter(isUncertain).map((line) => ({ line, span: line[0], made: line[4] }));
    if (uncertain.length === 0) return lines.map((line) => toMeasured(line, names, undefined));
    const wanted = { several: NO_TRACE, names, longest: LONGEST };
    const scores = await this.#scores.of(scope, uncertain, wanted, signal);
    const known = new Map(uncertain.map((each) => [each.line, scores.get(each)]));
    return lines.map((line) => toMeasured(line, names, known.get(line)));
  }
}

/** The values of a stream of lines of JSON, about so many together. */
async function* portionsOf<T>(stream: Readable, size: number): AsyncGenerator<T[]> {
  let values: T[] = [];
  let begun = '';
  stream.setEncoding('utf8');
  for await (const chunk of stream as AsyncIterable<string>) {
    const end = chunk.lastIndexOf('\n');
    if (end >= 0) {
      // No line has an end of one within: all of them are parsed at once.
      const lines = (begun + chunk.slice(0, end)).replaceAll('\n', ',');
      for (const value of JSON.parse(`[${lines}]`) as T[]) values.push(value);
      begun = '';
    }
    begun += chunk.slice(end + 1);
    if (values.length < size) continue;
    yield values;
    values = [];
  }
  if (values.length > 0) yield values;
}
