/** A question that a panel answers, and how its lines are named. */
export interface Question {
  readonly query: string;
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** As Grafana calls it. */
  readonly unit: string;
  readonly questions: readonly Question[];
  /** One number instead of lines. */
  readonly single?: boolean;
  /** Lines that add up to something. */
  readonly stacked?: boolean;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** The instances that are looked at, chosen above the dashboard. */
const I = 'instance=~"$instance"';
const WRITES = `${I},method="POST",route=~"/spans|/traces|/sessions|/v1/traces"`;
const LISTS = `${I},method="GET",route=~"/spans|/traces|/sessions"`;

const rate = (metric: string, by: string, labels = I) =>
  `sum by (${by}) (rate(${metric}{${labels}}[$__rate_interval]))`;
const perDay = (metric: string, by: string) => `sum by (${by}) (increase(${metric}{${I}}[1d]))`;
const largest = (query: string) => `topk(10, ${query})`;
const gauge = (metric: string) => `max by (instance) (${metric}{${I}})`;
const quantiles = (histogram: string, by = '', labels = I): Question[] =>
  [0.5, 0.95, 0.99].map((quantile) => ({
    query: `histogram_quantile(${quantile}, sum by (${by === '' ? 'le' : `${by}, le`}) (rate(${histogram}_bucket{${labels}}[$__rate_interval])))`,
    legend: `${by === '' ? '' : `{{${by}}} `}p${quantile * 100}`,
  }));
const lines = (title: string, unit: string, ...questions: Question[]): Panel => ({ title, unit, questions });
const stack = (title: string, unit: string, ...questions: Question[]): Panel => ({
  title,
  unit,
  questions,
  stacked: true,
});
const one = (title: string, unit: string, query: string): Panel => ({
  title,
  unit,
  questions: [{ query, legend: '' }],
  single: true,
});

export const ROWS: readonly Row[] = [
  {
    title: 'At a glance',
    panels: [
      one('Answering', 'none', `min(up{job="spanhouse",${I}})`),
      one('ClickHouse answers', 'none', `min(spanhouse_engine_up{${I}})`),
      one('Spans a second', 'short', `sum(rate(spanhouse_spans_accepted_total{${I}}[$__rate_interval]))`),
      one(
        'Lists, p95',
        's',
        `histogram_quantile(0.95, sum by (le) (rate(spanhouse_query_duration_seconds_bucket{${I}}[$__rate_interval])))`,
      ),
      one('Oldest evaluation waiting', 's', `max(spanhouse_judge_queue_oldest_seconds{${I}})`),
      one('Costs of spans, last day', 'currencyUSD', `sum(increase(spanhouse_spans_cost_dollars_total{${I}}[1d]))`),
    ],
  },
  {
    title: 'Ingest',
    panels: [
      stack('Spans stored', 'short', { query: rate('spanhouse_spans_accepted_total', 'source'), legend: '{{source}}' }),
      stack('Spans refused, by reason', 'short', {
        query: rate('spanhouse_spans_rejected_total', 'source, reason'),
        legend: '{{source}} {{reason}}',
      }),
      stack('Write requests, by status', 'reqps', {
        query: rate('http_request_duration_seconds_count', 'status', WRITES),
        legend: '{{status}}',
      }),
      lines('Time of write requests', 's', ...quantiles('http_request_duration_seconds', '', WRITES)),
      lines('Time of a commit', 's', ...quantiles('spanhouse_commit_duration_seconds')),
      lines(
        'Queue',
        'bytes',
        { query: gauge('spanhouse_commit_queue_bytes'), legend: '{{instance}} waiting' },
        { query: gauge('spanhouse_commit_queue_max_bytes'), legend: '{{instance}} limit' },
      ),
      lines('Spans in a commit', 'short', ...quantiles('spanhouse_commit_rows')),
      lines(
        'Write-ahead log',
        'bytes',
        { query: gauge('spanhouse_write_log_bytes'), legend: '{{instance}} not in ClickHouse yet' },
        { query: gauge('spanhouse_write_log_max_bytes'), legend: '{{instance}} limit' },
      ),
      lines('Time of a flush to ClickHouse', 's', ...quantiles('spanhouse_flush_duration_seconds')),
      lines('Spans in a flush', 'short', ...quantiles('spanhouse_flush_rows')),
      stack('Failed flushes', 'short', {
        query: perDay('spanhouse_flush_failures_total', 'instance'),
        legend: '{{instance}} a day',
      }),
      stack('gRPC calls, by code', 'reqps', { query: rate('rpc_duration_seconds_count', 'code'), legend: '{{code}}' }),
    ],
  },
  {
    title: 'Projects and models (METRICS_PROJECT_SERIES)',
    panels: [
      stack('Spans stored, the ten most', 'short', {
        query: largest(rate('spanhouse_project_spans_total', 'project, model')),
        legend: '{{project}} {{model}}',
      }),
      stack('Costs a day, the ten highest', 'currencyUSD', {
        query: largest(perDay('spanhouse_project_spans_cost_dollars_total', 'project, model')),
        legend: '{{project}} {{model}}',
      }),
      stack('Tokens, the ten most', 'short', {
        query: largest(rate('spanhouse_project_tokens_total', 'project, model, direction')),
        legend: '{{project}} {{model}} {{direction}}',
      }),
      stack('Spans with an error, the ten most', 'short', {
        query: largest(rate('spanhouse_project_span_errors_total', 'project, model')),
        legend: '{{project}} {{model}}',
      }),
    ],
  },
  {
    title: 'Reads',
    panels: [
      stack('Queries of lists', 'reqps', {
        query: rate('spanhouse_query_duration_seconds_count', 'list'),
        legend: '{{list}}',
      }),
      lines('Time of a query', 's', ...quantiles('spanhouse_query_duration_seconds', 'list')),
      stack('List requests, by status', 'reqps', {
        query: rate('http_request_duration_seconds_count', 'route, status', LISTS),
        legend: '{{route}} {{status}}',
      }),
      stack('Lists refused', 'reqps', {
        query: rate('http_request_duration_seconds_count', 'route, status', `${LISTS},status=~"429|5.."`),
        legend: '{{route}} {{status}}',
      }),
      lines('Time of requests, by route', 's', {
        query: `topk(10, histogram_quantile(0.95, sum by (method, route, le) (rate(http_request_duration_seconds_bucket{${I}}[$__rate_interval]))))`,
        legend: '{{method}} {{route}} p95',
      }),
      stack('Defects and interrupted responses', 'short', {
        query: perDay('spanhouse_defects_total', 'instance'),
        legend: '{{instance}} defects a day',
      }),
    ],
  },
  {
    title: 'Traces',
    panels: [
      lines('Traces pending rollup', 'short', {
        query: gauge('spanhouse_rollup_pending_traces'),
        legend: '{{instance}}',
      }),
      lines('Time of a rollup round', 's', ...quantiles('spanhouse_rollup_duration_seconds')),
      lines(
        'Too large for a rollup',
        'short',
        { query: gauge('spanhouse_rollup_set_aside_traces'), legend: '{{instance}} traces' },
        { query: gauge('spanhouse_rollup_set_aside_sessions'), legend: '{{instance}} sessions' },
      ),
      lines(
        'Versions purged, spans indexed',
        'short',
        { query: rate('spanhouse_purged_versions_total', 'instance'), legend: '{{instance}} purged' },
        { query: rate('spanhouse_words_indexed_spans_total', 'instance'), legend: '{{instance}} indexed' },
      ),
    ],
  },
  {
    title: 'ClickHouse',
    panels: [
      lines(
        'Memory',
        'bytes',
        { query: gauge('spanhouse_engine_memory_bytes'), legend: '{{instance}}' },
        { query: gauge('spanhouse_engine_memory_max_bytes'), legend: '{{instance}} limit' },
      ),
      lines('Restarts', 'short', {
        query: `sum by (instance) (increase(spanhouse_engine_restarts_total{${I}}[1h]))`,
        legend: '{{instance}} in an hour',
      }),
      lines(
        'Parts',
        'short',
        { query: gauge('spanhouse_engine_parts'), legend: '{{instance}} all' },
        { query: gauge('spanhouse_engine_partition_parts'), legend: '{{instance}} fullest partition' },
      ),
      lines(
        'Lease',
        'short',
        { query: gauge('spanhouse_lease_held'), legend: '{{instance}} held' },
        {
          query: `sum by (instance) (increase(spanhouse_lease_renewals_failed_total{${I}}[1h]))`,
          legend: '{{instance}} failed renewals in an hour',
        },
      ),
    ],
  },
  {
    title: 'Disk, retention, backups',
    panels: [
      lines(
        'Free disk space',
        'bytes',
        { query: `min by (instance, disk) (spanhouse_disk_free_bytes{${I}})`, legend: '{{instance}} {{disk}} free' },
        {
          query: `max by (instance, disk) (spanhouse_disk_min_free_bytes{${I}})`,
          legend: '{{instance}} {{disk}} least',
        },
      ),
      lines('Share of the disk in use', 'percentunit', {
        query: `1 - min by (instance, disk) (spanhouse_disk_free_bytes{${I}}) / max by (instance, disk) (spanhouse_disk_total_bytes{${I}})`,
        legend: '{{instance}} {{disk}}',
      }),
      lines(
        'Removed by retention',
        'short',
        { query: rate('spanhouse_retention_traces_total', 'instance'), legend: '{{instance}} traces' },
        { query: rate('spanhouse_retention_spans_total', 'instance'), legend: '{{instance}} spans' },
      ),
      lines('Retention behind', 's', { query: gauge('spanhouse_retention_behind_seconds'), legend: '{{instance}}' }),
      lines('Age of the last backup', 's', {
        query: `time() - max by (instance) (spanhouse_backup_last_success_timestamp_seconds{${I}} > 0)`,
        legend: '{{instance}}',
      }),
      lines('Deletions', 'short', { query: rate('spanhouse_deletions_total', 'what'), legend: '{{what}}' }),
    ],
  },
  {
    title: 'Judges',
    panels: [
      stack('Evaluations', 'short', {
        query: rate('spanhouse_evaluations_total', 'origin, result'),
        legend: '{{origin}} {{result}}',
      }),
      lines('Waiting evaluations', 'short', { query: gauge('spanhouse_judge_queue_runs'), legend: '{{instance}}' }),
      lines('Oldest evaluation waiting', 's', {
        query: gauge('spanhouse_judge_queue_oldest_seconds'),
        legend: '{{instance}}',
      }),
      lines(
        'Failures',
        'short',
        { query: rate('spanhouse_judge_retries_total', 'instance'), legend: '{{instance}} retried' },
        { query: rate('spanhouse_judge_runs_failed_total', 'instance'), legend: '{{instance}} failed permanently' },
      ),
      stack('Model calls, by status', 'reqps', {
        query: rate('spanhouse_model_call_duration_seconds_count', 'status'),
        legend: '{{status}}',
      }),
      lines('Time of a model call', 's', ...quantiles('spanhouse_model_call_duration_seconds')),
      stack('Tokens', 'short', { query: rate('spanhouse_model_tokens_total', 'direction'), legend: '{{direction}}' }),
      lines('Corrections shown', 'short', {
        query: rate('spanhouse_judge_examples_total', 'instance'),
        legend: '{{instance}}',
      }),
    ],
  },
  {
    title: 'Monitors',
    panels: [
      lines(
        'Monitors',
        'short',
        { query: rate('spanhouse_monitor_checks_total', 'instance'), legend: '{{instance}} checked' },
        { query: rate('spanhouse_monitors_fired_total', 'instance'), legend: '{{instance}} fired' },
        { query: rate('spanhouse_monitor_failures_total', 'instance'), legend: '{{instance}} failures' },
      ),
      lines('Duration of monitor checks', 's', ...quantiles('spanhouse_monitor_check_duration_seconds')),
      stack('Webhooks, by result', 'short', {
        query: rate('spanhouse_webhook_deliveries_total', 'result'),
        legend: '{{result}}',
      }),
      lines('Time of a webhook', 's', ...quantiles('spanhouse_webhook_duration_seconds')),
    ],
  },
  {
    title: 'Costs',
    panels: [
      stack('Costs of spans, by day', 'currencyUSD', {
        query: perDay('spanhouse_spans_cost_dollars_total', 'source'),
        legend: '{{source}}',
      }),
      stack('Internal model calls, by day', 'currencyUSD', {
        query: perDay('spanhouse_model_cost_dollars_total', 'instance'),
        legend: '{{instance}}',
      }),
    ],
  },
  {
    title: 'Process',
    panels: [
      lines(
        'Memory',
        'bytes',
        { query: gauge('process_resident_memory_bytes'), legend: '{{instance}} resident' },
        { query: gauge('nodejs_heap_size_used_bytes'), legend: '{{instance}} heap' },
      ),
      lines('Processors', 'short', { query: rate('process_cpu_seconds_total', 'instance'), legend: '{{instance}}' }),
      lines('Event loop delay', 's', {
        query: gauge('nodejs_eventloop_lag_p99_seconds'),
        legend: '{{instance}} p99',
      }),
      lines(
        'Open files',
        'short',
        { query: gauge('process_open_fds'), legend: '{{instance}}' },
        { query: gauge('process_max_fds'), legend: '{{instance}} limit' },
      ),
    ],
  },
];
