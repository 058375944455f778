import { I, type Alert } from './alert.js';

const WRITES = 'method="POST",route=~"/spans|/traces|/sessions|/v1/traces"';
const LISTS = 'method="GET",route=~"/spans|/traces|/sessions"';

/** Alerts of requests, commits and ClickHouse. */
export const SERVER_ALERTS: readonly Alert[] = [
  {
    name: 'SpanhouseDown',
    severity: 'critical',
    means: 'No scrape was answered for two minutes.',
    query: 'min by (instance) (up{job="spanhouse"}) == 0',
    for: '2m',
    summary: 'Spanhouse at {{ $labels.instance }} answers no scrape',
    description:
      'See whether the process runs; its last log lines say why it ended. If it runs, compare the address and the token in prometheus.yml with PORT, HOST and METRICS_TOKEN.',
    test: {
      at: '3m',
      ill: { [`up{job="spanhouse",${I}}`]: '1 0x9' },
      well: { [`up{job="spanhouse",${I}}`]: '1x9' },
    },
  },
  {
    name: 'SpanhouseClickHouseDown',
    severity: 'critical',
    means: 'ClickHouse does not answer: writes and reads are answered 503.',
    query: 'max by (instance) (spanhouse_engine_up) == 0',
    for: '1m',
    summary: 'ClickHouse of {{ $labels.instance }} does not answer',
    description:
      'Reads are answered 503. Writes go on until the write-ahead log is full (SpanhouseWriteLogFilling); with CLICKHOUSE_URL and without CLICKHOUSE_WRITE_LOG they are answered 503, too. Embedded: look in the log for engineLost and engineNotStarted, at free memory and at the disk. Your own: see that CLICKHOUSE_URL answers from there. Everything acknowledged is kept.',
    test: {
      at: '3m',
      ill: { [`spanhouse_engine_up{${I}}`]: '1 0x9' },
      well: { [`spanhouse_engine_up{${I}}`]: '1 0 1x9' },
    },
  },
  {
    name: 'SpanhouseEngineRestarted',
    severity: 'warning',
    means: 'The embedded ClickHouse died and was started again, which takes about a second.',
    query: 'sum by (instance) (increase(spanhouse_engine_restarts_total[15m])) > 0',
    for: '0m',
    summary: 'The embedded ClickHouse of {{ $labels.instance }} was restarted',
    description:
      'The line engineLost says why. Killed by the system: give the machine more memory, or lower ENGINE_MEMORY_MB. Again and again: the lines before it are the last words of the engine. Nothing acknowledged is lost.',
    test: {
      at: '5m',
      ill: { [`spanhouse_engine_restarts_total{${I}}`]: '0 0 0 1x9' },
      well: { [`spanhouse_engine_restarts_total{${I}}`]: '1x12' },
    },
  },
  {
    name: 'SpanhouseIngestRefused',
    severity: 'critical',
    means: 'Requests that write have been refused for five minutes, some of them at least.',
    query: `sum by (instance) (rate(http_request_duration_seconds_count{${WRITES},status=~"429|5.."}[2m]) or rate(rpc_duration_seconds_count{code=~"RESOURCE_EXHAUSTED|UNAVAILABLE|INTERNAL"}[2m])) > 0`,
    for: '5m',
    summary: 'Spanhouse at {{ $labels.instance }} refuses spans: {{ $value | humanize }} requests a second',
    description:
      'Clients that respect Retry-After lose nothing yet. 503: the lines requestRefused of the log say why: the disk (free space) or ClickHouse (see its alerts). 429: more comes in than is stored (QUEUE_MAX_MB, faster disk, more processors) or held in memory (BODY_MEMORY_MB). The dashboard has both by status.',
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
      'Each write waits for its commit. Look at the disk of DATA_DIR (its latency, what else writes to it) and at the processors; with your own ClickHouse and no write-ahead log at its parts, its memory and the network, too.',
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
    means: 'More comes in than is stored.',
    // One project alone may use half of it.
    query: 'max by (instance) (spanhouse_commit_queue_bytes / spanhouse_commit_queue_max_bytes) > 0.4',
    for: '2m',
    summary: 'The queue of {{ $labels.instance }} is {{ $value | humanizePercentage }} full',
    description:
      'More comes in than ClickHouse stores; soon writes are answered 429. See whether commits are slow, and who sends so much. A longer queue (QUEUE_MAX_MB) helps with peaks only.',
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
    means: 'ClickHouse does not take what was acknowledged.',
    // One project alone may use half of it.
    query: 'max by (instance) (spanhouse_write_log_bytes / spanhouse_write_log_max_bytes) > 0.1',
    for: '2m',
    summary: 'The write-ahead log of {{ $labels.instance }} is {{ $value | humanizePercentage }} full',
    description:
      'Acknowledged spans wait in the log, and lists wait for them; at the bound (WRITE_LOG_MAX_MB) writes are refused. The lines flushFailed say why ClickHouse does not take them. Nothing is lost.',
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
    summary: 'Traces of {{ $labels.instance }} are not settled: {{ $value | humanize }} and more wait for their rollup',
    description:
      'Lists stay exact, and take longer; writes wait when it goes on. Look for rollupFailed in the log, at memory of ClickHouse (ENGINE_MEMORY_MB), and at long reads, which hold rollups back.',
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
    means: 'A trace or session is too large to be recomputed: its tags or its figures stay behind.',
    query: 'max by (instance) (spanhouse_rollup_set_aside_traces + spanhouse_rollup_set_aside_sessions) > 0',
    for: '15m',
    summary: '{{ $value }} traces or sessions of {{ $labels.instance }} are too large for a rollup',
    description:
      'The lines tagsSetAside and figuresSetAside name them. Raise ENGINE_MEMORY_MB and restart; have the client begin new traces earlier, or delete the trace.',
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
    means: 'One list in twenty is refused.',
    query: `sum by (instance) (rate(http_request_duration_seconds_count{${LISTS},status=~"429|503"}[5m])) / sum by (instance) (rate(http_request_duration_seconds_count{${LISTS}}[5m])) > 0.05`,
    for: '10m',
    summary: '{{ $value | humanizePercentage }} of the lists asked of {{ $labels.instance }} are refused',
    description:
      '503: queries meet a limit of time or memory (requestRefused in the log): narrower time ranges, more ENGINE_MEMORY_MB. 429: one project asks for too much at once (READS_AT_ONCE, READS_PER_PROJECT).',
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
    means: 'One list in twenty takes five seconds or longer.',
    query:
      'histogram_quantile(0.95, sum by (instance, list, le) (rate(spanhouse_query_duration_seconds_bucket[10m]))) > 5',
    for: '15m',
    summary: 'One list of {{ $labels.list }} in twenty takes {{ $value | humanizeDuration }} at {{ $labels.instance }}',
    description:
      'See which filters people use (texts and tags over long times read most), and whether memory, processors or disk of ClickHouse are at their end. Judges and jobs read, too: JUDGE_CONCURRENCY, JOBS_AT_ONCE.',
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
    means: 'A request was answered 500, or a call INTERNAL.',
    query: 'sum by (instance) (increase(spanhouse_defects_total[15m])) > 0',
    for: '0m',
    summary: 'A request to {{ $labels.instance }} met a defect of Spanhouse',
    description: 'Report the line requestFailed or rpcFailed of the log, which has the error in full.',
    test: {
      at: '5m',
      ill: { [`spanhouse_defects_total{${I}}`]: '0 0 0 1x9' },
      well: { [`spanhouse_defects_total{${I}}`]: '3x12' },
    },
  },
  {
    name: 'SpanhousePartsPileUp',
    severity: 'warning',
    means: 'Merges of ClickHouse fall behind what comes in.',
    query: 'max by (instance) (spanhouse_engine_partition_parts) > 500',
    for: '15m',
    summary: 'Merges of {{ $labels.instance }} fall behind: {{ $value }} parts in one partition',
    description:
      'ClickHouse slows writes down from 1,000 on. Give it processors and a faster disk; fewer, larger requests make fewer parts. On your own server, see that merges run (system.merges, SYSTEM START MERGES).',
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
    means: 'With `CLICKHOUSE_URL`: the right to write is renewed too late or not at all.',
    query: 'sum by (instance) (increase(spanhouse_lease_renewals_failed_total[10m])) > 2',
    for: '0m',
    summary: '{{ $labels.instance }} may lose its lease on ClickHouse',
    description:
      'Renewals fail, and without the lease writes are refused. See that ClickHouse answers quickly from there; with a slow network, raise CLICKHOUSE_LEASE_SECONDS.',
    test: {
      at: '9m',
      ill: { [`spanhouse_lease_renewals_failed_total{${I}}`]: '0+1x20' },
      well: { [`spanhouse_lease_renewals_failed_total{${I}}`]: '0 1x20' },
    },
  },
];
