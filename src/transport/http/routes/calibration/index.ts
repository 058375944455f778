import type { CalibrationService } from '../../../../domain/learning/calibration/calibration-service.js';
import type { Route } from '../../route.js';
import { cancelTrialRoute } from './cancel-trial.js';
import { evaluateCalibrationRoute } from './evaluate-calibration.js';
import { getCalibrationRoute } from './get-calibration.js';
import { getTrialRoute } from './get-trial.js';
import { listTrialsRoute } from './list-trials.js';
import { plotCalibrationRoute } from './plot-calibration.js';

/** How far judges and people agree, and what corrections are worth. */
export function calibrationRoutes(calibration: CalibrationService): Route[] {
  return [
    getCalibrationRoute(calibration),
    plotCalibrationRoute(calibration),
    evaluateCalibrationRoute(calibration),
    listTrialsRoute(calibration),
    getTrialRoute(calibration),
    cancelTrialRoute(calibration),
  ];
}
