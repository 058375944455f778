import type { FlawName } from '../../../engine/traces/model/check/flaws.js';
import { ROW_OVERHEAD_BYTES } from '../../datasets/dataset.js';

/** What must agree among datasets, experiments and what judges said of these. */
export interface DatasetCheck {
  readonly flaw: FlawName;
  readonly what: string;
  /** SQL for what is wrong: its `project`, an `id` that tells it, and its `state`, which changes where it is being written. */
  readonly rows: string;
}

/** SQL: nothing is wrong with what is on its way out. */
const STAYS = (alias: string) =>
  `${alias}.deleted_at IS NULL AND ${alias}.project_id NOT IN (SELECT project_id FROM deletions WHERE what = 'project')`;
const OF_DATASET = `JOIN datasets AS d ON ${STAYS('d')}`;
/** SQL for how many rows more a version has than the one before, by the rows themselves. */
const CHANGES = `SELECT dataset, number, sum(change) AS change FROM (
    SELECT dataset, from_version AS number, 1 AS change FROM dataset_rows
    UNION ALL SELECT dataset, to_version, -1 FROM dataset_rows WHERE to_version IS NOT NULL
  ) GROUP BY dataset, number`;
const HELD = `SELECT d.project_id AS project, v.id, v.number, v.row_count, v.added, v.removed,
    sum(coalesce(n.change, 0)) OVER w AS held, lag(v.row_count, 1, 0) OVER w AS before
  FROM dataset_versions AS v ${OF_DATASET} AND d.id = v.dataset_id
  LEFT JOIN (${CHANGES}) AS n ON n.dataset = d.seq AND n.number = v.number
  WINDOW w AS (PARTITION BY v.dataset_id ORDER BY v.number)`;
const BYTES = `SELECT d.project_id AS project, d.id, d.bytes AS said,
    (SELECT coalesce(sum(octet_length(content)), 0) FROM dataset_contents WHERE dataset = d.seq)
      + ${ROW_OVERHEAD_BYTES} * (SELECT count(*) FROM dataset_rows WHERE dataset = d.seq) AS held
  FROM datasets AS d WHERE ${STAYS('d')}`;
const shownBy = (expression: string) => `(SELECT ${expression} FROM judge_pin_corrections AS c WHERE c.pin = p.seq)`;
const hasNone = (column: string) =>
  `NOT EXISTS (SELECT 1 FROM experiments AS e WHERE e.id = c.${column} AND e.project_id = c.project_id)`;

const DATASETS: readonly DatasetCheck[] = [
  {
    flaw: 'sqlite_reference',
    what: 'a row of a dataset whose content is missing',
    rows: `SELECT d.project_id AS project, d.id || ' ' || r.row_id AS id, r.content AS state
      FROM dataset_rows AS r ${OF_DATASET} AND d.seq = r.dataset
      WHERE r.content IS NOT NULL AND NOT EXISTS (SELECT 1 FROM dataset_contents AS c WHERE c.seq = r.content AND c.dataset = d.seq)`,
  },
  {
    flaw: 'sqlite_reference',
    what: 'content of a dataset that no row has',
    rows: `SELECT d.project_id AS project, d.id || ' ' || c.seq AS id, c.seq AS state FROM dataset_contents AS c ${OF_DATASET} AND d.seq = c.dataset
      WHERE NOT EXISTS (SELECT 1 FROM dataset_rows AS r WHERE r.content = c.seq)`,
  },
  {
    flaw: 'sqlite_reference',
    what: 'a tag of a dataset that points to a missing version',
    rows: `SELECT d.project_id AS project, d.id || ' ' || m.tag AS id, m.number AS state FROM dataset_tag_moves AS m ${OF_DATASET} AND d.id = m.dataset_id
      WHERE m.number <> 0 AND NOT EXISTS (SELECT 1 FROM dataset_versions AS v WHERE v.dataset_id = d.id AND v.number = m.number)`,
  },
  {
    flaw: 'dataset_counts',
    what: 'versions that are not numbered from 1 to the newest',
    rows: `SELECT project, id, last_version || ' ' || versions || ' ' || newest AS state FROM (
        SELECT d.project_id AS project, d.id, d.last_version,
          (SELECT count(*) FROM dataset_versions WHERE dataset_id = d.id) AS versions,
          (SELECT coalesce(max(number), 0) FROM dataset_versions WHERE dataset_id = d.id) AS newest
        FROM datasets AS d WHERE ${STAYS('d')}
      ) WHERE last_version <> versions OR last_version <> newest`,
  },
  {
    flaw: 'dataset_counts',
    what: 'a version that counts other rows than it has',
    rows: `SELECT project, id, held || ' of ' || row_count AS state FROM (${HELD}) WHERE held <> row_count`,
  },
  {
    flaw: 'dataset_counts',
    what: 'a version that counts other changes than it made',
    rows: `SELECT project, id, added || ' ' || removed AS state FROM (${HELD}) WHERE row_count <> before + added - removed`,
  },
  {
    flaw: 'dataset_counts',
    what: 'a dataset that counts other bytes than it has',
    rows: `SELECT project, id, said || ' of ' || held AS state FROM (${BYTES}) WHERE said <> held`,
  },
];

const EXPERIMENTS: readonly DatasetCheck[] = [
  {
    flaw: 'dataset_counts',
    what: 'an experiment on a missing version of its dataset',
    rows: `SELECT e.project_id AS project, e.id, e.dataset_version AS state
      FROM experiments AS e ${OF_DATASET} AND d.id = e.dataset_id AND d.project_id = e.project_id
      WHERE ${STAYS('e')} AND NOT EXISTS (SELECT 1 FROM dataset_versions AS v WHERE v.dataset_id = d.id AND v.number = e.dataset_version)`,
  },
  {
    flaw: 'dataset_counts',
    what: 'an experiment that counts other rows than its version',
    rows: `SELECT e.project_id AS project, e.id, e.row_count AS state
      FROM experiments AS e JOIN dataset_versions AS v ON v.dataset_id = e.dataset_id AND v.number = e.dataset_version
      JOIN datasets AS d ON d.id = v.dataset_id AND d.project_id = e.project_id AND ${STAYS('d')}
      WHERE ${STAYS('e')} AND v.row_count <> e.row_count`,
  },
  {
    flaw: 'sqlite_reference',
    what: 'a run of a missing experiment',
    rows: `SELECT j.project_id AS project, j.id, j.subject_id AS state FROM jobs AS j
      WHERE j.kind = 'experiment_run' AND j.finished_at IS NULL AND NOT EXISTS (SELECT 1 FROM experiments AS e WHERE e.id = j.subject_id)
        AND j.project_id NOT IN (SELECT project_id FROM deletions WHERE what = 'project')`,
  },
  {
    flaw: 'sqlite_reference',
    what: 'a comparison of a missing experiment',
    rows: `SELECT c.project_id AS project, c.id, c.candidate_id || ' ' || c.baseline_id AS state FROM comparisons AS c
      WHERE (${hasNone('candidate_id')} OR ${hasNone('baseline_id')})
        AND c.project_id NOT IN (SELECT project_id FROM deletions WHERE what = 'project')`,
  },
];

const PINS: readonly DatasetCheck[] = [
  {
    flaw: 'sqlite_reference',
    what: 'a kept version of a judge that lacks examples',
    rows: `SELECT p.project_id AS project, p.judge_id || ' ' || p.judge_version AS id, ${shownBy('count(*)')} AS state FROM judge_pins AS p
      WHERE p.lost_at IS NULL AND ${shownBy('count(*)')} <> ${shownBy('coalesce(max(c.position) + 1, 0)')}`,
  },
  {
    flaw: 'sqlite_reference',
    what: 'a kept version of a judge with an example of another judge',
    rows: `SELECT p.project_id AS project, p.judge_id || ' ' || p.judge_version AS id, e.id AS state FROM judge_pins AS p
      JOIN judge_pin_corrections AS c ON c.pin = p.seq JOIN judge_pin_examples AS e ON e.seq = c.example WHERE e.judge_id <> p.judge_id`,
  },
  {
    flaw: 'sqlite_reference',
    what: 'a kept version of a judge of another project',
    rows: `SELECT p.project_id AS project, p.judge_id || ' ' || p.judge_version AS id, j.project_id AS state FROM judge_pins AS p
      JOIN judges AS j ON j.id = p.judge_id WHERE j.project_id <> p.project_id
      UNION ALL SELECT p.project_id, p.judge_id || ' ' || p.judge_version, e.id FROM experiment_judges AS x
      JOIN experiments AS e ON e.seq = x.experiment JOIN judge_pins AS p ON p.seq = x.pin WHERE e.project_id <> p.project_id`,
  },
  {
    flaw: 'sqlite_reference',
    what: 'a kept example that another span would be deleted with',
    rows: `SELECT j.project_id AS project, e.id, e.span_id AS state FROM judge_pin_examples AS e JOIN judges AS j ON j.id = e.judge_id
      WHERE json_extract(e.example, '$.correction.span_id') <> e.span_id`,
  },
];

export const DATASET_CHECKS: readonly DatasetCheck[] = [...DATASETS, ...EXPERIMENTS, ...PINS];
