import type { Database } from '../../../engine/metadata/database.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { Evaluation } from '../../judges/evaluation.js';
import { SETTINGS, settingsBy, type JudgeSettings } from '../../judges/settings.js';
import { evaluationInsert } from '../../judges/store/evaluation-rows.js';
import { JUDGE_COLUMNS, toRow } from '../../judges/store/judge-rows.js';
import { evaluationTraces } from '../../judges/store/judged-traces.js';
import type { MetadataPart } from '../parts.js';
import { insertion } from './insertion.js';
import { missing, type By, type Misfit, type Take, type Values } from './take.js';

const OF_SPANS: Misfit = { field: 'subject_id', detail: 'must be null, as the judge evaluates single spans' };
const STANDARD_SETTINGS = settingsBy((name) => SETTINGS[name].standard);

/** How the records of judges are stored. */
export function judgeTakers(db: Database, by: By) {
  const subjectOf = db
    .prepare<[unknown, string], JudgeSettings['subject']>('SELECT subject FROM judges WHERE id = ? AND project_id = ?')
    .pluck();
  const judge = insertion(db, 'judges', JUDGE_COLUMNS, 'project_id');
  // Removing a correction makes a revision: none was removed at one that is still to come.
  const set = db.prepare<Values>(
    `INSERT INTO correction_sets (judge_id, revision, last_removal)
     VALUES (@id, max(@corrections_revision, @corrections_last_removal), @corrections_last_removal) ON CONFLICT DO NOTHING`,
  );
  const evaluate = evaluationInsert(db, true);
  const noteTraces = evaluationTraces(db);
  const evaluated = db.prepare<[unknown], string>('SELECT judge_id FROM evaluations WHERE id = ?').pluck();
  return {
    judges(projectId, record) {
      const stored = judge(record['id'], projectId, () => ({
        ...toRow({ ...STANDARD_SETTINGS, ...(record as unknown as JudgeSettings) }),
        created_by: by(projectId, record['created_by']),
        // Off: what it evaluates costs money, and is not to begin by itself.
        enabled: 0,
        judged_since: Date.now() * 1000,
      }));
      if (stored === true) set.run(record);
      return stored;
    },
    evaluations(projectId, { evaluation_duration_ms, subject_arrived_at, trace_ids, ...record }) {
      const subject = subjectOf.get(record['judge_id'], projectId);
      if (subject === undefined) return missing('judge_id', 'judge');
      if (subject === 'span' && record['subject_id'] != null) return OF_SPANS;
      const known = evaluated.get(record['id']);
      if (known === record['judge_id']) return false;
      if (known !== undefined) return { field: 'id', detail: 'is already used by another evaluation', taken: true };
      const { id: runId } = evaluate({
        ...(record as unknown as Evaluation),
        ...{ duration_ms: evaluation_duration_ms as number | null, project_id: projectId },
        subject_upto: (subject_arrived_at ?? null) as Micros | null,
      });
      if (trace_ids != null) noteTraces({ projectId, runId, traceIds: trace_ids as string[] });
      return true;
    },
  } satisfies Partial<Record<MetadataPart, Take>>;
}
