import { Type, type Static, type TProperties, type TSchema } from '@sinclair/typebox';

/**
 * Every setting of the server, once. Parsing, validation, the `Config` type, `--help`, and the tables in
 * README and manual all come from here. Keywords beyond JSON Schema:
 * - `must`: how a value has to look, said after "must" (only where it cannot be told from the schema),
 * - `defaultText`: the default in words, where it depends on something,
 * - `secret`: the value never appears in a message, a log line or a page.
 */
interface Words {
  readonly description: string;
  readonly must?: string;
  readonly defaultText?: string;
  readonly secret?: true;
}

const text = (words: Words & { default?: string; pattern?: string }) => Type.String({ ...words });
const whole = (words: Words & { default: number; minimum: number; maximum: number }) => Type.Integer({ ...words });
const choice = <const T extends readonly string[]>(values: T, words: Words & { default?: T[number] }) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...words });

/** A megabyte here is 2^20 bytes. */
export const MEGABYTE = 1024 * 1024;

const HTTP_URL = '^https?://[^\\s/?#]+[^\\s?#]*$';
const HOST_AND_PORT = '[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?';
const IDENTIFIER = '^[A-Za-z_][A-Za-z0-9_]{0,62}$';
const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

export const settings = Type.Object({
  PORT: whole({
    default: 4318,
    minimum: 0,
    maximum: 65535,
    description:
      'Port for HTTP: API, OTLP/HTTP, pages and metrics. 4318 is the usual port of OTLP/HTTP; 0 takes any free one.',
  }),
  HOST: text({
    default: '127.0.0.1',
    description: 'Address that the server listens on. `0.0.0.0` opens it to the network.',
  }),
  OTLP_GRPC_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      defaultText: 'off',
      description: 'Port for OTLP over gRPC, usually 4317; 0 takes any free one. Unset: no gRPC.',
    }),
  ),
  PUBLIC_URL: Type.Optional(
    text({
      pattern: HTTP_URL,
      must: 'be an http:// or https:// URL without query or fragment',
      defaultText: '`http://HOST:PORT`',
      description: 'Base of the URLs in answers (feedback links, images); set it when the server is behind a proxy.',
    }),
  ),
  TRUSTED_PROXIES: whole({
    default: 0,
    minimum: 0,
    maximum: 10,
    description:
      'Number of your reverse proxies in front of the server. That many entries at the end of `X-Forwarded-For` are trusted when requests to pages of feedback links are limited by client address.',
  }),
  DATA_DIR: text({
    default: './data',
    description: 'Directory of all data: the embedded ClickHouse, the SQLite file, images.',
  }),
  BACKUP_EVERY: Type.Optional(
    text({
      pattern: '^[1-9][0-9]{0,4}[mhd]$',
      must: 'be a number of minutes, hours or days, such as 30m, 6h or 1d',
      defaultText: 'off',
      description:
        'How often the running server is backed up to `BACKUP_TO`. Unset: only by `npm run admin -- backup`.',
    }),
  ),
  BACKUP_TO: Type.Optional(
    text({
      pattern: '^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#]*)?|(?![A-Za-z0-9+.-]+://).*)$',
      must: 'be a folder, or a bucket as s3://bucket/prefix',
      description:
        'Where the backups go that `BACKUP_EVERY` makes: a folder, best on another disk than `DATA_DIR`, or a bucket as ' +
        '`s3://bucket/prefix`.',
    }),
  ),
  BACKUP_KEEP: whole({
    default: 7,
    minimum: 1,
    maximum: 10_000,
    description:
      'How many backups stay in `BACKUP_TO`; with each further one that `BACKUP_EVERY` makes, the oldest goes.',
  }),
  BACKUP_S3_ENDPOINT: Type.Optional(
    text({
      pattern: HTTP_URL,
      must: 'be the http:// or https:// URL of a server that speaks S3',
      defaultText: '`S3_ENDPOINT`',
      description: 'URL of the S3-compatible server that has the buckets of backups.',
    }),
  ),
  BACKUP_S3_REGION: Type.Optional(
    text({ defaultText: '`S3_REGION`', description: 'Region of the buckets of backups.' }),
  ),
  BACKUP_S3_FORCE_PATH_STYLE: Type.Optional(
    choice(['true', 'false'], {
      defaultText: '`S3_FORCE_PATH_STYLE`',
      description: 'Whether URLs name buckets of backups in the path instead of the host name.',
    }),
  ),
  BACKUP_S3_ACCESS_KEY_ID: Type.Optional(
    text({
      defaultText: 'where the AWS SDK looks for it',
      description: 'Id of the key to the buckets of backups, where it is another than that to `S3_BUCKET`.',
    }),
  ),
  BACKUP_S3_SECRET_ACCESS_KEY: Type.Optional(
    text({
      secret: true,
      defaultText: 'where the AWS SDK looks for it',
      description: 'Secret of that key.',
    }),
  ),
  MIN_FREE_DISK_MB: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_073_741_824,
      defaultText: '5 % of the disk and at least 1024, of a small disk a quarter',
      description:
        'Disk space that stays free, on each disk with data: with less, spans are answered 503 until there is more again, while reads ' +
        'and deletions go on. 0: all of the disk may be filled.',
    }),
  ),
  ERASE_WITHIN_HOURS: whole({
    default: 24,
    minimum: 0,
    maximum: 720,
    description:
      'Hours within which texts that were deleted or replaced are in no file any more. In half of that time, what holds some is ' +
      'rewritten in the background. 0: they leave the files whenever ClickHouse happens to merge these.',
  }),
  CLICKHOUSE_URL: Type.Optional(
    text({
      // A path would be taken for the name of a database.
      pattern: '^https?://[^\\s/?#]+/?$',
      must: "be the http:// or https:// URL of ClickHouse's HTTP port without a path, such as http://localhost:8123",
      description: 'URL of a ClickHouse server or cluster of yours, over HTTP. Unset: ClickHouse runs embedded.',
    }),
  ),
  CLICKHOUSE_USER: text({ default: 'default', description: 'User at `CLICKHOUSE_URL`.' }),
  CLICKHOUSE_PASSWORD: Type.Optional(text({ secret: true, description: 'Password at `CLICKHOUSE_URL`.' })),
  CLICKHOUSE_DATABASE: text({
    default: 'spanhouse',
    pattern: IDENTIFIER,
    must: 'be a name of letters, digits and underscores that does not start with a digit',
    description: 'Database at `CLICKHOUSE_URL`; created when missing.',
  }),
  CLICKHOUSE_CLUSTER: Type.Optional(
    text({
      pattern: '^(\\{[a-z_]+\\}|[A-Za-z0-9_.-]+)$',
      must: 'be the name of a cluster as `system.clusters` shows it',
      description: 'ClickHouse cluster on which the tables are created, replicated. Needs `CLICKHOUSE_URL`.',
    }),
  ),
  CLICKHOUSE_LEASE_SECONDS: whole({
    default: 15,
    minimum: 2,
    maximum: 3600,
    description:
      'Duration of the lease by which one Spanhouse server alone writes to the database at `CLICKHOUSE_URL`. It is renewed five times in this duration; when it runs out, another server may take over.',
  }),
  SPANHOUSE_INIT_PROJECT_ID: Type.Optional(
    text({
      pattern: UUID,
      must: 'be a UUID',
      description: 'Id of a project that the start creates when it is missing. Set `SPANHOUSE_INIT_API_KEY` too.',
    }),
  ),
  SPANHOUSE_INIT_API_KEY: Type.Optional(
    text({
      pattern: '^[!-~]{8,256}$',
      must: 'be 8 to 256 printable ASCII characters without spaces',
      secret: true,
      description: 'API key of the project `SPANHOUSE_INIT_PROJECT_ID` that the start creates when it is missing.',
    }),
  ),
  METRICS_TOKEN: Type.Optional(
    text({
      pattern: '^[!-~]+$',
      must: 'be printable ASCII characters without spaces',
      secret: true,
      description: 'When set, `/metrics` needs `Authorization: Bearer <token>`.',
    }),
  ),
  LOG_LEVEL: choice(['error', 'warn', 'info', 'debug', 'silent'], {
    default: 'info',
    description: 'Lowest level of log lines that are written; more important ones are too.',
  }),
  LOG_FORMAT: Type.Optional(
    choice(['pretty', 'json'], {
      defaultText: '`pretty` on a terminal, else `json`',
      description: 'Format of log lines, which go to standard output.',
    }),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    text({
      pattern: '^(?!.*/v1/traces/*$)https?://[^\\s/?#]+[^\\s?#]*$',
      must: 'be the address before /v1/traces: an http:// or https:// URL without query or fragment, such as http://localhost:4318',
      defaultText: 'off',
      description:
        'Where the server sends traces of its own work, by OTLP over HTTP: the address before `/v1/traces`. Unset: it does not trace itself.',
    }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    text({
      pattern:
        "^\\s*[A-Za-z0-9!#$%&'*+.^_`|~-]+\\s*=([^,;%]|%[0-9A-Fa-f]{2})*(,\\s*[A-Za-z0-9!#$%&'*+.^_`|~-]+\\s*=([^,;%]|%[0-9A-Fa-f]{2})*)*$",
      must: 'be names and percent-encoded values, such as Authorization=Bearer%20secret, separated by commas',
      secret: true,
      description: 'Headers sent with these traces, such as `Authorization=Bearer%20…`, separated by commas.',
    }),
  ),
  OTEL_SERVICE_NAME: text({ default: 'spanhouse', description: "The server's name in its own traces." }),
  OTEL_TRACES_SAMPLER: choice(
    [
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ],
    {
      default: 'parentbased_always_on',
      description:
        'Which requests the server traces. What callers decided for their own traces does not count, so `parentbased_` makes no difference.',
    },
  ),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    default: 1,
    minimum: 0,
    maximum: 1,
    must: 'be a number from 0 to 1',
    description: 'Part of the requests that `traceidratio` traces, such as 0.1.',
  }),
  OTEL_SDK_DISABLED: choice(['true', 'false'], {
    default: 'false',
    description: '`true`: the server does not trace itself, whatever else is set.',
  }),
  ATTACHMENT_FETCH_HOSTS: text({
    default: '',
    pattern: `^(${HOST_AND_PORT}(\\s*,\\s*${HOST_AND_PORT})*)?$`,
    must: 'be host names, each with a port unless it is the default one, separated by commas',
    defaultText: 'none',
    description:
      'Hosts from which images that spans name by URL are copied, such as `images.example.com,cdn.example.com:8443`. ' +
      'Nothing is fetched from any other host, nor from a private address.',
  }),
  S3_BUCKET: Type.Optional(
    text({
      pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
      must: 'be the name of a bucket',
      description:
        'S3 bucket for images, one for each server; unset: `DATA_DIR/attachments`. Credentials come from where the ' +
        'AWS SDK looks for them.',
    }),
  ),
  S3_ENDPOINT: Type.Optional(
    text({
      pattern: HTTP_URL,
      must: 'be the http:// or https:// URL of a server that speaks S3',
      defaultText: 'that of Amazon',
      description: 'URL of the S3-compatible server that has `S3_BUCKET`.',
    }),
  ),
  S3_REGION: text({ default: 'us-east-1', description: 'Region of `S3_BUCKET`.' }),
  S3_FORCE_PATH_STYLE: choice(['true', 'false'], {
    default: 'false',
    description:
      'Whether URLs name `S3_BUCKET` in the path instead of the host name, as many S3-compatible servers need.',
  }),
  JUDGE_LLM_BASE_URL: Type.Optional(
    text({
      pattern: '^(?!.*/chat/completions/*$)https?://[^\\s/?#@]+(/[^\\s?#]*)?$',
      must:
        'be the address before /chat/completions: an http:// or https:// URL without user, query or fragment, such as ' +
        'https://api.openai.com/v1',
      description:
        'Model endpoint of judges: its address before `/chat/completions`, of OpenAI or of any server that speaks its ' +
        'API. Unset: judges do not run.',
    }),
  ),
  JUDGE_LLM_API_KEY: Type.Optional(
    text({
      pattern: '^[!-~]+$',
      must: 'be printable ASCII characters without spaces',
      secret: true,
      description: 'API key of the model endpoint, when it needs one.',
    }),
  ),
  JUDGE_LLM_MODEL: Type.Optional(
    text({
      pattern: '^[^\\u0000-\\u001f]{1,512}$',
      must: 'be the name of a model',
      description: 'Default model: asked when neither the judge nor the version of its prompt names one.',
    }),
  ),
  JUDGE_LLM_MODEL_NAMES: choice(['auto', 'plain', 'full'], {
    default: 'auto',
    description:
      'How the model endpoint is sent the names of models. `auto`: `openai/gpt-4o` is `gpt-4o` at `api.openai.com`, and so on at ' +
      "every provider's own endpoint; any other is sent names as they are written. `plain`: never with a provider in front. `full`: " +
      'always with it, as far as it is known.',
  }),
  JUDGE_LLM_TIMEOUT_SECONDS: whole({
    default: 60,
    minimum: 1,
    maximum: 3600,
    description: 'Longest time that one call to the model endpoint may take.',
  }),
  JUDGE_CONCURRENCY: whole({
    default: 4,
    minimum: 1,
    maximum: 1000,
    description: 'Most calls to the model endpoint at once.',
  }),
  JUDGE_RATE_PER_MINUTE: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      defaultText: 'no limit',
      description: 'Most calls to the model endpoint in a minute.',
    }),
  ),
  JUDGE_MAX_ATTEMPTS: whole({
    default: 6,
    minimum: 1,
    maximum: 100,
    description:
      'Attempts at an evaluation while the model endpoint is overloaded, fails or does not answer; then the evaluation fails.',
  }),
  JUDGE_QUEUE_MAX: whole({
    default: 20_000,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Most evaluations in the queue. While it is full, projects that have an equal share of it or more queue new spans later; none is lost.',
  }),
  JUDGE_MAX_CHARACTERS: whole({
    default: 60_000,
    minimum: 1000,
    maximum: 10_000_000,
    description:
      'Longest input or output of a span that judges are shown whole; a longer one is shown without its middle.',
  }),
  JUDGE_MAX_ANSWER_CHARACTERS: whole({
    default: 1_000_000,
    minimum: 1000,
    maximum: 8_000_000,
    description: 'Longest answer of a model that is read whole; a longer one is cut.',
  }),
  JUDGE_MAX_ANSWER_MB: whole({
    default: 8,
    minimum: 1,
    maximum: 64,
    description: 'Largest answer of the model endpoint; with a larger one, the evaluation fails.',
  }),
  JUDGE_EXAMPLE_TOKENS: whole({
    default: 4000,
    minimum: 0,
    maximum: 1_000_000,
    description:
      'Most tokens (estimated) of the corrections by people that a judge is shown as examples in one evaluation. 0: none are shown.',
  }),
  JOBS_AT_ONCE: whole({
    default: 8,
    minimum: 1,
    maximum: 1000,
    description: 'Most calibration trials and prompt optimisations running at once; projects take turns.',
  }),
  JOBS_PER_PROJECT: whole({
    default: 2,
    minimum: 1,
    maximum: 1000,
    description: 'Most of the jobs counted by `JOBS_AT_ONCE` that one project may have running.',
  }),
  JOB_MAX_ATTEMPTS: whole({
    default: 20,
    minimum: 1,
    maximum: 1000,
    description:
      'Attempts at a background job (trials, optimisations, recalculations of costs) that makes no progress because a store does not answer; then the job fails.',
  }),
  REVIEW_TEXT_MAX_CHARACTERS: whole({
    default: 16_000,
    minimum: 100,
    maximum: 100_000,
    description:
      'Longest text that a reviewer may send by a feedback link, as a reason or as a better answer; a longer one is ' +
      'answered 422. Larger request bodies than such fields can make up are answered 413.',
  }),
  REVIEW_MAX_REVIEWERS: whole({
    default: 1000,
    minimum: 4,
    maximum: 100_000,
    description:
      'Most reviewers of one feedback link. One network (an address of IPv4, or a /48 of IPv6) may have as many as are left free, so ' +
      'half of them when it is the only one; more are answered 422.',
  }),
  REVIEW_MAX_MB: whole({
    default: 64,
    minimum: 1,
    maximum: 65_536,
    description:
      'Most text that the reviewers of one feedback link may send together; one network may send as much as is left free.',
  }),
  REVIEW_REQUESTS_PER_MINUTE: whole({
    default: 600,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Most requests a minute for one feedback link; more are answered 429.',
  }),
  REVIEW_ADDRESS_REQUESTS_PER_MINUTE: whole({
    default: 300,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Most requests a minute for feedback links from one address, which may be an office full of reviewers; more are answered 429.',
  }),
  MAX_BODY_MB: whole({
    default: 32,
    minimum: 1,
    maximum: 512,
    description: 'Largest request body, before and after decompression; a larger one is answered 413.',
  }),
  // At most 256, like COMMIT_MAX_MB: an insert stores all or nothing as long as ClickHouse takes it as one block.
  MAX_ENCODED_MB: whole({
    default: 64,
    minimum: 1,
    maximum: 256,
    description:
      'Most data that one request may store; with more it is answered 413. Twice `MAX_BODY_MB` suits: rows take more than a body where ' +
      'spans share an OpenTelemetry resource, which is stored with each of them, and where JSON needs escapes. The embedded ClickHouse needs ' +
      'eight times as much memory (`ENGINE_MEMORY_MB`).',
  }),
  MAX_TAG_BYTES: whole({
    default: 262_144,
    minimum: 1024,
    maximum: 536_870_912,
    description:
      'Most bytes that the keys and values of one `tags`, `trace_tags` or `session_tags` may have together; with more, ' +
      'a request is answered 422, and OTLP refuses that span alone. All tags of a trace are held in memory together.',
  }),
  BODY_MEMORY_MB: whole({
    default: 128,
    minimum: 1,
    maximum: 65_536,
    description:
      'Memory for request bodies sent with an API key, and for OTLP messages over gRPC; one project may use as much as is ' +
      'left free, so half when it is the only one. Requests beyond that are answered 429. At least four times `MAX_BODY_MB` is used.',
  }),
  PUBLIC_BODY_MEMORY_MB: whole({
    default: 16,
    minimum: 8,
    maximum: 65_536,
    description:
      'Memory for request bodies sent without an API key, which are reviews at feedback links; one address may use as much as is ' +
      'left free. Requests beyond that are answered 429.',
  }),
  HEADERS_TIMEOUT_SECONDS: whole({
    default: 15,
    minimum: 1,
    maximum: 600,
    description: 'Longest time that the headers of a request may take to arrive; a slower one is answered 408.',
  }),
  UPLOAD_TIMEOUT_SECONDS: whole({
    default: 60,
    minimum: 1,
    maximum: 3600,
    description: 'Longest time that a request body may take to arrive; a slower one is answered 408.',
  }),
  UPLOAD_MIN_BYTES_PER_SECOND: whole({
    default: 1024,
    minimum: 0,
    maximum: 1_073_741_824,
    description:
      'Lowest rate at which a request body may arrive. A slower one is answered 408, unless it is so small that it would be whole ' +
      'within `UPLOAD_TIMEOUT_SECONDS` all the same. 0: no limit.',
  }),
  UPLOAD_WINDOW_SECONDS: whole({
    default: 5,
    minimum: 1,
    maximum: 600,
    description:
      'Seconds over which the rate of `UPLOAD_MIN_BYTES_PER_SECOND` is measured; the first ones are not checked.',
  }),
  MAX_CONNECTIONS: whole({
    default: 4096,
    minimum: 16,
    maximum: 1_000_000,
    description:
      'Most open connections, for HTTP and for gRPC each; one address (a /64 of IPv6) may have as many as are left ' +
      'free, so half when it is the only one. More are answered 503 over HTTP and closed over gRPC.',
  }),
  OTLP_GRPC_CALLS_AT_ONCE: whole({
    default: 64,
    minimum: 2,
    maximum: 100_000,
    description:
      'Most gRPC calls served at once; one project may have as many as are left free, and one connection half of them. ' +
      'More are refused with RESOURCE_EXHAUSTED.',
  }),
  ENGINE_MEMORY_MB: whole({
    default: 2048,
    minimum: 512,
    maximum: 1_048_576,
    description: 'Memory limit of the process of the embedded ClickHouse, caches included.',
  }),
  RETENTION_INTERVAL_SECONDS: whole({
    default: 3600,
    minimum: 0,
    maximum: 86_400,
    description:
      'How often the server looks for traces that are older than their project keeps them (`retention_days`), and removes them. ' +
      '0: never.',
  }),
  DISK_RESERVE_MB: whole({
    default: 32,
    minimum: 8,
    maximum: 65_536,
    description:
      'Disk space that is kept in reserve for the embedded ClickHouse, so that everything stored can be read when the disk is full. ' +
      'Writes are then answered 503, until twice this much is free again.',
  }),
  COMMIT_MAX_ROWS: whole({
    default: 10_000,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Most spans in one group commit, which stores the spans of concurrent requests together.',
  }),
  COMMIT_MAX_MB: whole({
    default: 32,
    minimum: 1,
    maximum: 256,
    description: 'Most data in one group commit, unless a single request has more.',
  }),
  COMMIT_WAIT_MS: whole({
    default: 3,
    minimum: 0,
    maximum: 1000,
    description:
      'Milliseconds that a group commit waits for more requests; after a slow commit, a quarter of the time that one took. 0: no wait.',
  }),
  QUEUE_MAX_MB: whole({
    default: 128,
    minimum: 1,
    maximum: 65_536,
    description:
      'Most data of spans waiting for their group commit; one project may have as much as is left free, so half when it is the only one. ' +
      'Writes beyond that are answered 429 with `Retry-After`.',
  }),
  READ_TIMEOUT_SECONDS: whole({
    default: 30,
    minimum: 1,
    maximum: 3600,
    description: 'Longest time that one query to ClickHouse may take; a longer one is answered 503.',
  }),
  READ_MAX_RESULT_MB: whole({
    default: 256,
    minimum: 1,
    maximum: 65_536,
    description: 'Largest result of one query to ClickHouse; a larger one is answered 503.',
  }),
  READS_AT_ONCE: whole({
    default: 6,
    minimum: 2,
    maximum: 1000,
    description:
      'Most queries to ClickHouse at once; the embedded ClickHouse works on 6 at a time. Waiting projects are served in ' +
      'turn.',
  }),
  READS_PER_PROJECT: whole({
    default: 4,
    minimum: 1,
    maximum: 1000,
    description: 'Most queries counted by `READS_AT_ONCE` for one project; at most one fewer than that.',
  }),
  ANSWERS_AT_ONCE: whole({
    default: 32,
    minimum: 2,
    maximum: 10_000,
    description:
      'Most answers with lists of spans, traces or sessions at once, each until its client has it whole: one may hold up to ' +
      '`READ_MAX_RESULT_MB` in memory. Waiting projects are served in turn.',
  }),
  ANSWERS_PER_PROJECT: whole({
    default: 8,
    minimum: 1,
    maximum: 10_000,
    description: 'Most answers counted by `ANSWERS_AT_ONCE` for one project; at most one fewer than that.',
  }),
  READ_WAIT_SECONDS: whole({
    default: 10,
    minimum: 1,
    maximum: 3600,
    description:
      'Longest time that a read waits for its turn when `READS_AT_ONCE`, `READS_PER_PROJECT`, `ANSWERS_AT_ONCE` or `ANSWERS_PER_PROJECT` is reached; then it is answered 429 with `Retry-After`.',
  }),
  READS_WAITING_PER_PROJECT: whole({
    default: 256,
    minimum: 1,
    maximum: 100_000,
    description: 'Most reads of one project that wait for their turn; more are answered 429 at once.',
  }),
  ANSWER_MIN_BYTES_PER_SECOND: whole({
    default: 16_384,
    minimum: 0,
    maximum: 1_073_741_824,
    description: 'Lowest rate at which a client may receive an answer; a slower one is cut off. 0: no limit.',
  }),
  ANSWER_WINDOW_SECONDS: whole({
    default: 10,
    minimum: 1,
    maximum: 600,
    description:
      'Seconds over which the rate of `ANSWER_MIN_BYTES_PER_SECOND` is measured; the first ones are not checked.',
  }),
  SHUTDOWN_TIMEOUT_SECONDS: whole({
    default: 9,
    minimum: 1,
    maximum: 600,
    description: 'Longest time that a graceful shutdown may take before the process ends anyway.',
  }),
});

/** The settings as read: coerced, with defaults, still flat. */
export type Settings = Static<typeof settings>;
export type SettingName = keyof Settings;

/** One setting as its definition states it. */
export type SettingDefinition = TSchema & Words & { default?: string | number };

/** Every setting with its name, in the order of the documentation. */
export const settingDefinitions: readonly (readonly [SettingName, SettingDefinition])[] = Object.entries(
  settings.properties satisfies TProperties,
) as unknown as [SettingName, SettingDefinition][];

/** The rule for values of a setting, in words that follow "must". */
export function expectation(definition: SettingDefinition): string {
  if (definition.must !== undefined) return definition.must;
  if (definition.type === 'integer') {
    return `be a whole number from ${String(definition['minimum'])} to ${String(definition['maximum'])}`;
  }
  if (Array.isArray(definition['enum'])) return `be one of ${definition['enum'].join(', ')}`;
  return 'be a text';
}
