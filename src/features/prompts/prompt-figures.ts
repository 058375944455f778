import { spanList } from '../../engine/traces/model/list/definitions.js';
import { defaultQuery, type ListQuery } from '../../engine/traces/model/list/query.js';
import type { ListStatistics } from '../../engine/traces/model/list/statistics.js';
import type { PromptSummary } from './prompt.js';
import type { Micros } from '../../engine/timestamp.js';

/** What became of a prompt. */
export interface PromptFigures {
  /** Spans that name the prompt and started since a moment: those of the list with `prompt_slug`. */
  readonly calls: number;
  readonly errors: number;
  /** US dollars; null when no call has a known cost. */
  readonly cost: number | null;
  /** All feedback that was ever given, on completions and on judges. */
  readonly feedback: number;
}

export interface PromptFeedbackCounts {
  /** Feedback on prompts, by their ids; those without any are left out. */
  byPrompt(promptIds: readonly string[]): ReadonlyMap<string, number>;
}

export interface PromptFigureParts {
  readonly statistics: Pick<ListStatistics, 'totals'>;
  readonly feedback: PromptFeedbackCounts;
}

const SLUG = 'prompt_slug';

/** The figures of prompts, of all that are asked for at once. */
export class PromptFigureService {
  readonly #parts: PromptFigureParts;

  constructor(parts: PromptFigureParts) {
    this.#parts = parts;
  }

  /** In the order of the prompts. @throws DomainError `unavailable` */
  async of(
    projectId: string,
    prompts: readonly Pick<PromptSummary, 'id' | 'slug'>[],
    since: Micros,
    signal?: AbortSignal,
  ): Promise<PromptFigures[]> {
    if (prompts.length === 0) return [];
    const { statistics, feedback } = this.#parts;
    const slugs = prompts.map(({ slug }) => slug);
    const { totals } = await statistics.totals(
      'spans',
      projectId,
      {
        objects: callsOf(slugs, since),
        measures: ['count', 'errors', 'cost'],
        of: { by: 'field', field: SLUG },
        values: slugs,
      },
      signal,
    );
    const given = feedback.byPrompt(prompts.map(({ id }) => id));
    return prompts.map(({ id }, index) => {
      const { count = 0, error_count = 0, cost = null } = totals[index] ?? {};
      return {
        calls: count,
        errors: error_count,
        cost: cost === null ? null : Number(cost),
        feedback: given.get(id) ?? 0,
      };
    });
  }
}

/** The spans that the list shows of each of the prompts. */
function callsOf(slugs: readonly string[], since: Micros): ListQuery {
  const filter = { parameter: SLUG, field: SLUG, comparison: 'anyOf', description: '' } as const;
  const started = spanList.filters.find(({ parameter }) => parameter === 'started_after');
  if (started === undefined) throw new Error('Spans are not bounded by time');
  return {
    ...defaultQuery(spanList),
    filters: [
      { filter, values: slugs },
      { filter: started, values: [since] },
    ],
  };
}
