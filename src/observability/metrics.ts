import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { engineGauges } from './engine-metrics.js';

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const MODEL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120];
const COMMIT_ROWS = [1, 5, 10, 50, 100, 500, 1000, 2500, 5000, 10_000];
const COMMIT_BYTES = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536].map((kib) => kib * 1024);

/** Gauges of prom-client with the ending of counters; each has its figures by type in another metric. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Every metric of the server, on a registry of its own, so that two servers in one process do not share figures.
 * Labels take few values: routes are templates (`/traces/{id}`), never paths.
 */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const registers = [registry];
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[] = []) =>
    new Histogram({ name, help, buckets, labelNames: [...labelNames], registers });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers });

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
    httpRequestDuration: histogram(
      'http_request_duration_seconds',
      'Time from HTTP request to answer, by method, route and status.',
      REQUEST_SECONDS,
      ['method', 'route', 'status'],
    ),
    rpcDuration: histogram(
      'rpc_duration_seconds',
      'Time from gRPC call to answer, by method and status code.',
      REQUEST_SECONDS,
      ['method', 'code'],
    ),
    defects: counter(
      'spanhouse_defects_total',
      'Requests and calls that met an internal error: each is a defect, in the log in full.',
    ),
    spansAccepted: counter(
      'spanhouse_spans_accepted_total',
      'Spans stored and acknowledged, by the interface they came by.',
      ['source'],
    ),
    spansRejected: counter(
      'spanhouse_spans_rejected_total',
      'Spans refused, by the interface they came by and the reason; disk_low and disk_full: there is too little room.',
      ['source', 'reason'],
    ),
    spanCost: counter(
      'spanhouse_spans_cost_dollars_total',
      'Costs of spans stored in US dollars, sent or calculated, by interface; a span that is sent again counts again.',
      ['source'],
    ),
    commitRows: histogram('spanhouse_commit_rows', 'Spans in one group commit.', COMMIT_ROWS),
    commitBytes: histogram('spanhouse_commit_bytes', 'Bytes in one group commit.', COMMIT_BYTES),
    commitDuration: histogram(
      'spanhouse_commit_duration_seconds',
      'Time of one group commit: to the write-ahead log, or to ClickHouse where there is none.',
      REQUEST_SECONDS,
    ),
    commitQueueBytes: gauge('spanhouse_commit_queue_bytes', 'Bytes of spans waiting to be committed.'),
    commitQueueMaxBytes: gauge(
      'spanhouse_commit_queue_max_bytes',
      'Bytes of spans that may wait to be committed (QUEUE_MAX_MB); beyond them, writes are refused.',
    ),
    commitQueueRows: gauge('spanhouse_commit_queue_rows', 'Spans waiting to be committed.'),
    flushRows: histogram('spanhouse_flush_rows', 'Acknowledged spans in one insert into ClickHouse.', COMMIT_ROWS),
    flushDuration: histogram(
      'spanhouse_flush_duration_seconds',
      'Time of one insert of acknowledged spans into ClickHouse.',
      REQUEST_SECONDS,
    ),
    flushFailures: counter('spanhouse_flush_failures_total', 'Inserts into ClickHouse that failed and are repeated.'),
    logRows: gauge('spanhouse_write_log_rows', 'Acknowledged spans that ClickHouse does not hold yet.'),
    logBytes: gauge('spanhouse_write_log_bytes', 'Bytes of acknowledged spans that ClickHouse does not hold yet.'),
    logMaxBytes: gauge(
      'spanhouse_write_log_max_bytes',
      'Bytes of acknowledged spans that ClickHouse need not hold (WRITE_LOG_MAX_MB); beyond them, writes are refused.',
    ),
    watchBackupLastSuccess: watched(
      'spanhouse_backup_last_success_timestamp_seconds',
      'When the last backup was made, in Unix seconds; 0: none is known. Age: time() minus it.',
    ),
    backupLastFailure: gauge(
      'spanhouse_backup_last_failure_timestamp_seconds',
      'When a backup last failed, in Unix seconds; 0: none has since the start.',
    ),
    backupLastPruneFailure: gauge(
      'spanhouse_backup_last_prune_failure_timestamp_seconds',
      'When older backups last could not be removed after one was made, in Unix seconds; 0: not since the start.',
    ),
    backupInterval: gauge(
      'spanhouse_backup_interval_seconds',
      'How often backups are to be made; 0: not by the server.',
    ),
    backupDuration: gauge('spanhouse_backup_duration_seconds', 'How long the last backup took.'),
    backupBytes: gauge('spanhouse_backup_bytes', 'Bytes in the last backup, those that earlier ones hold included.'),
    backupCommitsHeld: histogram(
      'spanhouse_backup_commits_held_seconds',
      'How long commits waited for the moment of a backup.',
      REQUEST_SECONDS,
    ),
    deletions: counter('spanhouse_deletions_total', 'Completed deletions, by what was deleted: spans or a project.', [
      'what',
    ]),
    diskFreeBytes: gauge('spanhouse_disk_free_bytes', 'Bytes that are free, by disk: data, clickhouse, attachments.', [
      'disk',
    ]),
    diskTotalBytes: gauge('spanhouse_disk_total_bytes', 'Size of each disk.', ['disk']),
    diskMinFreeBytes: gauge(
      'spanhouse_disk_min_free_bytes',
      'Bytes that are to stay free on each disk: with fewer, spans are refused.',
      ['disk'],
    ),
    engineRestarts: counter(
      'spanhouse_engine_restarts_total',
      'Restarts of the embedded ClickHouse after a failure, also those that failed.',
    ),
    engineMemoryMaxBytes: gauge(
      'spanhouse_engine_memory_max_bytes',
      'Memory that the embedded ClickHouse may use (ENGINE_MEMORY_MB).',
    ),
    watchEngine: engineGauges(registry),
    leaseHeld: gauge(
      'spanhouse_lease_held',
      '1 while this server holds the lease to write to an external ClickHouse, else 0.',
    ),
    leaseRenewalsFailed: counter(
      'spanhouse_lease_renewals_failed_total',
      'Failed renewals of the lease to write to an external ClickHouse; each is retried.',
    ),
    queryDuration: histogram(
      'spanhouse_query_duration_seconds',
      'Time of a query for a list, by list: spans, traces, sessions.',
      REQUEST_SECONDS,
      ['list'],
    ),
    rollupPendingTraces: gauge(
      'spanhouse_rollup_pending_traces',
      'Traces that changed and wait for their rollup (counts, costs, durations, tags).',
    ),
    rollupSetAsideTraces: gauge(
      'spanhouse_rollup_set_aside_traces',
      'Traces too large for one rollup in the memory given: stored without tags of their spans, or left out of date.',
    ),
    rollupSetAsideSessions: gauge(
      'spanhouse_rollup_set_aside_sessions',
      'Sessions too large for one rollup in the memory given: stored without tags of their spans, or left out of date.',
    ),
    rollupSetAside: counter(
      'spanhouse_rollup_set_aside_total',
      'How often a trace or session turned out to be too large for one rollup, with its tags or even without, by kind.',
      ['kind'],
    ),
    promptFetches: counter(
      'spanhouse_prompt_fetches_total',
      'Fetches of prompts, by result: cached, read, not_found.',
      ['result'],
    ),
    feedbackAccepted: counter(
      'spanhouse_feedback_accepted_total',
      'Feedback stored, by source (api, link) and thumb (up, down).',
      ['source', 'thumb'],
    ),
    reviewRequests: counter(
      'spanhouse_feedback_page_requests_total',
      'Requests to pages of feedback links, by result: shown, saved, invalid, not_found, forbidden, limited, failed.',
      ['result'],
    ),
    signIns: counter(
      'spanhouse_sign_ins_total',
      'Attempts to sign in, by result: signed_in, unauthenticated, forbidden, overloaded.',
      ['result'],
    ),
    judgeExamples: counter(
      'spanhouse_judge_examples_total',
      'Corrections by people that judges were shown as examples.',
    ),
    exampleSelectionDuration: histogram(
      'spanhouse_judge_example_selection_seconds',
      'Time to choose the corrections by people that a judge is shown as examples.',
      REQUEST_SECONDS,
    ),
    jobsFinished: counter('spanhouse_jobs_finished_total', 'Background jobs that ended, by kind and result.', [
      'kind',
      'result',
    ]),
    repricedSpans: counter(
      'spanhouse_repriced_spans_total',
      'Stored spans whose cost was changed by a recalculation with new prices.',
    ),
    backfilledSpans: counter(
      'spanhouse_backfilled_spans_total',
      'Stored spans from before an upgrade whose columns of model, tokens and prompt were filled in.',
    ),
    evaluations: counter('spanhouse_evaluations_total', 'Evaluations by judges stored, by result and origin.', [
      'result',
      'origin',
    ]),
    watchJudgeQueue: watched('spanhouse_judge_queue_runs', 'Evaluations by judges that are queued.'),
    watchJudgeQueueAge: watched(
      'spanhouse_judge_queue_oldest_seconds',
      'How long the oldest evaluation in the queue of judges has been waiting.',
    ),
    judgeRetries: counter(
      'spanhouse_judge_retries_total',
      'Failed attempts at evaluations by judges that are retried.',
    ),
    judgeRunsFailed: counter(
      'spanhouse_judge_runs_failed_total',
      'Evaluations by judges given up after failed attempts.',
    ),
    modelCallDuration: histogram(
      'spanhouse_model_call_duration_seconds',
      'Time of a call to the model endpoint, by status: ok, an HTTP status, timeout, connection, answer, aborted.',
      MODEL_SECONDS,
      ['status'],
    ),
    watchModelBreakers: watched(
      'spanhouse_model_breakers_open',
      'Models, counted for each project, whose calls by judges are held back, as ten or more in a row failed.',
    ),
    modelTokens: counter('spanhouse_model_tokens_total', 'Tokens of calls to the model endpoint, by direction.', [
      'direction',
    ]),
    modelCost: counter(
      'spanhouse_model_cost_dollars_total',
      "Cost of calls to the model endpoint in US dollars, where the model's price is known.",
    ),
    ownSpans: counter(
      'spanhouse_own_spans_total',
      'Spans by which this server traces itself, by what became of them: sent, failed, dropped.',
      ['result'],
    ),
    purgedVersions: counter(
      'spanhouse_purged_versions_total',
      'Stored versions of spans removed from disk after they were replaced or deleted.',
    ),
    retentionTraces: counter(
      'spanhouse_retention_traces_total',
      'Traces removed because they were older than their project keeps them.',
    ),
    retentionSpans: counter(
      'spanhouse_retention_spans_total',
      'Spans removed with traces that were older than their project keeps them.',
    ),
    retentionBehind: gauge(
      'spanhouse_retention_behind_seconds',
      'How much older than its project allows the oldest trace is that retention is removing, or for how long removing has failed; 0: nothing was due at the last look.',
    ),
    clockAhead: gauge(
      'spanhouse_clock_ahead_seconds',
      'How far the clock is ahead of the time that the server can account for, while retention removes nothing for that; below 0: behind a time that it showed before; 0: right.',
    ),
    erasedAt: gauge(
      'spanhouse_erased_timestamp_seconds',
      'When everything deleted or replaced before was last erased from the files, in seconds since 1970; 0: not since the start.',
    ),
    wordsIndexedSpans: counter(
      'spanhouse_words_indexed_spans_total',
      'Stored versions of spans whose words were added to the search index.',
    ),
    attachmentsStored: counter(
      'spanhouse_attachments_stored_total',
      'Images stored; an image that is stored already is not counted again.',
    ),
    attachmentBytesStored: counter('spanhouse_attachment_bytes_stored_total', 'Bytes of images stored.'),
    attachmentsServed: counter('spanhouse_attachments_served_total', 'Images sent to clients.'),
    attachmentBytesServed: counter('spanhouse_attachment_bytes_served_total', 'Bytes of images sent to clients.'),
    attachmentsRemoved: counter(
      'spanhouse_attachments_removed_total',
      'Images removed because no span refers to them any more.',
    ),
    rollupDuration: histogram(
      'spanhouse_rollup_duration_seconds',
      'Time of one rollup round, which recomputes changed traces and their sessions.',
      REQUEST_SECONDS,
    ),
  };
}
