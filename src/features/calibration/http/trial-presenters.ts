import type { CalibrationTrial, CalibrationTrialHead } from '../trial.js';
import type { CalibrationTrialRead, CalibrationTrialSummaryRead } from '../schema.js';
import { toJobRead } from '../../../http/job-presenters.js';

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
