import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const MODEL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120];
const COMMIT_ROWS = [1, 5, 10, 50, 100, 500, 1000, 2500, 5000, 10_000];
const COMMIT_BYTES = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536].map((kib) => kib * 1024);

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Every metric of the server, on a registry of its own, so that two servers in one process do not share figures.
 * Labels take few values: routes are templates (`/traces/{id}`), never paths.
 */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[] = []) =>
    new Histogram({ name, help, buckets, labelNames: [...labelNames], registers });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });

  /** A gauge that is asked for its value when somebody reads the metrics. */
  const watched = (name: string, help: string) => {
    let read: () => number = () => 0;
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
    return (source: () => number) => (read = source);
  };

  return {
    registry,
    httpRequestDuration: histogram('http_request_duration_seconds', 'Time from request to answer.', REQUEST_SECONDS, [
      'method',
      'route',
      'status',
    ]),
    rpcDuration: histogram('rpc_duration_seconds', 'Time from gRPC call to answer.', REQUEST_SECONDS, [
      'method',
      'code',
    ]),
    spansAccepted: counter('spanhouse_spans_accepted_total', 'Spans stored and acknowledged, by source.', ['source']),
    spansRejected: counter('spanhouse_spans_rejected_total', 'Spans refused, by source and reason.', [
      'source',
      'reason',
    ]),
    commitRows: histogram('spanhouse_commit_rows', 'Spans per commit.', COMMIT_ROWS),
    commitBytes: histogram('spanhouse_commit_bytes', 'Bytes per commit.', COMMIT_BYTES),
    commitDuration: histogram('spanhouse_commit_duration_seconds', 'Time a commit took.', REQUEST_SECONDS),
    commitQueueBytes: gauge('spanhouse_commit_queue_bytes', 'Bytes of spans waiting for their commit.'),
    commitQueueRows: gauge('spanhouse_commit_queue_rows', 'Spans waiting for their commit.'),
    deletions: counter('spanhouse_deletions_total', 'Completed deletions, of spans or of a project.', ['what']),
    engineRestarts: counter('spanhouse_engine_restarts_total', 'Restarts of the embedded engine after a failure.'),
    engineUp: gauge('spanhouse_engine_up', '1 while ClickHouse answers, else 0.'),
    leaseHeld: gauge('spanhouse_lease_held', '1 while this server has the lease on a ClickHouse of yours, else 0.'),
    leaseRenewalsFailed: counter(
      'spanhouse_lease_renewals_failed_total',
      'Renewals of the lease on a ClickHouse of yours that failed and were repeated.',
    ),
    queryDuration: histogram('spanhouse_query_duration_seconds', 'Time a list query took, by list.', REQUEST_SECONDS, [
      'list',
    ]),
    rollupPendingTraces: gauge('spanhouse_rollup_pending_traces', 'Traces whose figures wait to be recomputed.'),
    rollupSetAsideTraces: gauge(
      'spanhouse_rollup_set_aside_traces',
      'Traces too large to be recomputed as a whole, which lack their tags or are not current.',
    ),
    rollupSetAsideSessions: gauge(
      'spanhouse_rollup_set_aside_sessions',
      'Sessions too large to be recomputed as a whole, which lack their tags or are not current.',
    ),
    rollupSetAside: counter(
      'spanhouse_rollup_set_aside_total',
      'How often a trace or session turned out to be too large to be recomputed as a whole, or even without its tags.',
      ['kind'],
    ),
    promptFetches: counter('spanhouse_prompt_fetches_total', 'Prompts asked for, by result: cached, read, not_found.', [
      'result',
    ]),
    feedbackAccepted: counter(
      'spanhouse_feedback_accepted_total',
      'Feedback kept, by source (api, link) and thumb (up, down).',
      ['source', 'thumb'],
    ),
    reviewRequests: counter(
      'spanhouse_feedback_page_requests_total',
      'Requests to pages of feedback links, by result: shown, saved, invalid, not_found, forbidden, limited, failed.',
      ['result'],
    ),
    judgeExamples: counter('spanhouse_judge_examples_total', 'Corrections that were shown to judges.'),
    exampleSelectionDuration: histogram(
      'spanhouse_judge_example_selection_seconds',
      'Time it took to choose the corrections that a judge is shown.',
      REQUEST_SECONDS,
    ),
    jobsFinished: counter('spanhouse_jobs_finished_total', 'Jobs that ended, by kind and result.', ['kind', 'result']),
    repricedSpans: counter('spanhouse_repriced_spans_total', 'Stored spans that got another cost by recalculation.'),
    evaluations: counter('spanhouse_evaluations_total', 'Evaluations stored, by result and origin.', [
      'result',
      'origin',
    ]),
    watchJudgeQueue: watched('spanhouse_judge_queue_runs', 'Evaluations waiting to be made.'),
    watchJudgeQueueAge: watched('spanhouse_judge_queue_oldest_seconds', 'How long the next one has been waiting.'),
    judgeRetries: counter('spanhouse_judge_retries_total', 'Attempts of evaluations that failed and are repeated.'),
    judgeRunsFailed: counter('spanhouse_judge_runs_failed_total', 'Evaluations given up.'),
    modelCallDuration: histogram(
      'spanhouse_model_call_duration_seconds',
      'Time a call of the model endpoint took, by status: ok, an HTTP status, timeout, connection, answer, aborted.',
      MODEL_SECONDS,
      ['status'],
    ),
    modelTokens: counter('spanhouse_model_tokens_total', 'Tokens of calls of the model endpoint.', ['direction']),
    modelCost: counter(
      'spanhouse_model_cost_dollars_total',
      "Cost of judges' calls, where the model's price is known.",
    ),
    purgedVersions: counter('spanhouse_purged_versions_total', 'Replaced or deleted span versions removed.'),
    wordsIndexedSpans: counter(
      'spanhouse_words_indexed_spans_total',
      'Span versions whose words are indexed for search.',
    ),
    attachmentsStored: counter(
      'spanhouse_attachments_stored_total',
      'Images stored; one that is there already counts not.',
    ),
    attachmentBytesStored: counter('spanhouse_attachment_bytes_stored_total', 'Bytes of images stored.'),
    attachmentsServed: counter('spanhouse_attachments_served_total', 'Images sent to readers.'),
    attachmentBytesServed: counter('spanhouse_attachment_bytes_served_total', 'Bytes of images sent to readers.'),
    attachmentsRemoved: counter('spanhouse_attachments_removed_total', 'Images removed because no span names them.'),
    rollupDuration: histogram('spanhouse_rollup_duration_seconds', 'Time a recomputation took.', REQUEST_SECONDS),
  };
}
