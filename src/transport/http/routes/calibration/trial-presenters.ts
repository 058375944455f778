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
  const summary = toTrialSummaryRead(trial);
  if (result === null) return { ...summary, result };
  const spans = result.spans.map(({ human, ...span }) => ({
    ...span,
    human: { evaluation_result: human.passed, ...human },
  }));
  return { ...summary, result: { ...result, spans } };
}
