import type { CalibrationTrial, CalibrationTrialHead } from '../../../../domain/learning/calibration/trial.js';
import type {
  CalibrationTrialRead,
  CalibrationTrialSummaryRead,
} from '../../../../domain/learning/calibration/schema.js';
import { toJobRead } from '../job-presenters.js';

export function toTrialSummaryRead(trial: CalibrationTrialHead): CalibrationTrialSummaryRead {
  return { ...toJobRead(trial), ...trial.about };
}

export function toTrialRead(trial: CalibrationTrial): CalibrationTrialRead {
  const { result } = trial;
  return { ...toTrialSummaryRead(trial), result: result === null ? null : { ...result, spans: [...result.spans] } };
}
