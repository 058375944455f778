import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import {
  rootsOf,
  textBytesOf,
  textsOf,
  withOutput,
  type OutlineRow,
  type ResultRow,
  type RootRow,
  type TextBytesRow,
  type TextPlace,
  type TextRow,
} from './result-statements.js';

/** Results whose texts one statement names. */
const TEXTS_AT_ONCE = 500;
/** Most bytes of the texts of a page, unless it is of one result: it ends before they are more. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024;

/** What results say: their outputs and errors, or the output of the trace that they name. */
export class ResultTexts {
  readonly #rows: ReadRows;

  constructor(rows: ReadRows) {
    this.#rows = rows;
  }

  /** The texts of the first results, and how many these are: all, unless that is too much. */
  async first(scope: ReadScope, results: readonly ResultRow[], signal: AbortSignal | undefined) {
    const texts = new Map<string, TextRow>();
    let left = MAX_TEXT_BYTES;
    for (let from = 0; from < results.length; from += TEXTS_AT_ONCE) {
      const some = results.slice(from, from + TEXTS_AT_ONCE);
      const { sizes, roots } = await this.#sizes(scope, some, signal);
      const placeOf = (row: ResultRow): TextPlace => roots.get(row.version) ?? row;
      const end = some.findIndex((row, index) => {
        left -= sizes.get(placeOf(row).version) ?? 0;
        return left < 0 && from + index > 0;
      });
      const kept = end === -1 ? some : some.slice(0, end);
      if (kept.length > 0) {
        const read = await this.#rows<TextRow>(textsOf(scope, kept.map(placeOf)), { signal });
        const byVersion = new Map(read.map((row) => [row.version, row]));
        for (const row of kept) {
          const text = byVersion.get(placeOf(row).version);
          if (text !== undefined) texts.set(row.version, roots.has(row.version) ? { ...text, message: null } : text);
        }
      }
      if (end !== -1) return { texts, kept: from + end };
    }
    return { texts, kept: results.length };
  }

  /**
   * How many bytes the texts of results have, by version. One without any, which only names its trace, shows the output of that:
   * then its root span stands for it.
   */
  async #sizes(scope: ReadScope, results: readonly ResultRow[], signal: AbortSignal | undefined) {
    const read = (places: readonly TextPlace[]) => this.#rows<TextBytesRow>(textBytesOf(scope, places), { signal });
    const sizes = new Map((await read(results)).map(({ version, bytes }) => [version, Number(bytes)]));
    const silent = results.filter(({ version, made, span, has_error }) => {
      return (sizes.get(version) ?? 0) === 0 && has_error === 0 && isLinked(made, span);
    });
    const roots = await this.#roots(scope, silent, signal);
    if (roots.size > 0)
      for (const { version, bytes } of await read([...roots.values()])) sizes.set(version, Number(bytes));
    return { sizes, roots };
  }

  /** The root spans of the traces in which results were made, by the versions of the results' spans. */
  async #roots(
    scope: ReadScope,
    results: readonly Pick<ResultRow, 'version' | 'made'>[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, TextPlace>> {
    if (results.length === 0) return new Map();
    const roots = await this.#rows<RootRow>(rootsOf(scope, tracesOfAll(results)), { signal });
    const byTrace = new Map(roots.map((root) => [root.id, root]));
    return new Map(
      results.flatMap(({ version, made }) => {
        const root = byTrace.get(made);
        return root === undefined ? [] : [[version, root]];
      }),
    );
  }

  /** The versions of results that only name their trace, and show its output. */
  async ofTraces(
    scope: ReadScope,
    results: readonly OutlineRow[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlySet<string>> {
    const silent = results.filter(
      ({ made, trace, has_error, has_output }) => has_output === 0 && has_error === 0 && made !== trace,
    );
    const roots = await this.#roots(scope, silent, signal);
    if (roots.size === 0) return new Set();
    const shown = await this.#rows<{ version: string }>(withOutput(scope, [...roots.values()]), { signal });
    const versions = new Set(shown.map(({ version }) => version));
    return new Set([...roots].flatMap(([result, root]) => (versions.has(root.version) ? [result] : [])));
  }
}

/** The traces that results were made in. */
export const tracesOfAll = (results: readonly Pick<ResultRow, 'made'>[]) => [
  ...new Set(results.map(({ made }) => made)),
];

/** Whether the span of a result, which is in a trace by itself, names another trace in which the result was made. */
const isLinked = (made: string, span: string) => made !== span;
