import type { ExperimentService } from '../features/experiments/experiment-service.js';
import { ANY, type Experiment } from '../features/experiments/experiment.js';
import { ProjectMemory } from './project-memory.js';

/** How long names are remembered: each batch of runs says one, mostly of no experiment. */
const REMEMBERED_MS = 10_000;

interface Remembered {
  /** Null: there is no such experiment. */
  readonly id: string | null;
  readonly until: number;
}

/** Finds experiments by what runs say of them. Of several with one name, the newest is meant. */
export class ExperimentNames {
  readonly #experiments: Pick<ExperimentService, 'listed'>;
  readonly #remembered = new ProjectMemory<Remembered>();

  constructor(experiments: Pick<ExperimentService, 'listed'>) {
    this.#experiments = experiments;
  }

  async find(projectId: string, name: string): Promise<string | null> {
    const known = this.#remembered.get(projectId, name);
    if (known !== undefined && known.until > performance.now()) return known.id;
    const [found] = await this.#experiments.listed(projectId, { ...ANY, name }, { limit: 1, offset: 0 });
    const id = found?.id ?? null;
    this.#remembered.note(projectId, name, { id, until: performance.now() + REMEMBERED_MS });
    return id;
  }

  /** Takes note of an experiment that was created, renamed or removed. */
  changed(projectId: string, { name }: Pick<Experiment, 'name'>): void {
    this.#remembered.forget(projectId, name);
  }
}
