import type { Window } from '../../engine/schema/page.js';
import type { ExperimentResults } from '../../engine/traces/model/experiment/results.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import { inPortions } from '../../engine/work/portions.js';
import type { EvaluationKey, EvaluationOrder, EvaluationSelection, EvaluationStore } from './evaluation-store.js';

/** Evaluations of an experiment that pages reach: so many are sorted at most, whatever there is. */
export const MAX_OF_EXPERIMENT = 10_000;

export interface ResultEvaluationsParts {
  readonly store: Pick<EvaluationStore, 'ofSpans'>;
  readonly results: Pick<ExperimentResults, 'outlines'>;
}

/** Finds the evaluations of an experiment's results, of those that count now. */
export class ResultEvaluations {
  readonly #parts: ResultEvaluationsParts;
  /** Each looks at all results: projects take turns. */
  readonly #turns = new FairSemaphore('lists of evaluations of an experiment', { atOnce: 2, perParty: 1 });

  constructor(parts: ResultEvaluationsParts) {
    this.#parts = parts;
  }

  /** How many there are, and the numbers of those in the window. @throws DomainError `overloaded`, `unavailable`; the signal's reason */
  find(
    { projectId, experimentId }: { readonly projectId: string; readonly experimentId: string },
    of: EvaluationSelection,
    { limit, offset }: Window,
    signal?: AbortSignal,
  ): Promise<{ readonly total: number; readonly numbers: readonly number[] }> {
    const { store, results } = this.#parts;
    const compare = comparison(of.order);
    const most = Math.min(offset + limit, MAX_OF_EXPERIMENT);
    return this.#turns.run(
      projectId,
      async () => {
        let total = 0;
        let first: EvaluationKey[] = [];
        const look = (portion: readonly { readonly id: string }[]) => {
          const ids = portion.map(({ id }) => id);
          const found = store.ofSpans(of, projectId, ids);
          total += found.length;
          first.push(...found);
          if (first.length > 2 * most) first = first.sort(compare).slice(0, most);
        };
        for await (const portion of results.outlines(projectId, experimentId, signal))
          await inPortions(portion, look, signal);
        return {
          total,
          numbers: first
            .sort(compare)
            .slice(offset, most)
            .map(({ number }) => number),
        };
      },
      signal,
    );
  }
}

/** As lists are ordered: those without a confidence come last either way. */
function comparison({ by, descending }: EvaluationOrder): (one: EvaluationKey, other: EvaluationKey) => number {
  const sign = descending ? -1 : 1;
  const stored = (one: EvaluationKey, other: EvaluationKey) =>
    sign * (one.created_at - other.created_at || one.number - other.number);
  if (by === 'created_at') return stored;
  return (one, other) => {
    if (one.confidence === null || other.confidence === null)
      return Number(one.confidence === null) - Number(other.confidence === null) || stored(one, other);
    return sign * (one.confidence - other.confidence) || stored(one, other);
  };
}
