import type { Interval } from '../../engine/statistics/intervals.js';
import { MAX_MICROS } from '../../engine/timestamp.js';
import type { CorrectionStore } from '../calibration/correction.js';
import { calibrationOf } from '../calibration/report.js';
import { groupVersions } from '../calibration/versions.js';

/** The judge whose verdicts a metric compares, and how far people agree with that version of it. */
export interface MetricJudge {
  /** Lower-case UUID. */
  readonly id: string;
  readonly name: string;
  readonly judge_version: string;
  /** The version as calibration reports name it, with those of nearly the same corrections; null: it has no evaluations. */
  readonly version: string | null;
  /** Corrections of its evaluations, without those that it had been told before. */
  readonly corrections: number;
  /** How many of them say that it was right. */
  readonly agreed: number;
  readonly kappa: number | null;
  readonly kappa_interval: Interval | null;
}

export type Corrections = Pick<CorrectionStore, 'between' | 'versions'>;

/** How far people agree with a version of a judge, as its calibration report says. @throws DomainError `unavailable` */
export function agreementWith(
  store: Corrections,
  judgeId: string,
  judgeVersion: string,
): Omit<MetricJudge, 'id' | 'name' | 'judge_version'> {
  const used = store.versions(judgeId);
  const version =
    groupVersions(used, 'steps').find(({ members }) => members?.has(judgeVersion) === true)?.version ?? null;
  const { by_version } = calibrationOf(judgeId, store.between(judgeId, 0, MAX_MICROS), used, 'steps');
  const found = by_version.find((each) => each.version === version);
  return {
    version,
    corrections: found?.count ?? 0,
    agreed: found?.agreed ?? 0,
    kappa: found?.kappa ?? null,
    kappa_interval: found?.kappa_interval ?? null,
  };
}
