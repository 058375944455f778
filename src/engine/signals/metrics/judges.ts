import { REQUEST_SECONDS, type MetricMaker } from './maker.js';

/** Judges. */
export function judgeMetrics({ histogram, counter, watched }: MetricMaker) {
  return {
    judgeExamples: counter('spanhouse_judge_examples_total', 'Corrections that judges were shown as examples.'),
    exampleSelectionDuration: histogram(
      'spanhouse_judge_example_selection_seconds',
      'Time to choose the corrections that a judge is shown as examples.',
      REQUEST_SECONDS,
    ),
    evaluations: counter('spanhouse_evaluations_total', 'Stored evaluations by judges, by result and origin.', [
      'result',
      'origin',
    ]),
    watchJudgeQueue: watched('spanhouse_judge_queue_runs', 'Queued evaluations by judges.'),
    watchJudgeQueueAge: watched(
      'spanhouse_judge_queue_oldest_seconds',
      'Waiting time of the oldest queued evaluation.',
    ),
    judgeRetries: counter(
      'spanhouse_judge_retries_total',
      'Failed attempts at evaluations by judges that are retried.',
    ),
    judgeRunsFailed: counter('spanhouse_judge_runs_failed_total', 'Evaluations by judges that failed permanently.'),
  };
}
