import { Type } from '@sinclair/typebox';
import { oneOf, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { TagName } from '../../../engine/schema/tag.js';
import { VERDICTS } from '../../comparisons/comparison.js';
import { MAX_ROWS } from '../../datasets/dataset.js';
import { DatasetName, VersionRead } from '../../datasets/schema.js';
import { METRIC_FIELDS, SCORER_FIELDS } from '../../experiments/eval-schema.js';
import { MAX_REPETITIONS, METRIC_SCOPES, PHASES, STORED_STATUSES } from '../../experiments/experiment.js';
import { ExperimentDescription, ExperimentName, Repetitions } from '../../experiments/schema.js';
import { versionNumber } from './datasets.js';
import { JUDGE_VERSION } from './judges.js';
import { json, person, record } from './record.js';

const { row_count } = VersionRead.properties;
export const experiments = record('Experiment', 'An experiment. Its results are spans.', {
  id: uuid('Id of the experiment.'),
  name: ExperimentName,
  description: ExperimentDescription,
  dataset_id: uuid('The dataset; it may be gone.'),
  dataset_name: DatasetName,
  dataset_version: versionNumber,
  row_count: { ...row_count, maximum: MAX_ROWS },
  repetitions: Repetitions,
  status: oneOf(STORED_STATUSES, 'Whether it takes results.'),
  phase: orNull(oneOf(PHASES, 'What a client says beside that.')),
  active_at: time('When it was created, or got its last result.'),
  subject: json('What runs.'),
  parameters: json('What was set.'),
  created_at: time('When it was created.'),
  created_by: person('Who created it.'),
  finished_at: orNull(time('When it was finished or canceled.')),
});

const { name: scorerName, code, description: scorerDescription, outputs, output_formats } = SCORER_FIELDS;
export const experiment_scorers = record(
  'ExperimentScorer',
  'A program of a client that scores results of an experiment.',
  {
    id: uuid('Id of the scorer.'),
    experiment_id: uuid('The experiment.'),
    ...{
      name: scorerName,
      mode: SCORER_FIELDS.scoring_mode,
      code,
      description: scorerDescription,
      outputs,
      output_formats,
    },
    created_at: time('When it was created.'),
  },
);

export const experiment_metrics = record('ExperimentMetric', 'Figures of an experiment, as a client computed them.', {
  experiment_id: uuid('The experiment.'),
  scope: oneOf(METRIC_SCOPES, 'Whether they are of one repetition, or of all.'),
  name: METRIC_FIELDS.metric_name,
  repetition: Type.Integer({ minimum: 0, maximum: MAX_REPETITIONS, description: 'The repetition; 0: all.' }),
  results: json('The figures.'),
  output_formats,
  created_at: time('When they were received.'),
});

export const experiment_tag_moves = record(
  'ExperimentTagMove',
  'A move of a tag of the experiments of a dataset; the last one says where it points.',
  {
    dataset_id: uuid('The dataset.'),
    tag: TagName,
    experiment_id: orNull(uuid('The experiment that it points to from then on; null: it was removed.')),
    moved_at: time('When it was moved.'),
    moved_by: person('Who moved it.'),
  },
);

export const comparisons = record('Comparison', 'A comparison of two experiments.', {
  id: uuid('Id of the comparison.'),
  dataset_id: uuid('The dataset; it may be gone.'),
  dataset_name: DatasetName,
  candidate_id: uuid('The candidate.'),
  candidate_name: ExperimentName,
  candidate_version: versionNumber,
  baseline_id: uuid('The baseline.'),
  baseline_name: ExperimentName,
  baseline_version: versionNumber,
  verdict: oneOf(VERDICTS, 'What was found.'),
  request: json('What was asked: metrics with their rules, confidence, slices and how errors count.'),
  is_repeat: Type.Optional(Type.Boolean({ description: 'Whether both experiments tried the same.' })),
  found: json('What was found: why, the number of rows, those left out, and the metrics.'),
  created_at: time('When it was made.'),
  created_by: person('Who made it.'),
});

export const experiment_judges = record(
  'ExperimentJudge',
  'A version of a judge that evaluates all results of an experiment. Of several, the last one was asked for last.',
  {
    experiment_id: uuid('The experiment.'),
    judge_id: uuid('The judge.'),
    judge_version: JUDGE_VERSION,
    asked_at: time('When it was asked for.'),
  },
);
