import { wilson, type Interval } from '../../engine/statistics/intervals.js';
import type { JudgeVerdict, Thumbs } from './completion-opinions.js';
import type { CallFigures } from '../../engine/traces/model/prompts/prompt-spans.js';

/** A share with its interval; null without anything to share. */
export interface Share {
  readonly rate: number | null;
  readonly rate_interval: Interval | null;
}

/** What a judge found of the completions of a version, by its latest evaluation of each. */
export interface JudgeShare extends Share {
  readonly judge_id: string;
  readonly judge_name: string;
  readonly evaluated: number;
  readonly passed: number;
}

export interface VersionStatistic extends Omit<CallFigures, 'version_id'> {
  /** Number of the version; null: completions that name none of the prompt's. */
  readonly version: number | null;
  /** Completions that someone gave thumbs up, and down; the share is of the ups among both. */
  readonly thumbs: Share & Thumbs;
  readonly judges: readonly JudgeShare[];
}

export interface VersionStatistics {
  /** The newest version first, completions without one last. */
  readonly versions: readonly VersionStatistic[];
  /** All completions, and how many of them, the newest, thumbs and verdicts are of. */
  readonly looked_up: { readonly completions: number; readonly of: number };
}

interface Sum {
  up: number;
  down: number;
  readonly judges: Map<string, { judge_name: string; evaluated: number; passed: number }>;
}

const nothing = (): Sum => ({ up: 0, down: 0, judges: new Map() });

/** Sums up what is said of completions, by version. */
export class VersionSums {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #figures: readonly CallFigures[];
  readonly #sums = new Map<string | null, Sum>();
  #added = 0;

  constructor(numbers: ReadonlyMap<string, number>, figures: readonly CallFigures[]) {
    this.#numbers = numbers;
    this.#figures = figures;
  }

  add(versionId: string | null, said: { readonly thumbs: Thumbs; readonly verdicts: readonly JudgeVerdict[] }): void {
    this.#added += 1;
    const sum = this.#sums.get(versionId) ?? nothing();
    this.#sums.set(versionId, sum);
    if (said.thumbs.up > 0) sum.up += 1;
    if (said.thumbs.down > 0) sum.down += 1;
    for (const { judge_id, judge_name, evaluation_result } of said.verdicts) {
      const judge = sum.judges.get(judge_id) ?? { judge_name, evaluated: 0, passed: 0 };
      sum.judges.set(judge_id, judge);
      judge.evaluated += 1;
      if (evaluation_result) judge.passed += 1;
    }
  }

  statistics(): VersionStatistics {
    const versions = this.#figures.map(({ version_id, ...figures }): VersionStatistic => {
      const { up, down, judges } = this.#sums.get(version_id) ?? nothing();
      return {
        version: version_id === null ? null : (this.#numbers.get(version_id) ?? null),
        ...figures,
        thumbs: { up, down, ...shareOf(up, up + down) },
        judges: [...judges].map(([judge_id, judge]) => ({
          judge_id,
          ...judge,
          ...shareOf(judge.passed, judge.evaluated),
        })),
      };
    });
    const calls = this.#figures.reduce((sum, each) => sum + each.calls, 0);
    return {
      versions: versions.sort((one, other) => (other.version ?? 0) - (one.version ?? 0)),
      looked_up: { completions: this.#added, of: Math.max(calls, this.#added) },
    };
  }
}

function shareOf(part: number, whole: number): Share {
  return { rate: whole === 0 ? null : part / whole, rate_interval: wilson(part, whole) };
}
