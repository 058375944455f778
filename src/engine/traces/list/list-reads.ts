import { DomainError } from '../../errors.js';
import type { ListQuery } from '../model/list/query.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import { openReader, type Reader, type ReadLimits } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import type { NotCurrent } from '../rollup/set-aside.js';
import type { Candidates, WordIndex } from '../search/word-index.js';
import { sessionAskedFor } from './compile.js';
import { asksOfHeld } from './descendant-filters.js';
import { asksOfExperiments } from './experiment-filters.js';
import type { NewestScoreTable, OpenedScores } from './newest-score-table.js';
import { idsAskedFor } from './rows.js';
import { RepeatedScores } from './repeated-scores.js';
import { scoreSortedBy } from './score-filters.js';
import { ScoreNames } from './score-names.js';
import { ShownScores, showsScores } from './shown-scores.js';
import { spanSource, type ListSource } from './sources.js';
import { readState, type StateOf, type StateParts } from './state.js';
import { TextSearch } from './text-search.js';
import { TopScoreSearch } from './top-scores.js';
import { ScoreFilterSearch } from './found-by-scores.js';
import { withSessions } from './unsettled.js';
import type { Signals } from '../../signals/signals.js';

export interface ListParts {
  readonly client: ClickHouseClient;
  readonly reads: ReadsInProgress;
  readonly notCurrent: (projectId: string) => NotCurrent;
  readonly hasMarked: StateParts['hasMarked'];
  readonly words: WordIndex;
  readonly newestScores: NewestScoreTable;
  readonly limits: ReadLimits;
  readonly observer: Pick<Signals, 'queryFinished' | 'queryFailed'>;
}

/** A query of a list of a project. */
export interface Asked {
  readonly source: ListSource;
  readonly projectId: string;
  readonly query: ListQuery;
  readonly signal: AbortSignal | undefined;
  /** What is measured and reported; default: the list. */
  readonly name?: string;
  /** Names of scores that are read beside those that the query names. */
  readonly scores?: readonly string[];
}

/** The state in which a query is answered, and where in it the text that is searched for may be; null: anywhere. */
export interface Found {
  readonly scope: ReadScope;
  readonly candidates: Candidates | null;
}

/** Which traces or sessions that are not current concern a list. */
const CONCERNED = { spans: 'stale', traces: 'traces', sessions: 'sessions' } as const;

/** Settings of every statement of a list. */
export const LIST_SETTINGS = {
  // The ids of a page are part of the statement.
  max_query_size: '10000000',
  // Lists that show scores, or are sorted by them, are joined with these.
  joined_subquery_requires_alias: 0,
  // These optimizations find nothing in the statements of lists, and are a tenth of what it takes to analyze one.
  optimize_and_compare_chain: 0,
  optimize_extract_common_expressions: 0,
} as const;

/** What every read of a list begins with: one state, its limits, and who is told how long it took. */
export class ListReads {
  readonly reader: Reader;
  readonly search: TextSearch;
  readonly topScores: TopScoreSearch;
  readonly scoreFilters: ScoreFilterSearch;
  readonly shownScores: ShownScores;
  readonly state: StateParts;
  readonly #newestScores: NewestScoreTable;
  readonly #repeatedScores: RepeatedScores;
  readonly #scoreNames: ScoreNames;
  readonly #observer: Pick<Signals, 'queryFinished' | 'queryFailed'>;

  constructor({ client, reads, notCurrent, hasMarked, words, newestScores, limits, observer }: ListParts) {
    this.state = { reads, notCurrent, hasMarked };
    this.#newestScores = newestScores;
    this.#observer = observer;
    this.reader = openReader(client, limits, { ...LIST_SETTINGS, result_overflow_mode: 'throw' });
    const written = (projectId: string) => newestScores.written(projectId);
    this.#repeatedScores = new RepeatedScores(this.reader.rows, written);
    this.#scoreNames = new ScoreNames(this.reader.rows, written);
    this.search = new TextSearch(words, this.reader.rows);
    this.topScores = new TopScoreSearch(this.reader.rows);
    this.scoreFilters = new ScoreFilterSearch(this.reader.rows);
    this.shownScores = new ShownScores(written);
  }

  /** Reads in the state of now. @param read may run twice, when the first state cannot be read */
  async read<T>(
    asked: Asked,
    read: (found: Found) => Promise<T>,
  ): Promise<T & { readonly notCurrent: readonly string[] }> {
    const { source, projectId, query, signal, name = source.list.name } = asked;
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    try {
      return await readState(this.state, stateOf(asked), async (state) => {
        const aside = this.state.notCurrent(projectId);
        const notCurrent = aside[CONCERNED[source.list.name]];
        const scope = source.list.name === 'sessions' ? await this.sessionScope(state, signal) : state;
        const opened = await this.#withScores(asked, scope, aside.traces.length + aside.sessions.length > 0);
        try {
          const result = await read(await this.search.near(opened.scope, query, signal));
          this.#observer.queryFinished({ list: name, seconds: seconds() });
          return { ...result, notCurrent };
        } finally {
          opened.release();
        }
      });
    } catch (error) {
      // A client that leaves makes no query fail, nor does one that asks for what cannot be.
      if (signal?.aborted !== true && !isInvalid(error))
        this.#observer.queryFailed({ list: name, seconds: seconds(), error });
      throw error;
    }
  }

  /** Adds to a scope what is known of the scores that a query asks for. @param isAside whether something is set aside */
  async #withScores(asked: Asked, scope: ReadScope, isAside: boolean): Promise<OpenedScores> {
    const { source, query, signal } = asked;
    const unchanged = { scope, release: () => undefined };
    // Of one that is named, they are looked up.
    if (idsAskedFor(query) !== null) return unchanged;
    if (source === spanSource) {
      const names = [...query.scores.keys(), ...(asked.scores ?? [])];
      return { ...unchanged, scope: await this.#repeatedScores.open(scope, names, signal) };
    }
    const scoreNames = showsScores(query) ? await this.#scoreNames.of(scope, signal) : null;
    const named = scoreNames === null ? scope : { ...scope, scoreNames };
    // Then what is in what changes without a write: nothing that is stored counts.
    if (isAside) return { ...unchanged, scope: named };
    return this.#newestScores.open(source, named, [...scoresOf(asked), ...(scoreNames ?? [])], signal);
  }

  /** Adds to a scope the sessions that its unsettled traces concern. */
  sessionScope(scope: ReadScope, signal?: AbortSignal): Promise<ReadScope> {
    return withSessions(scope, this.reader.rows, signal);
  }
}

const isInvalid = (error: unknown) => error instanceof DomainError && error.kind === 'invalid';

/** The scores that all objects are compared by. */
function scoresOf({ query, scores = [] }: Asked): readonly string[] {
  const sorted = scoreSortedBy(query);
  return [...query.scores.keys(), ...scores, ...(sorted === null ? [] : [sorted])];
}

function stateOf({ source, projectId, query }: Asked): StateOf {
  const list = source.list.name;
  // Results are marked in any trace as made in another.
  const ofOthers = asksOfExperiments(query);
  switch (list) {
    case 'spans': {
      const ids = ofOthers ? null : idsAskedFor(query, 'trace_id');
      const asked = [query, ...(query.inTracesWith ?? [])];
      return { list, projectId, ids, figures: asked.some((each) => sessionAskedFor(each) !== null) };
    }
    case 'traces':
      return { list, projectId, ids: ofOthers || asksOfHeld(query) ? null : idsAskedFor(query) };
    case 'sessions':
      return { list, projectId };
  }
}
