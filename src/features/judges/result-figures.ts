import type { ExperimentResults } from '../../engine/traces/model/experiment/results.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import { inPortions } from '../../engine/work/portions.js';
import type { AskedPin, PinStore, ResultVerdict } from './pin.js';

/** What one version of a judge found of the results of an experiment. */
export interface JudgedFigures {
  readonly judge_id: string;
  readonly name: string;
  readonly judge_version: string;
  readonly evaluation_type: AskedPin['evaluation_type'];
  readonly evaluated: number;
  readonly passed: number;
  /** Of those evaluated, the share that passed; null: there is none. */
  readonly rate: number | null;
  /** Mean of scores; null: there is none. */
  readonly mean: number | null;
  readonly pending: number;
  readonly failed: number;
  /** Whether more can be judged by it. */
  readonly available: boolean;
}

/** Versions that are counted, the last ones. */
const MAX_SHOWN = 10;

export interface ResultFiguresParts {
  readonly pins: Pick<PinStore, 'ofExperiment' | 'verdicts'>;
  readonly results: Pick<ExperimentResults, 'ids'>;
}

/** Counts what judges found of results: of those that count now, the newest verdict of each version. */
export class ResultFigures {
  readonly #parts: ResultFiguresParts;
  /** Each looks at all results: projects take turns. */
  readonly #turns = new FairSemaphore('figures of judges', { atOnce: 2, perParty: 1 });

  constructor(parts: ResultFiguresParts) {
    this.#parts = parts;
  }

  /** Of each version that the experiment was to be judged by, the last one first. @throws DomainError `unavailable` */
  async of(projectId: string, experimentId: string, signal?: AbortSignal): Promise<JudgedFigures[]> {
    const asked = this.#parts.pins.ofExperiment(projectId, experimentId).slice(0, MAX_SHOWN);
    // Experiments that no judge was asked about are read no further.
    if (asked.length === 0) return [];
    return this.#turns.run(projectId, () => this.#counted(projectId, experimentId, asked, signal), signal);
  }

  async #counted(
    projectId: string,
    experimentId: string,
    asked: readonly AskedPin[],
    signal?: AbortSignal,
  ): Promise<JudgedFigures[]> {
    const { pins, results } = this.#parts;
    const counts = asked.map(() => ({ evaluated: 0, passed: 0, pending: 0, failed: 0, scored: 0, sum: 0 }));
    for await (const ids of results.ids(projectId, experimentId, signal)) {
      for (const [place, pin] of asked.entries()) {
        const count = counts[place];
        if (count === undefined) continue;
        const addAll = (some: readonly string[]) => {
          for (const verdict of pins.verdicts(projectId, pin, some)) add(count, verdict);
        };
        await inPortions(ids, addAll, signal);
      }
    }
    return asked.map((pin, place) => toFigures(pin, counts[place]));
  }
}

interface Counts {
  evaluated: number;
  passed: number;
  pending: number;
  failed: number;
  scored: number;
  sum: number;
}

function add(counts: Counts, { state, passed, score }: ResultVerdict): void {
  if (state === 'queued') counts.pending += 1;
  if (state === 'failed') counts.failed += 1;
  if (passed === null) return;
  counts.evaluated += 1;
  if (passed) counts.passed += 1;
  if (score === null) return;
  counts.scored += 1;
  counts.sum += score;
}

function toFigures(pin: AskedPin, counts: Counts | undefined): JudgedFigures {
  const { evaluated = 0, passed = 0, pending = 0, failed = 0, scored = 0, sum = 0 } = counts ?? {};
  return {
    ...{ judge_id: pin.judge_id, name: pin.judge_name, judge_version: pin.judge_version },
    ...{ evaluation_type: pin.evaluation_type, evaluated, passed, pending, failed },
    rate: evaluated === 0 ? null : passed / evaluated,
    mean: scored === 0 ? null : sum / scored,
    available: pin.lost_at === null,
  };
}
