import { I, type Alert } from './alert.js';

const WRITES = 'method="POST",route=~"/spans|/traces|/sessions|/v1/traces"';
const LISTS = 'method="GET",route=~"/spans|/traces|/sessions"';

/** Alerts of requests, commits and ClickHouse. */
export const SERVER_ALERTS: readonly Alert[] = [
  {
    name: 'SpanhouseDown',
    severity: 'critical',
    means: 'No scrape succeeded for two minutes.',
    query: 'min by (instance) (up{job="spanhouse"}) == 0',
    for: '2m',
    summary: 'Spanhouse at {{ $labels.instance }} does not respond to scrapes',
    description:
      'Check whether the process runs; its last log lines say why it ended. If it runs, compare the address and the ' +
      'token in prometheus.yml with PORT, HOST and METRICS_TOKEN.',
    test: {
      at: '3m',
      ill: { [`up{job="spanhouse",${I}}`]: '1 0x9' },
      well: { [`up{job="spanhouse",${I}}`]: '1x9' },
    },
  },
  {
    name: 'SpanhouseClickHouseDown',
    severity: 'critical',
    means: 'ClickHouse does not respond: reads get 503, and writes may, too.',
    query: 'max by (instance) (spanhouse_engine_up) == 0',
    for: '1m',
    summary: 'ClickHouse of {{ $labels.instance }} does not respond',
    description:
      'Reads get 503. Writes continue until the write-ahead log is full (SpanhouseWriteLogFilling); with ' +
      'CLICKHOUSE_URL and without CLICKHOUSE_WRITE_LOG they get 503, too. Embedded: check the log for engineLost ' +
      'and engineNotStarted, free memory and the disk. External: check that CLICKHOUSE_URL responds from the ' +
      "server's machine. Acknowledged data is kept.",
    test: {
      at: '3m',
      ill: { [`spanhouse_engine_up{${I}}`]: '1 0x9' },
      well: { [`spanhouse_engine_up{${I}}`]: '1 0 1x9' },
    },
  },
  {
    name: 'SpanhouseEngineRestarted',
    severity: 'warning',
    means: 'The embedded ClickHouse died and was restarted, which takes about a second.',
    query: 'sum by (instance) (increase(spanhouse_engine_restarts_total[15m])) > 0',
    for: '0m',
    summary: 'The embedded ClickHouse of {{ $labels.instance }} was restarted',
    description:
      'The log event engineLost has the reason. If the system killed it, give the machine more memory, or lower ' +
      'ENGINE_MEMORY_MB. If it repeats, the lines before it are the last output of the engine. Acknowledged data is ' +
      'not lost.',
    test: {
      at: '5m',
      ill: { [`spanhouse_engine_restarts_total{${I}}`]: '0 0 0 1x9' },
      well: { [`spanhouse_engine_restarts_total{${I}}`]: '1x12' },
    },
  },
  {
    name: 'SpanhouseIngestRefused',
    severity: 'critical',
    means: 'At least some write requests have been refused for five minutes.',
    query: `sum by (instance) (rate(http_request_duration_seconds_count{${WRITES},status=~"429|5.."}[2m]) or rate(rpc_duration_seconds_count{code=~"RESOURCE_EXHAUSTED|UNAVAILABLE|INTERNAL"}[2m])) > 0`,
    for: '5m',
    summary: 'Spanhouse at {{ $labels.instance }} refuses spans: {{ $value | humanize }} requests a second',
    description:
      'Clients that respect Retry-After have not lost anything yet. 503: the log events requestRefused have the ' +
      'reason: the disk (free space) or ClickHouse (see its alerts). 429: more arrives than can be stored ' +
      '(QUEUE_MAX_MB, faster disk, more processors) or held in memory (BODY_MEMORY_MB). The dashboard shows both by ' +
      'status.',
    test: {
      at: '8m',
      ill: {
        [`http_request_duration_seconds_count{${I},method="POST",route="/spans",status="503"}`]: '0+60x20',
        [`rpc_duration_seconds_count{${I},method="/Export",code="UNAVAILABLE"}`]: '0+60x20',
      },
      well: {
        [`http_request_duration_seconds_count{${I},method="POST",route="/spans",status="200"}`]: '0+60x20',
        [`http_request_duration_seconds_count{${I},method="POST",route="/spans",status="422"}`]: '0+60x20',
        [`http_request_duration_seconds_count{${I},method="POST",route="/v1/traces",status="429"}`]: '0 9x20',
        [`rpc_duration_seconds_count{${I},method="/Export",code="OK"}`]: '0+60x20',
      },
      value: '2',
    },
  },
  {
    name: 'SpanhouseCommitsSlow',
    severity: 'warning',
    means: 'Writes wait a second or longer to be acknowledged.',
    query: 'histogram_quantile(0.99, sum by (instance, le) (rate(spanhouse_commit_duration_seconds_bucket[5m]))) > 1',
    for: '10m',
    summary: 'One commit in a hundred of {{ $labels.instance }} takes {{ $value | humanizeDuration }} or longer',
    description:
      'Each write waits for its commit. Check the disk of DATA_DIR (its latency, what else writes to it) and the ' +
      'processors. With an external ClickHouse and no write-ahead log, also check its parts, its memory and the ' +
      'network.',
    test: {
      at: '20m',
      ill: {
        [`spanhouse_commit_duration_seconds_bucket{${I},le="2.5"}`]: '0x30',
        [`spanhouse_commit_duration_seconds_bucket{${I},le="5"}`]: '0+60x30',
        [`spanhouse_commit_duration_seconds_bucket{${I},le="+Inf"}`]: '0+60x30',
      },
      well: {
        [`spanhouse_commit_duration_seconds_bucket{${I},le="0.1"}`]: '0+60x30',
        [`spanhouse_commit_duration_seconds_bucket{${I},le="+Inf"}`]: '0+60x30',
      },
      value: '4.975s',
    },
  },
  {
    name: 'SpanhouseQueueNearlyFull',
    severity: 'warning',
    means: 'More arrives than is stored.',
    // One project alone may use half of it.
    query: 'max by (instance) (spanhouse_commit_queue_bytes / spanhouse_commit_queue_max_bytes) > 0.4',
    for: '2m',
    summary: 'The queue of {{ $labels.instance }} is {{ $value | humanizePercentage }} full',
    description:
      'More arrives than ClickHouse stores; soon writes get 429. Check whether commits are slow, and which client ' +
      'sends so much. A longer queue (QUEUE_MAX_MB) helps only with peaks.',
    test: {
      at: '5m',
      ill: {
        [`spanhouse_commit_queue_bytes{${I}}`]: '60x9',
        [`spanhouse_commit_queue_max_bytes{${I}}`]: '128x9',
      },
      well: {
        [`spanhouse_commit_queue_bytes{${I}}`]: '60 60 1x9',
        [`spanhouse_commit_queue_max_bytes{${I}}`]: '128x9',
      },
      value: '46.88%',
    },
  },
  {
    name: 'SpanhouseWriteLogFilling',
    severity: 'critical',
    means: 'ClickHouse does not accept acknowledged spans.',
    // One project alone may use half of it.
    query: 'max by (instance) (spanhouse_write_log_bytes / spanhouse_write_log_max_bytes) > 0.1',
    for: '2m',
    summary: 'The write-ahead log of {{ $labels.instance }} is {{ $value | humanizePercentage }} full',
    description:
      'Acknowledged spans wait in the log, and lists wait for them. At the limit (WRITE_LOG_MAX_MB), writes are ' +
      'refused. The log events flushFailed say why ClickHouse does not accept them. Nothing is lost.',
    test: {
      at: '5m',
      ill: {
        [`spanhouse_write_log_bytes{${I}}`]: '400x9',
        [`spanhouse_write_log_max_bytes{${I}}`]: '2048x9',
      },
      well: {
        [`spanhouse_write_log_bytes{${I}}`]: '400 400 1x9',
        [`spanhouse_write_log_max_bytes{${I}}`]: '2048x9',
      },
      value: '19.53%',
    },
  },
  {
    name: 'SpanhouseUnsettledTraces',
    severity: 'warning',
    means: 'Figures of traces are computed at every read instead of once.',
    query:
      'max by (instance) ((min_over_time(spanhouse_rollup_pending_traces[10m]) > 2000 and deriv(spanhouse_rollup_pending_traces[10m]) > 0) or (min_over_time(spanhouse_rollup_pending_traces[10m]) > 0 and increase(spanhouse_rollup_duration_seconds_count[10m]) == 0))',
    for: '5m',
    summary: '{{ $value | humanize }} or more traces of {{ $labels.instance }} wait for their rollup',
    description:
      'Lists stay exact but take longer; if this continues, writes wait. Check the log for rollupFailed, the memory ' +
      'of ClickHouse (ENGINE_MEMORY_MB), and long reads, which delay rollups.',
    test: {
      at: '20m',
      ill: { [`spanhouse_rollup_pending_traces{${I}}`]: '3000+100x30' },
      well: {
        [`spanhouse_rollup_pending_traces{${I}}`]: '3000x4 100+50x9 0x9',
        [`spanhouse_rollup_duration_seconds_count{${I}}`]: '0+5x30',
      },
      value: '4k',
    },
  },
  {
    name: 'SpanhouseTracesSetAside',
    severity: 'warning',
    means: 'A trace or session is too large to be recomputed: its tags are missing, or its figures are outdated.',
    query: 'max by (instance) (spanhouse_rollup_set_aside_traces + spanhouse_rollup_set_aside_sessions) > 0',
    for: '15m',
    summary: '{{ $value }} traces or sessions of {{ $labels.instance }} are too large for a rollup',
    description:
      'The log events tagsSetAside and figuresSetAside name them. Raise ENGINE_MEMORY_MB and restart; have the ' +
      'client start new traces earlier, or delete the trace.',
    test: {
      at: '20m',
      ill: {
        [`spanhouse_rollup_set_aside_traces{${I}}`]: '1x30',
        [`spanhouse_rollup_set_aside_sessions{${I}}`]: '1x30',
      },
      well: {
        [`spanhouse_rollup_set_aside_traces{${I}}`]: '0x30',
        [`spanhouse_rollup_set_aside_sessions{${I}}`]: '0x30',
      },
      value: '2',
    },
  },
  {
    name: 'SpanhouseReadsRefused',
    severity: 'warning',
    means: 'One list request in twenty is refused.',
    query: `sum by (instance) (rate(http_request_duration_seconds_count{${LISTS},status=~"429|503"}[5m])) / sum by (instance) (rate(http_request_duration_seconds_count{${LISTS}}[5m])) > 0.05`,
    for: '10m',
    summary: '{{ $value | humanizePercentage }} of the list requests to {{ $labels.instance }} are refused',
    description:
      '503: queries reach a limit of time or memory (requestRefused in the log): use narrower time ranges, or raise ' +
      'ENGINE_MEMORY_MB. 429: one project sends too many reads at once (READS_AT_ONCE).',
    test: {
      at: '20m',
      ill: {
        [`http_request_duration_seconds_count{${I},method="GET",route="/traces",status="503"}`]: '0+30x30',
        [`http_request_duration_seconds_count{${I},method="GET",route="/traces",status="200"}`]: '0+90x30',
      },
      well: {
        [`http_request_duration_seconds_count{${I},method="GET",route="/traces",status="429"}`]: '0+1x30',
        [`http_request_duration_seconds_count{${I},method="GET",route="/traces",status="200"}`]: '0+90x30',
      },
      value: '25%',
    },
  },
  {
    name: 'SpanhouseListsSlow',
    severity: 'warning',
    means: 'One list request in twenty takes five seconds or longer.',
    query:
      'histogram_quantile(0.95, sum by (instance, list, le) (rate(spanhouse_query_duration_seconds_bucket[10m]))) > 5',
    for: '15m',
    summary: 'One list of {{ $labels.list }} in twenty takes {{ $value | humanizeDuration }} at {{ $labels.instance }}',
    description:
      'Check which filters people use (texts and tags over long periods read most), and whether memory, processors ' +
      'or disk of ClickHouse are exhausted. Judges and jobs read, too: JUDGE_CONCURRENCY, JOBS_AT_ONCE.',
    test: {
      at: '30m',
      ill: {
        [`spanhouse_query_duration_seconds_bucket{${I},list="traces",le="10"}`]: '0x40',
        [`spanhouse_query_duration_seconds_bucket{${I},list="traces",le="30"}`]: '0+60x40',
        [`spanhouse_query_duration_seconds_bucket{${I},list="traces",le="+Inf"}`]: '0+60x40',
      },
      well: {
        [`spanhouse_query_duration_seconds_bucket{${I},list="traces",le="1"}`]: '0+60x40',
        [`spanhouse_query_duration_seconds_bucket{${I},list="traces",le="+Inf"}`]: '0+60x40',
      },
      labels: { list: 'traces' },
      value: '29s',
    },
  },
  {
    name: 'SpanhouseDefect',
    severity: 'warning',
    means: 'A request got 500, or a gRPC call INTERNAL.',
    query: 'sum by (instance) (increase(spanhouse_defects_total[15m])) > 0',
    for: '0m',
    summary: 'A request to {{ $labels.instance }} met a defect of Spanhouse',
    description: 'Report the log event requestFailed or rpcFailed, which has the full error.',
    test: {
      at: '5m',
      ill: { [`spanhouse_defects_total{${I}}`]: '0 0 0 1x9' },
      well: { [`spanhouse_defects_total{${I}}`]: '3x12' },
    },
  },
  {
    name: 'SpanhouseAccessDenied',
    severity: 'warning',
    means: 'Many requests had no valid key or session, or may not do what they asked for.',
    query: 'sum by (instance) (increase(http_request_duration_seconds_count{status=~"401|403"}[15m])) > 300',
    for: '5m',
    summary: '{{ $labels.instance }} denied access {{ $value | humanize }} times in 15 minutes',
    description:
      'The log events accessDenied and signInRefused name address, key and reason. Usually a program has a revoked or expired key. ' +
      'If someone guesses, block the address at your proxy.',
    test: {
      at: '22m',
      value: '450',
      ill: { [`http_request_duration_seconds_count{${I},status="401"}`]: '0+30x30' },
      well: { [`http_request_duration_seconds_count{${I},status="401"}`]: '0+5x30' },
    },
  },
  {
    name: 'SpanhousePartsPileUp',
    severity: 'warning',
    means: 'Merges of ClickHouse fall behind the writes.',
    query: 'max by (instance) (spanhouse_engine_partition_parts) > 500',
    for: '15m',
    summary: 'Merges of {{ $labels.instance }} fall behind: {{ $value }} parts in one partition',
    description:
      'ClickHouse slows down writes from 1,000 on. Give it processors and a faster disk; fewer, larger requests ' +
      'create fewer parts. With an external ClickHouse, check that merges run (system.merges, SYSTEM START MERGES).',
    test: {
      at: '20m',
      ill: { [`spanhouse_engine_partition_parts{${I}}`]: '600x30' },
      well: { [`spanhouse_engine_partition_parts{${I}}`]: '600x5 20x30' },
      value: '600',
    },
  },
  {
    name: 'SpanhouseLeaseAtRisk',
    severity: 'warning',
    means: 'With `CLICKHOUSE_URL`: the lease to write is renewed too late or not at all.',
    query: 'sum by (instance) (increase(spanhouse_lease_renewals_failed_total[10m])) > 2',
    for: '0m',
    summary: '{{ $labels.instance }} may lose its lease on ClickHouse',
    description:
      'Renewals fail, and without the lease writes are refused. Check that ClickHouse responds quickly from the ' +
      "server's machine. If the network is slow, raise CLICKHOUSE_LEASE_SECONDS.",
    test: {
      at: '9m',
      ill: { [`spanhouse_lease_renewals_failed_total{${I}}`]: '0+1x20' },
      well: { [`spanhouse_lease_renewals_failed_total{${I}}`]: '0 1x20' },
    },
  },
];
