import { DateTime } from 'luxon';
import type { CalibrationReport, CorrectionsPerCall } from '../calibration-service.js';
import type { VersionAgreement, WeekAgreement } from '../report.js';
import type { CalibrationRead } from '../schema.js';
import { formatTimestamp } from '../../../engine/timestamp.js';

export function calibrationRead(
  calibration: CalibrationReport,
  corrections_per_call: CorrectionsPerCall | null,
): CalibrationRead {
  return {
    ...calibration,
    corrections_per_call,
    by_week: calibration.by_week.map(weekRead),
    by_version: calibration.by_version.map(versionRead),
  };
}

function weekRead({ start, ...agreement }: WeekAgreement): CalibrationRead['by_week'][number] {
  return {
    week: DateTime.fromMillis(start / 1000, { zone: 'utc' }).toFormat("kkkk-'W'WW"),
    start: formatTimestamp(start),
    ...agreement,
  };
}

/** Members in the order of the schema. */
function versionRead({
  version,
  prompt_version,
  prompt_version_id,
  examples,
  began_at,
  evaluations,
  not_counted,
  ...agreement
}: VersionAgreement): CalibrationRead['by_version'][number] {
  return {
    version,
    prompt_version,
    prompt_version_id,
    examples,
    began_at: began_at === null ? null : formatTimestamp(began_at),
    evaluations,
    not_counted,
    ...agreement,
  };
}
