import { isIPv6 } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { readSettings, type Environment } from './env.js';
import { LIMITS, MEGABYTE, type Limits } from './limits.js';
import type { Settings } from './settings.js';
import { unknownVariables } from './unknown-variables.js';

export { ConfigError } from './env.js';

/** Memory for bodies, at least, in bodies of the largest size: one key may send two, and a compressed one is held twice. */
const LEAST_BODIES_IN_WORK = 4;
/** An insert stores all or nothing as long as ClickHouse takes it as one block. */
const MAX_ENCODED_MB = 256;

/** The configuration as the program uses it: grouped, in bytes, with absolute paths. Made once, by `main.ts`. */
export type Config = ReturnType<typeof group>;
export type HttpConfig = Config['http'];
export type LogConfig = Config['log'];
export type JudgeConfig = Config['judges'];
export type ReviewConfig = Config['reviews'];
export type TracingConfig = NonNullable<Config['tracing']>;

/**
 * Reads, validates and types the configuration.
 * @param limits other ones than every installation has: for tests
 * @throws ConfigError whose message is fit to print before exiting with 1.
 */
export function loadConfig(env: Environment = process.env, limits: Partial<Limits> = {}): Config {
  return group(readSettings(env), { ...LIMITS, ...limits }, unknownVariables(env));
}

function group(settings: Settings, limits: Limits, warnings: readonly string[]) {
  return {
    /** Sentences about variables that were perhaps meant as settings. */
    warnings,
    http: {
      port: settings.PORT,
      host: settings.HOST,
      /** Null: derive it from the address listened on, see `publicUrl`. Never ends in a slash. */
      publicUrl: settings.PUBLIC_URL?.replace(/\/+$/, '') ?? null,
      maxBodyBytes: settings.MAX_BODY_MB * MEGABYTE,
      trustedProxies: settings.TRUSTED_PROXIES,
      /** For how long browsers use HTTPS alone; 0: they are not told. */
      hstsSeconds: settings.PUBLIC_URL?.startsWith('https:') === true ? settings.HSTS_DAYS * 86_400 : 0,
    },
    signIns: {
      hours: settings.SIGN_IN_HOURS,
      idleMinutes: settings.SIGN_IN_IDLE_MINUTES,
      /** Whether people sign in by single sign-on alone. */
      externalOnly: settings.SIGN_IN_BY === 'single-sign-on',
    },
    singleSignOn: {
      /** Null: no provider signs people in. */
      oidc:
        settings.OIDC_ISSUER === undefined || settings.OIDC_CLIENT_ID === undefined
          ? null
          : {
              issuer: settings.OIDC_ISSUER,
              clientId: settings.OIDC_CLIENT_ID,
              clientSecret: settings.OIDC_CLIENT_SECRET ?? null,
              scopes: settings.OIDC_SCOPES,
              /** Lower case; null: all. */
              allowedDomains:
                settings.OIDC_ALLOWED_DOMAINS === undefined ? null : listIn(settings.OIDC_ALLOWED_DOMAINS),
              groupsClaim: settings.OIDC_GROUPS,
            },
      /** Null: no proxy signs people in. */
      proxy:
        settings.SIGN_IN_PROXY_HEADER === undefined || settings.SIGN_IN_PROXY_ADDRESSES === undefined
          ? null
          : {
              header: settings.SIGN_IN_PROXY_HEADER.toLowerCase(),
              addresses: listIn(settings.SIGN_IN_PROXY_ADDRESSES),
            },
      /** JSON: roles by group and project; null: groups give none. */
      roles: settings.SIGN_IN_ROLES ?? null,
    },
    headersTimeoutMs: limits.headersTimeoutMs,
    /** Per listener. */
    maxConnections: settings.MAX_CONNECTIONS,
    bodies: {
      /** With an API key, all in work together. */
      memoryBytes: Math.max(settings.BODY_MEMORY_MB, LEAST_BODIES_IN_WORK * settings.MAX_BODY_MB) * MEGABYTE,
      /** Without one, besides. */
      publicMemoryBytes: limits.publicBodyMemoryBytes,
      timeoutMs: limits.uploadTimeoutMs,
      /** 0: no least rate. */
      minBytesPerSecond: limits.uploadMinBytesPerSecond,
      rateWindowMs: limits.uploadWindowMs,
    },
    /** Null: no gRPC. */
    grpcPort: settings.OTLP_GRPC_PORT ?? null,
    grpcCallsAtOnce: limits.grpcCallsAtOnce,
    /** Absolute. */
    dataDir: resolve(settings.DATA_DIR),
    backup: {
      /** Null: the server makes none by itself. */
      schedule: scheduleOf(settings),
      /** Where buckets of backups are: where that of images is, unless settings say otherwise. */
      s3: {
        endpoint: settings.BACKUP_S3_ENDPOINT ?? settings.S3_ENDPOINT ?? null,
        region: settings.BACKUP_S3_REGION ?? settings.S3_REGION,
        forcePathStyle: (settings.BACKUP_S3_FORCE_PATH_STYLE ?? settings.S3_FORCE_PATH_STYLE) === 'true',
        credentials: backupKeys(settings),
      },
    },
    /** The bucket of scheduled exports; null: there are none. */
    exportTo: settings.EXPORT_TO ?? null,
    /** Null: as many as suit the size of each disk. 0: none. */
    minFreeDiskBytes: settings.MIN_FREE_DISK_MB === undefined ? null : settings.MIN_FREE_DISK_MB * MEGABYTE,
    /** Null: what is deleted leaves the files whenever they happen to be rewritten. */
    eraseWithinMs: settings.ERASE_WITHIN_HOURS === 0 ? null : settings.ERASE_WITHIN_HOURS * 3_600_000,
    clickhouse: {
      /** Null: the embedded engine. */
      url: settings.CLICKHOUSE_URL ?? null,
      user: settings.CLICKHOUSE_USER,
      password: settings.CLICKHOUSE_PASSWORD ?? '',
      database: settings.CLICKHOUSE_DATABASE,
      cluster: settings.CLICKHOUSE_CLUSTER ?? null,
      leaseSeconds: settings.CLICKHOUSE_LEASE_SECONDS,
      writeLog: settings.CLICKHOUSE_WRITE_LOG === 'true',
    },
    /** Both null or both set. The project id is lower case. */
    init: {
      projectId: settings.SPANHOUSE_INIT_PROJECT_ID?.toLowerCase() ?? null,
      apiKey: settings.SPANHOUSE_INIT_API_KEY ?? null,
    },
    log: {
      level: settings.LOG_LEVEL,
      format: settings.LOG_FORMAT ?? (process.stdout.isTTY ? ('pretty' as const) : ('json' as const)),
    },
    /** Null: `/metrics` is open. */
    metricsToken: settings.METRICS_TOKEN ?? null,
    /** Pairs of project and model that have series of their own; 0: nothing is counted by them. */
    projectSeries: settings.METRICS_PROJECT_SERIES,
    /** Null: the server does not trace itself. */
    tracing:
      settings.OTEL_EXPORTER_OTLP_ENDPOINT === undefined || settings.OTEL_SDK_DISABLED === 'true'
        ? null
        : {
            endpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
            /** As they are written: `name=value,…`. */
            headers: settings.OTEL_EXPORTER_OTLP_HEADERS ?? null,
            serviceName: settings.OTEL_SERVICE_NAME,
            sampler: settings.OTEL_TRACES_SAMPLER,
            samplerArgument: settings.OTEL_TRACES_SAMPLER_ARG,
          },
    attachments: {
      /** Lower case; with a port unless it is the default one. */
      fetchHosts: listIn(settings.ATTACHMENT_FETCH_HOSTS),
      /** Null: files in the data directory. */
      s3:
        settings.S3_BUCKET === undefined
          ? null
          : {
              bucket: settings.S3_BUCKET,
              endpoint: settings.S3_ENDPOINT ?? null,
              region: settings.S3_REGION,
              forcePathStyle: settings.S3_FORCE_PATH_STYLE === 'true',
            },
    },
    judges: {
      /** Null: judges do not run. */
      llm:
        settings.JUDGE_LLM_BASE_URL === undefined
          ? null
          : {
              baseUrl: settings.JUDGE_LLM_BASE_URL.replace(/\/+$/, ''),
              apiKey: settings.JUDGE_LLM_API_KEY ?? null,
              model: settings.JUDGE_LLM_MODEL ?? null,
              modelNames: settings.JUDGE_LLM_MODEL_NAMES,
              timeoutSeconds: settings.JUDGE_LLM_TIMEOUT_SECONDS,
            },
      concurrency: settings.JUDGE_CONCURRENCY,
      /** Null: no limit. */
      ratePerMinute: settings.JUDGE_RATE_PER_MINUTE ?? null,
      maxAttempts: limits.judgeAttempts,
      queueMax: limits.judgeQueue,
      maxCharacters: settings.JUDGE_MAX_CHARACTERS,
      maxAnswerCharacters: limits.modelAnswerCharacters,
      maxAnswerBytes: limits.modelAnswerBytes,
      exampleTokens: settings.JUDGE_EXAMPLE_TOKENS,
    },
    ingest: {
      maxEncodedBytes: maxEncodedBytes(settings, limits),
      maxTagBytes: limits.tagBytes,
      /** 0: all work is done by the main thread. */
      threads: settings.INGEST_THREADS ?? spareCores(),
    },
    /** Limits of feedback links. */
    reviews: {
      maxTextCharacters: limits.reviewTextCharacters,
      /** Reviewers of one link. */
      maxReviewers: limits.reviewers,
      /** Size of all reviews of one link. */
      maxBytes: limits.reviewBytes,
      requestsPerMinute: {
        link: limits.reviewRequestsPerMinute,
        address: limits.reviewRequestsPerMinuteOfAddress,
      },
    },
    /** Addresses and ranges that are not public. */
    webhookAddresses: settings.WEBHOOK_ALLOWED_ADDRESSES.split(',')
      .map((range) => range.trim())
      .filter((range) => range !== ''),
    /** Null: no mail is sent. */
    mail:
      settings.SMTP_URL === undefined || settings.SMTP_FROM === undefined
        ? null
        : { url: settings.SMTP_URL, from: settings.SMTP_FROM },
    jobs: {
      atOnce: settings.JOBS_AT_ONCE,
      ofProject: limits.jobsOfProject,
      maxAttempts: limits.jobAttempts,
    },
    engine: { memoryMb: settings.ENGINE_MEMORY_MB, diskReserveBytes: settings.DISK_RESERVE_MB * MEGABYTE },
    commit: {
      maxRows: limits.commitRows,
      maxBytes: limits.commitBytes,
      queueMaxBytes: settings.QUEUE_MAX_MB * MEGABYTE,
      logMaxBytes: settings.WRITE_LOG_MAX_MB * MEGABYTE,
    },
    read: {
      timeoutSeconds: settings.READ_TIMEOUT_SECONDS,
      maxResultBytes: settings.READ_MAX_RESULT_MB * MEGABYTE,
    },
    /** Statements that read for projects. */
    reads: turnLimits(limits, settings.READS_AT_ONCE, Math.ceil(settings.READS_AT_ONCE * limits.readsShareOfProject)),
    /** Lists, until the client has them. */
    answers: turnLimits(limits, limits.answersAtOnce, limits.answersOfProject),
    /** Answers that are put together in memory. */
    gathered: turnLimits(limits, limits.gatheredAtOnce, limits.gatheredOfProject),
    delivery: {
      minBytesPerSecond: limits.answerMinBytesPerSecond,
      rateWindowMs: limits.answerWindowMs,
    },
    auditDays: settings.AUDIT_DAYS,
    /** Null: nothing is removed for its age. */
    retentionIntervalMs: settings.RETENTION_INTERVAL_SECONDS === 0 ? null : settings.RETENTION_INTERVAL_SECONDS * 1000,
    shutdownTimeoutSeconds: settings.SHUTDOWN_TIMEOUT_SECONDS,
  };
}

/** What is separated by commas, in lower case. */
function listIn(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '');
}

/** What an embedded engine can insert: it needs eight times as much memory, and has other work, too. */
function maxEncodedBytes({ MAX_BODY_MB, CLICKHOUSE_URL, ENGINE_MEMORY_MB }: Settings, limits: Limits): number {
  const insertable = CLICKHOUSE_URL === undefined ? ENGINE_MEMORY_MB / 16 : Infinity;
  const wanted = Math.min(limits.encodedPerBody * MAX_BODY_MB, MAX_ENCODED_MB, insertable) * MEGABYTE;
  return Math.max(wanted, limits.leastEncodedBytes);
}

/** Cores beside one for the main thread and one for ClickHouse, as far as the main thread can keep so many busy. */
function spareCores(): number {
  return Math.min(Math.max(availableParallelism() - 2, 0), 8);
}

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function scheduleOf({ BACKUP_EVERY: every, BACKUP_TO: to, BACKUP_KEEP: keep }: Settings) {
  if (every === undefined || to === undefined) return null;
  const unit = every.slice(-1) as keyof typeof UNITS_MS;
  const everyMs = Number(every.slice(0, -1)) * UNITS_MS[unit];
  return { everyMs, to: to.startsWith('s3://') ? to : resolve(to), keep };
}

/** Undefined: they are where the AWS SDK looks for them. */
function backupKeys({ BACKUP_S3_ACCESS_KEY_ID: accessKeyId, BACKUP_S3_SECRET_ACCESS_KEY: secretAccessKey }: Settings) {
  return accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey };
}

function turnLimits({ readWaitMs, readsWaitingOfProject }: Limits, atOnce: number, perProject: number) {
  return {
    atOnce,
    perParty: Math.min(perProject, atOnce - 1),
    maxWaitMs: readWaitMs,
    maxWaiting: readsWaitingOfProject,
  };
}

/** Where programs of this machine call a server that has these settings, whatever is in front of it. */
export function localUrl({ host, port }: Pick<HttpConfig, 'host' | 'port'>): string {
  return urlOf(host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, port);
}

/**
 * The base of every URL handed out: `PUBLIC_URL`, else the address listened on. A wildcard address is no address to
 * call, so it becomes `localhost`.
 * @param boundPort the port the listener got; differs from the configured one when that is 0.
 */
export function publicUrl(http: HttpConfig, boundPort: number): string {
  if (http.publicUrl !== null) return http.publicUrl;
  const wildcard = http.host === '0.0.0.0' || http.host === '::';
  return urlOf(wildcard ? 'localhost' : http.host, boundPort);
}

function urlOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
