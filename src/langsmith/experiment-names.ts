import type { ExperimentService } from '../features/experiments/experiment-service.js';
import { ANY, type Experiment } from '../features/experiments/experiment.js';

/** Names that are remembered, over all projects, and for how long: each batch of runs says one, mostly of no experiment. */
const MAX_REMEMBERED = 10_000;
const REMEMBERED_MS = 10_000;

interface Remembered {
  /** Null: there is no such experiment. */
  readonly id: string | null;
  readonly until: number;
}

/** Finds experiments by what runs say of them. Of several with one name, the newest is meant. */
export class ExperimentNames {
  readonly #experiments: Pick<ExperimentService, 'listed'>;
  readonly #remembered = new Map<string, Remembered>();

  constructor(experiments: Pick<ExperimentService, 'listed'>) {
    this.#experiments = experiments;
  }

  async find(projectId: string, name: string): Promise<string | null> {
    const key = `${projectId}/${name}`;
    const known = this.#remembered.get(key);
    if (known !== undefined && known.until > performance.now()) return known.id;
    const [found] = await this.#experiments.listed(projectId, { ...ANY, name }, { limit: 1, offset: 0 });
    this.#note(key, found?.id ?? null);
    return found?.id ?? null;
  }

  /** Takes note of an experiment that was created, renamed or removed. */
  changed(projectId: string, { name }: Pick<Experiment, 'name'>): void {
    this.#remembered.delete(`${projectId}/${name}`);
  }

  #note(key: string, id: string | null): void {
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(key, { id, until: performance.now() + REMEMBERED_MS });
  }
}
