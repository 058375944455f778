import { DomainError } from '../../engine/errors.js';
import { MAX_REPETITION } from '../../engine/traces/model/experiment/mark.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import type { ExperimentService } from '../../features/experiments/experiment-service.js';

/** Results of one experiment that are told apart, and of all whose results are remembered where nothing needs them. */
const MAX_OF_EXPERIMENT = 50_000;
const MAX_OF_ALL = 200_000;
/** Experiments that are remembered, few enough to be counted with each request. */
const MAX_EXPERIMENTS = 200;
/** Experiments whose runs are numbered together: together they have no more results than are remembered. */
export const MAX_TOGETHER = MAX_OF_ALL / MAX_OF_EXPERIMENT;
/** Requests whose experiments are held in memory, whatever else is. */
const TURNS = { atOnce: 4, perParty: 2 };
const READ_AT_ONCE = 10_000;

/**
 * Which try at an example each run of an experiment is: clients evaluate an example several times, and do not say which time it
 * is. Runs are counted in the order in which they come; one that comes again keeps its number.
 */
export class Repetitions {
  readonly #experiments: Pick<ExperimentService, 'results'>;
  /** By project and experiment; the one that was asked for last comes last. */
  readonly #known = new Map<string, Promise<Numbers | null>>();
  readonly #ready = new Map<string, Numbers>();
  /** How many requests number runs of an experiment: until they have, it is not forgotten. */
  readonly #held = new Map<string, number>();
  readonly #turns = new FairSemaphore('numbered repetitions', TURNS);

  constructor(experiments: Pick<ExperimentService, 'results'>) {
    this.#experiments = experiments;
  }

  /**
   * Does work that asks {@link of} about some experiments, which stay known meanwhile.
   * @param experimentIds up to {@link MAX_TOGETHER}
   * @throws DomainError `unavailable`, and what the work throws
   */
  async during<T>(projectId: string, experimentIds: ReadonlySet<string>, work: () => Promise<T>): Promise<T> {
    if (experimentIds.size === 0) return work();
    const keys = [...experimentIds].map((id) => keyOf(projectId, id));
    return this.#turns.run(projectId, async () => {
      for (const key of keys) this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
      try {
        await this.#know(projectId, experimentIds);
        return await work();
      } finally {
        for (const key of keys) {
          const left = (this.#held.get(key) ?? 1) - 1;
          if (left === 0) this.#held.delete(key);
          else this.#held.set(key, left);
        }
        this.#makeRoom();
      }
    });
  }

  async #know(projectId: string, experimentIds: Iterable<string>): Promise<void> {
    for (const id of experimentIds) {
      const key = keyOf(projectId, id);
      const known = this.#known.get(key) ?? this.#read(projectId, id);
      this.#known.delete(key);
      this.#known.set(key, known);
      try {
        const numbers = await known;
        if (numbers === null) this.#forget(key);
        else this.#ready.set(key, numbers);
      } catch (error) {
        this.#forget(key);
        throw error;
      }
    }
    this.#makeRoom();
  }

  /** The number of a run, from 1; those beyond what an experiment may have replace the first. */
  of(projectId: string, experimentId: string, rowId: string, spanId: string): number {
    return this.#ready.get(keyOf(projectId, experimentId))?.of(rowId, spanId) ?? 1;
  }

  /** @returns null: the project has no such experiment, as runs may name any */
  async #read(projectId: string, experimentId: string): Promise<Numbers | null> {
    const numbers = new Numbers();
    const query = {
      experimentId,
      repetition: null,
      rowIds: null,
      hasError: null,
      idsOnly: true,
      count: false,
    } as const;
    try {
      for (let offset: number | null = 0; offset !== null && !numbers.isFull;) {
        const page = await this.#experiments.results(projectId, { ...query, limit: READ_AT_ONCE, offset });
        for (const { row_id, id, repetition } of page.results) numbers.note(row_id, id, repetition);
        offset = page.next;
      }
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'not_found') return null;
      throw error;
    }
    return numbers;
  }

  #makeRoom(): void {
    let size = [...this.#ready.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [key] of this.#known) {
      if (size <= MAX_OF_ALL && this.#known.size <= MAX_EXPERIMENTS) return;
      if (this.#held.has(key)) continue;
      size -= this.#ready.get(key)?.size ?? 0;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#known.delete(key);
    this.#ready.delete(key);
  }
}

function keyOf(projectId: string, experimentId: string): string {
  return `${projectId}/${experimentId}`;
}

/** The numbers of the runs of one experiment. */
class Numbers {
  readonly #ofRuns = new Map<string, number>();
  /** Numbers that are taken, as bits, by row. */
  readonly #taken = new Map<string, number>();

  get size(): number {
    return this.#ofRuns.size;
  }

  get isFull(): boolean {
    return this.size >= MAX_OF_EXPERIMENT;
  }

  note(rowId: string, spanId: string, number: number): void {
    this.#ofRuns.set(spanId, number);
    this.#taken.set(rowId, (this.#taken.get(rowId) ?? 0) | (1 << (number - 1)));
  }

  of(rowId: string, spanId: string): number {
    const known = this.#ofRuns.get(spanId);
    if (known !== undefined) return known;
    if (this.isFull) return 1;
    const taken = this.#taken.get(rowId) ?? 0;
    let number = 1;
    while (number <= MAX_REPETITION && (taken & (1 << (number - 1))) !== 0) number += 1;
    if (number > MAX_REPETITION) number = 1;
    this.note(rowId, spanId, number);
    return number;
  }
}
