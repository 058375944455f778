import type { StoredResult } from '../model/experiment/results.js';
import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { scoresOf, type ResultRow, type ScoreRow, type ScoresOf } from './result-statements.js';
import { tracesOfAll } from './result-texts.js';

/** What is read of the scores of some results. */
export interface ResultScoresWanted extends Pick<ScoresOf, 'names' | 'longest'> {
  /** Traces whose scores are of no result, as several were made in them. */
  readonly several: ReadonlySet<string>;
}

/** Scores of some results. */
export class ScoreReads {
  readonly #rows: ReadRows;

  constructor(rows: ReadRows) {
    this.#rows = rows;
  }

  /** Scores of results: those of their spans, and of the traces in which they alone were made. */
  async of<Result extends Pick<ResultRow, 'span' | 'made'>>(
    scope: ReadScope,
    results: readonly Result[],
    { several, ...wanted }: ResultScoresWanted,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<Result, StoredResult['scores']>> {
    if (results.length === 0) return new Map();
    const spans = [...new Set(results.map(({ span }) => span))];
    const traces = tracesOfAll(results).filter((id) => !several.has(id));
    const rows = await this.#rows<ScoreRow>(scoresOf(scope, { ...wanted, spans, traces }), { signal });
    const byObject = grouped(rows, (row) => `${row.of} ${row.object}`);
    const of = ({ span, made }: Result) =>
      [...(byObject.get(`span ${span}`) ?? []), ...(byObject.get(`trace ${made}`) ?? [])]
        .sort((one, other) => Number(one.version) - Number(other.version))
        .map(({ name, kind, number, text }) => [name, valueOf(kind, number, text)] as const);
    return new Map(results.map((row) => [row, Object.fromEntries(of(row))]));
  }
}

function grouped<T>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

function valueOf(kind: string, number: number | null, text: string): number | boolean | string {
  return kind === 'boolean' ? number === 1 : (number ?? text);
}
