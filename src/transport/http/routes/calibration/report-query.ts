import type { CalibrationQuery } from '../../../../domain/learning/calibration/calibration-service.js';
import { DomainError, type Issue } from '../../../../domain/errors.js';
import { invalid } from '../../../../domain/validation/validation.js';
import { queryOf, type QueryDefinition } from '../../query.js';
import { timeRange } from '../../time-range.js';
import { ReportQuery } from './schema.js';

const { parse } = queryOf(ReportQuery);

/** The query of a report; all bad parameters are named together. */
export const reportQuery: QueryDefinition<CalibrationQuery> = {
  schema: ReportQuery,
  parse(search) {
    const issues: Issue[] = [];
    const range = timeRange(search, issues);
    try {
      const { versions } = parse(search);
      if (issues.length === 0) return { ...range, versions };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      issues.push(...error.issues);
    }
    throw invalid(issues);
  },
};
