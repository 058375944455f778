import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { engineGauges } from './engine-metrics.js';

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const MODEL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120];
const COMMIT_ROWS = [1, 5, 10, 50, 100, 500, 1000, 2500, 5000, 10_000];
const COMMIT_BYTES = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536].map((kib) => kib * 1024);

/** Gauges of prom-client with the ending of counters; each has its figures by type in another metric. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

let ofProcess: Registry | undefined;

/**
 * Metrics of the process, made once: nothing ends the timers and the observers of garbage collection that they have, which would keep
 * a server that is stopped, and all it holds, for as long as the process runs.
 */
function processMetrics(): Registry {
  if (ofProcess !== undefined) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  for (const name of MISNAMED) ofProcess.removeSingleMetric(name);
  return ofProcess;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Every metric of the server, on a registry of its own, so that two servers in one process share no figures but those of the
 * process.
 * Labels take few values: routes are templates (`/traces/{id}`), never paths.
 */
export function createMetrics() {
  const registry = Registry.merge([processMetrics()]);
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
      'Duration from HTTP request to response, by method, route and status.',
      REQUEST_SECONDS,
      ['method', 'route', 'status'],
    ),
    rpcDuration: histogram(
      'rpc_duration_seconds',
      'Duration from gRPC call to response, by method and status code.',
      REQUEST_SECONDS,
      ['method', 'code'],
    ),
    defects: counter(
      'spanhouse_defects_total',
      'Requests and calls that met an internal error. Each is a defect; the log has it in full.',
    ),
    spansAccepted: counter('spanhouse_spans_accepted_total', 'Spans stored and acknowledged, by source interface.', [
      'source',
    ]),
    spansRejected: counter(
      'spanhouse_spans_rejected_total',
      'Spans refused, by source interface and reason; disk_low and disk_full: insufficient disk space.',
      ['source', 'reason'],
    ),
    spanCost: counter(
      'spanhouse_spans_cost_dollars_total',
      'Costs of stored spans in US dollars, sent or calculated, by source interface. A span that is sent again ' +
        'counts again.',
      ['source'],
    ),
    projectSpans: counter(
      'spanhouse_project_spans_total',
      'Spans stored and acknowledged, by project and model; none: without a model. Only with METRICS_PROJECT_SERIES, which bounds ' +
        'the series: the rest are counted under other.',
      ['project', 'model'],
    ),
    projectErrors: counter(
      'spanhouse_project_span_errors_total',
      'Of these, spans with an error, by project and model.',
      ['project', 'model'],
    ),
    projectCost: counter(
      'spanhouse_project_spans_cost_dollars_total',
      'Costs of these spans in US dollars, sent or calculated, by project and model.',
      ['project', 'model'],
    ),
    projectTokens: counter(
      'spanhouse_project_tokens_total',
      'Tokens of these spans, by project, model and direction.',
      ['project', 'model', 'direction'],
    ),
    commitRows: histogram('spanhouse_commit_rows', 'Spans per group commit.', COMMIT_ROWS),
    commitBytes: histogram('spanhouse_commit_bytes', 'Bytes per group commit.', COMMIT_BYTES),
    commitDuration: histogram(
      'spanhouse_commit_duration_seconds',
      'Duration of a group commit: to the write-ahead log, or to ClickHouse if there is none.',
      REQUEST_SECONDS,
    ),
    commitQueueBytes: gauge('spanhouse_commit_queue_bytes', 'Bytes of spans waiting to be committed.'),
    commitQueueMaxBytes: gauge(
      'spanhouse_commit_queue_max_bytes',
      'Maximum bytes of spans waiting to be committed (QUEUE_MAX_MB); beyond it, writes are refused.',
    ),
    commitQueueRows: gauge('spanhouse_commit_queue_rows', 'Spans waiting to be committed.'),
    flushRows: histogram('spanhouse_flush_rows', 'Acknowledged spans per insert into ClickHouse.', COMMIT_ROWS),
    flushDuration: histogram(
      'spanhouse_flush_duration_seconds',
      'Duration of an insert of acknowledged spans into ClickHouse.',
      REQUEST_SECONDS,
    ),
    flushFailures: counter('spanhouse_flush_failures_total', 'Failed inserts into ClickHouse; each is retried.'),
    logRows: gauge('spanhouse_write_log_rows', 'Acknowledged spans that are not in ClickHouse yet.'),
    logBytes: gauge('spanhouse_write_log_bytes', 'Bytes of acknowledged spans that are not in ClickHouse yet.'),
    logMaxBytes: gauge(
      'spanhouse_write_log_max_bytes',
      'Maximum bytes of acknowledged spans that are not in ClickHouse yet (WRITE_LOG_MAX_MB); beyond it, writes are ' +
        'refused.',
    ),
    monitorLooks: counter('spanhouse_monitor_checks_total', 'Monitors that were checked.'),
    monitorDuration: histogram(
      'spanhouse_monitor_check_duration_seconds',
      'Duration of a check of monitors that are measured together.',
      REQUEST_SECONDS,
    ),
    monitorsFired: counter('spanhouse_monitors_fired_total', 'How often monitors fired.'),
    monitorFailures: counter('spanhouse_monitor_failures_total', 'Looks at monitors that failed; each is retried.'),
    webhookDeliveries: counter(
      'spanhouse_webhook_deliveries_total',
      'Attempts to deliver webhooks, and deliveries that were given up, by result.',
      ['result'],
    ),
    webhookDuration: histogram(
      'spanhouse_webhook_duration_seconds',
      'Duration of an attempt to deliver a webhook.',
      REQUEST_SECONDS,
    ),
    watchBackupLastSuccess: watched(
      'spanhouse_backup_last_success_timestamp_seconds',
      'Time of the last backup, in Unix seconds; 0: none is known. Age: time() minus it.',
    ),
    backupLastFailure: gauge(
      'spanhouse_backup_last_failure_timestamp_seconds',
      'Time of the last failed backup, in Unix seconds; 0: none since startup.',
    ),
    backupLastPruneFailure: gauge(
      'spanhouse_backup_last_prune_failure_timestamp_seconds',
      'Time at which older backups last could not be removed after a backup, in Unix seconds; 0: never since ' +
        'startup.',
    ),
    backupInterval: gauge(
      'spanhouse_backup_interval_seconds',
      'Interval of scheduled backups; 0: the server makes none.',
    ),
    backupDuration: gauge('spanhouse_backup_duration_seconds', 'Duration of the last backup.'),
    backupBytes: gauge('spanhouse_backup_bytes', 'Bytes in the last backup, including those shared with earlier ones.'),
    backupCommitsHeld: histogram(
      'spanhouse_backup_commits_held_seconds',
      'Time that commits waited for the snapshot of a backup.',
      REQUEST_SECONDS,
    ),
    deletions: counter('spanhouse_deletions_total', 'Completed deletions, by what was deleted: spans or a project.', [
      'what',
    ]),
    diskFreeBytes: gauge('spanhouse_disk_free_bytes', 'Free bytes by disk: data, clickhouse, attachments.', ['disk']),
    diskTotalBytes: gauge('spanhouse_disk_total_bytes', 'Size of each disk.', ['disk']),
    diskMinFreeBytes: gauge(
      'spanhouse_disk_min_free_bytes',
      'Bytes to keep free on each disk; with less, spans are refused.',
      ['disk'],
    ),
    engineRestarts: counter(
      'spanhouse_engine_restarts_total',
      'Restarts of the embedded ClickHouse after a failure, including failed ones.',
    ),
    engineMemoryMaxBytes: gauge(
      'spanhouse_engine_memory_max_bytes',
      'Memory limit of the embedded ClickHouse (ENGINE_MEMORY_MB).',
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
      'Duration of a list query, by list: spans, traces, sessions.',
      REQUEST_SECONDS,
      ['list'],
    ),
    rollupPendingTraces: gauge(
      'spanhouse_rollup_pending_traces',
      'Changed traces that wait for their rollup (counts, costs, durations, tags).',
    ),
    rollupSetAsideTraces: gauge(
      'spanhouse_rollup_set_aside_traces',
      'Traces too large for one rollup with the available memory: stored without tags of their spans, or with ' +
        'outdated figures.',
    ),
    rollupSetAsideSessions: gauge(
      'spanhouse_rollup_set_aside_sessions',
      'Sessions too large for one rollup with the available memory: stored without tags of their spans, or with ' +
        'outdated figures.',
    ),
    rollupSetAside: counter(
      'spanhouse_rollup_set_aside_total',
      'How often a trace or session was too large for one rollup, with its tags or even without, by kind.',
      ['kind'],
    ),
    promptFetches: counter('spanhouse_prompt_fetches_total', 'Prompt fetches, by result: cached, read, not_found.', [
      'result',
    ]),
    feedbackAccepted: counter(
      'spanhouse_feedback_accepted_total',
      'Feedback stored, by source (api, link) and thumb (up, down).',
      ['source', 'thumb'],
    ),
    reviewRequests: counter(
      'spanhouse_feedback_page_requests_total',
      'Requests to feedback link pages, by result: shown, saved, invalid, not_found, forbidden, limited, failed.',
      ['result'],
    ),
    signIns: counter(
      'spanhouse_sign_ins_total',
      'Sign-in attempts, by result: signed_in, unauthenticated, forbidden, overloaded.',
      ['result'],
    ),
    judgeExamples: counter('spanhouse_judge_examples_total', 'Corrections that judges were shown as examples.'),
    exampleSelectionDuration: histogram(
      'spanhouse_judge_example_selection_seconds',
      'Time to choose the corrections that a judge is shown as examples.',
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
      'Stored spans from before an upgrade whose columns for model, tokens and prompt were filled in.',
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
    modelCallDuration: histogram(
      'spanhouse_model_call_duration_seconds',
      'Duration of a call to the model endpoint, by status: ok, an HTTP status, timeout, connection, answer, ' +
        'aborted.',
      MODEL_SECONDS,
      ['status'],
    ),
    watchModelBreakers: watched(
      'spanhouse_model_breakers_open',
      'Models, counted per project, whose judge calls are paused after ten or more consecutive failures.',
    ),
    modelTokens: counter('spanhouse_model_tokens_total', 'Tokens of calls to the model endpoint, by direction.', [
      'direction',
    ]),
    modelCost: counter(
      'spanhouse_model_cost_dollars_total',
      "Cost of calls to the model endpoint in US dollars, if the model's price is known.",
    ),
    ownSpans: counter(
      'spanhouse_own_spans_total',
      "Spans of the server's own traces, by outcome: sent, failed, dropped.",
      ['result'],
    ),
    purgedVersions: counter(
      'spanhouse_purged_versions_total',
      'Stored versions of spans removed from disk after they were replaced or deleted.',
    ),
    retentionTraces: counter(
      'spanhouse_retention_traces_total',
      "Traces removed because they exceeded their project's retention.",
    ),
    retentionSpans: counter(
      'spanhouse_retention_spans_total',
      "Spans removed with traces that exceeded their project's retention.",
    ),
    retentionBehind: gauge(
      'spanhouse_retention_behind_seconds',
      "How far the oldest trace that retention is removing exceeds its project's retention, or how long removing " +
        'has failed; 0: nothing was due at the last check.',
    ),
    clockAhead: gauge(
      'spanhouse_clock_ahead_seconds',
      'How far the clock is ahead of the time that the server can account for, while retention is paused for that ' +
        'reason; below 0: behind a time that it showed before; 0: right.',
    ),
    erasedAt: gauge(
      'spanhouse_erased_timestamp_seconds',
      'Time of the last complete erasure of deleted and replaced data from the files, in seconds since 1970; 0: ' +
        'none since startup.',
    ),
    wordsIndexedSpans: counter(
      'spanhouse_words_indexed_spans_total',
      'Stored versions of spans whose words were added to the search index.',
    ),
    attachmentsStored: counter(
      'spanhouse_attachments_stored_total',
      'Images stored; images that are already stored do not count.',
    ),
    attachmentBytesStored: counter('spanhouse_attachment_bytes_stored_total', 'Bytes of images stored.'),
    attachmentsServed: counter('spanhouse_attachments_served_total', 'Images sent to clients.'),
    attachmentBytesServed: counter('spanhouse_attachment_bytes_served_total', 'Bytes of images sent to clients.'),
    attachmentsRemoved: counter(
      'spanhouse_attachments_removed_total',
      'Images removed because no span refers to them anymore.',
    ),
    rollupDuration: histogram(
      'spanhouse_rollup_duration_seconds',
      'Duration of a rollup round, which recomputes changed traces and their sessions.',
      REQUEST_SECONDS,
    ),
  };
}
