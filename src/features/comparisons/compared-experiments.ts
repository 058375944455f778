import { DomainError } from '../../engine/errors.js';
import { UUID } from '../../engine/schema/ids.js';
import { invalid } from '../../engine/validation/validation.js';
import { OpenCount } from '../../engine/work/open-count.js';
import type { DatasetStore } from '../datasets/dataset.js';
import type { Experiment, ExperimentStore } from '../experiments/experiment.js';
import type { ComparisonInput } from './input-schema.js';
import { pause } from './pause.js';

/** How often a waiting request checks again. */
const CHECK_EVERY_MS = 250;
/** Requests that wait at once: each keeps a connection. */
const MAX_WAITING = 200;
/** Those of one project. */
const MAX_WAITING_OF_PROJECT = 20;

export interface ComparedExperiments {
  readonly candidate: Experiment;
  readonly baseline: Experiment;
}

export interface ExperimentLookupParts {
  readonly experiments: Pick<ExperimentStore, 'find' | 'tagged'>;
  readonly datasets: Pick<DatasetStore, 'find'>;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
}

type Asked = ComparisonInput['candidate'];

/** Finds the two experiments of a comparison, and waits for them. */
export class ExperimentLookup {
  readonly #parts: ExperimentLookupParts;
  readonly #waiting = new OpenCount({ perParty: MAX_WAITING_OF_PROJECT, all: MAX_WAITING });

  constructor(parts: ExperimentLookupParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found`; `invalid` where a tag is of no dataset, or both are the same */
  find(
    projectId: string,
    { candidate, baseline }: Pick<ComparisonInput, 'candidate' | 'baseline'>,
  ): ComparedExperiments {
    const byId = [candidate, baseline].find((asked) => typeof asked === 'string');
    const known = byId === undefined ? null : this.#byId(projectId, byId).dataset.id;
    const found = {
      candidate: this.#one(projectId, candidate, known, '/candidate'),
      baseline: this.#one(projectId, baseline, known, '/baseline'),
    };
    if (found.candidate.id === found.baseline.id)
      throw invalid([{ pointer: '/baseline', detail: 'is the candidate itself' }]);
    return found;
  }

  /**
   * Waits until both experiments are no longer running.
   * @throws DomainError `conflict` when one still is; `not_found` when one was deleted; `unavailable`, `overloaded`
   */
  async finished(
    projectId: string,
    { candidate, baseline }: ComparedExperiments,
    seconds: number,
    signal: AbortSignal,
  ): Promise<ComparedExperiments> {
    const until = Date.now() + seconds * 1_000;
    const look = () => ({
      candidate: this.#byId(projectId, candidate.id),
      baseline: this.#byId(projectId, baseline.id),
    });
    let found = look();
    if (runningOf(found) === undefined) return found;
    const leave = seconds > 0 ? this.#enter(projectId) : () => undefined;
    try {
      while (runningOf(found) !== undefined && Date.now() < until) {
        await pause(CHECK_EVERY_MS, signal, this.#parts.stopping);
        found = look();
      }
    } finally {
      leave();
    }
    const running = runningOf(found);
    if (running === undefined) return found;
    const name = JSON.stringify(running.name);
    throw new DomainError('conflict', `The experiment ${name} is still running: finish it, or wait longer.`);
  }

  /** Takes a place among those that wait. @returns what gives it back @throws DomainError `overloaded` */
  #enter(projectId: string): () => void {
    const leave = this.#waiting.open(projectId);
    if (leave === undefined)
      throw new DomainError('overloaded', 'Too many requests wait for experiments. Retry.', { retryAfterSeconds: 5 });
    return leave;
  }

  #one(projectId: string, asked: Asked, known: string | null, pointer: string): Experiment {
    if (typeof asked === 'string') return this.#byId(projectId, asked);
    const { experiments, datasets } = this.#parts;
    const { tag, dataset } = asked;
    const named = dataset == null ? undefined : UUID.test(dataset) ? { id: dataset.toLowerCase() } : { name: dataset };
    const datasetId = named === undefined ? known : datasets.find(projectId, named)?.id;
    if (datasetId === null)
      throw invalid([
        { pointer, detail: 'needs the dataset of the tag, as the other experiment is given by a tag, too' },
      ]);
    const id = datasetId === undefined ? undefined : experiments.tagged(projectId, datasetId, tag);
    if (id === undefined)
      throw new DomainError('not_found', `No experiment of this dataset has the tag ${JSON.stringify(tag)}.`);
    return this.#byId(projectId, id);
  }

  #byId(projectId: string, id: string): Experiment {
    const found = this.#parts.experiments.find(projectId, id.toLowerCase());
    if (found === undefined) throw new DomainError('not_found', `There is no experiment with the id ${id}.`);
    return found;
  }
}

function runningOf({ candidate, baseline }: ComparedExperiments): Experiment | undefined {
  return [candidate, baseline].find(({ status }) => status === 'running');
}
