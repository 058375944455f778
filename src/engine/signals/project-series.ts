import type { Metrics } from './metrics.js';

/** What was stored of the calls of one model; null: of spans that name none. */
export interface ModelSum {
  readonly model: string | null;
  readonly spans: number;
  readonly errors: number;
  /** US dollars. */
  readonly cost: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** Models of a project that have series of their own: a project must not take those of all others. */
export const MAX_MODELS = 50;
/** Longer names are nobody's model. */
const MAX_NAME = 200;
/** The label of all that has no series of its own, and of spans without a model. */
export const OTHER = 'other';
const NONE = 'none';

/**
 * Series by project and model. Clients choose the names of models, and how many projects there are is not bounded: so many pairs of
 * both have series of their own, first come, first served, and the rest are counted together.
 */
export class ProjectSeries {
  readonly #metrics: Metrics;
  #max = 0;
  #isGone: (projectId: string) => boolean = () => false;
  /** Models with series, by project. */
  readonly #models = new Map<string, Set<string>>();
  #pairs = 0;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** @param max pairs of project and model that have series of their own; 0: nothing is counted */
  open(max: number, isGone: (projectId: string) => boolean): void {
    this.#max = max;
    this.#isGone = isGone;
  }

  add(projectId: string, sums: readonly ModelSum[]): void {
    // What is acknowledged while its project is deleted is of no project any more.
    if (this.#max === 0 || this.#isGone(projectId)) return;
    const { projectSpans, projectErrors, projectCost, projectTokens } = this.#metrics;
    for (const { model, spans, errors, cost, input_tokens, output_tokens } of sums) {
      const labels = this.#labels(projectId, model);
      projectSpans.inc(labels, spans);
      projectErrors.inc(labels, errors);
      projectCost.inc(labels, Math.max(0, cost));
      projectTokens.inc({ ...labels, direction: 'input' }, Math.max(0, input_tokens));
      projectTokens.inc({ ...labels, direction: 'output' }, Math.max(0, output_tokens));
    }
  }

  /** Removes the series of a project. */
  forget(projectId: string): void {
    const models = this.#models.get(projectId);
    if (models === undefined) return;
    const { projectSpans, projectErrors, projectCost, projectTokens } = this.#metrics;
    for (const model of models) {
      const labels = { project: projectId, model };
      for (const metric of [projectSpans, projectErrors, projectCost]) metric.remove(labels);
      for (const direction of ['input', 'output']) projectTokens.remove({ ...labels, direction });
    }
    this.#pairs -= models.size;
    this.#models.delete(projectId);
  }

  #labels(project: string, model: string | null): { readonly project: string; readonly model: string } {
    const known = this.#models.get(project);
    const named = model === null ? NONE : model.length > MAX_NAME ? OTHER : model;
    // The last one of a project is for all that it has beyond.
    const own = known?.has(named) === true || (known?.size ?? 0) < MAX_MODELS - 1 ? named : OTHER;
    if (known?.has(own) === true) return { project, model: own };
    if (this.#pairs >= this.#max) return known?.has(OTHER) === true ? { project, model: OTHER } : REST;
    this.#pairs += 1;
    if (known === undefined) this.#models.set(project, new Set([own]));
    else known.add(own);
    return { project, model: own };
  }
}

const REST = { project: OTHER, model: OTHER };
