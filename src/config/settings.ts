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
    description: 'Port of the one listener. 4318 is the OTLP/HTTP port; 0 takes any free one.',
  }),
  HOST: text({
    default: '127.0.0.1',
    description: 'Address to listen on. `0.0.0.0` opens the server to the network.',
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
      description: 'Base of every URL handed out; set it when the server is behind a proxy.',
    }),
  ),
  TRUSTED_PROXIES: whole({
    default: 0,
    minimum: 0,
    maximum: 10,
    description:
      'How many proxies of yours are in front of the server. That many entries at the end of `X-Forwarded-For` are believed when requests to pages of feedback links are limited by address.',
  }),
  DATA_DIR: text({
    default: './data',
    description: 'Where everything is kept: the embedded ClickHouse, the SQLite file, attachments.',
  }),
  CLICKHOUSE_URL: Type.Optional(
    text({
      // A path would be taken for the name of a database.
      pattern: '^https?://[^\\s/?#]+/?$',
      must: "be the http:// or https:// URL of ClickHouse's HTTP port without a path, such as http://localhost:8123",
      description: 'Unset: the embedded engine. Set: that ClickHouse server or cluster, over HTTP.',
    }),
  ),
  CLICKHOUSE_USER: text({ default: 'default', description: 'User on that server.' }),
  CLICKHOUSE_PASSWORD: Type.Optional(text({ secret: true, description: 'Password on that server.' })),
  CLICKHOUSE_DATABASE: text({
    default: 'spanhouse',
    pattern: IDENTIFIER,
    must: 'be a name of letters, digits and underscores that does not start with a digit',
    description: 'Database on that server; created when missing.',
  }),
  CLICKHOUSE_CLUSTER: Type.Optional(
    text({
      pattern: '^(\\{[a-z_]+\\}|[A-Za-z0-9_.-]+)$',
      must: 'be the name of a cluster as `system.clusters` shows it',
      description: 'Cluster to create the tables on, replicated. Needs `CLICKHOUSE_URL`.',
    }),
  ),
  CLICKHOUSE_LEASE_SECONDS: whole({
    default: 15,
    minimum: 2,
    maximum: 3600,
    description:
      'A server that writes to that database and is not heard of for so long is taken for dead: another one may then take its place. It is heard of five times as often. Only with `CLICKHOUSE_URL`.',
  }),
  SPANHOUSE_INIT_PROJECT_ID: Type.Optional(
    text({
      pattern: UUID,
      must: 'be a UUID',
      description: 'Project that must exist after the start (created when missing). Together with the key below.',
    }),
  ),
  SPANHOUSE_INIT_API_KEY: Type.Optional(
    text({
      pattern: '^[!-~]{8,256}$',
      must: 'be 8 to 256 printable ASCII characters without spaces',
      secret: true,
      description: 'API key of that project that must exist after the start (created when missing).',
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
    description: 'What is logged: this level and everything more important.',
  }),
  LOG_FORMAT: Type.Optional(
    choice(['pretty', 'json'], {
      defaultText: '`pretty` on a terminal, else `json`',
      description: 'How log lines look. They go to standard output.',
    }),
  ),
  ATTACHMENT_FETCH_HOSTS: text({
    default: '',
    pattern: `^(${HOST_AND_PORT}(\\s*,\\s*${HOST_AND_PORT})*)?$`,
    must: 'be host names, each with a port unless it is the default one, separated by commas',
    defaultText: 'none',
    description:
      'Hosts whose images are copied when a span names them by URL, such as `images.example.com,cdn.example.com:8443`. ' +
      'Nothing is fetched from any other host, nor from a private address.',
  }),
  S3_BUCKET: Type.Optional(
    text({
      pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
      must: 'be the name of a bucket',
      description:
        'Bucket for attachments, one for each server; unset: `DATA_DIR/attachments`. Credentials come from where the ' +
        'AWS SDK looks for them.',
    }),
  ),
  S3_ENDPOINT: Type.Optional(
    text({
      pattern: HTTP_URL,
      must: 'be the http:// or https:// URL of a server that speaks S3',
      defaultText: 'that of Amazon',
      description: 'Where the bucket is.',
    }),
  ),
  S3_REGION: text({ default: 'us-east-1', description: 'Region of the bucket.' }),
  S3_FORCE_PATH_STYLE: choice(['true', 'false'], {
    default: 'false',
    description:
      'Whether the bucket is named in the path instead of the host name, as many S3-compatible servers want it.',
  }),
  JUDGE_LLM_BASE_URL: Type.Optional(
    text({
      pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$',
      must: 'be an http:// or https:// URL without user, query or fragment, such as https://api.openai.com/v1',
      description:
        'Endpoint that judges ask: its address before `/chat/completions`, of OpenAI or of any server that speaks its ' +
        'API. Unset: judges do not run.',
    }),
  ),
  JUDGE_LLM_API_KEY: Type.Optional(
    text({
      pattern: '^[!-~]+$',
      must: 'be printable ASCII characters without spaces',
      secret: true,
      description: 'API key of that endpoint, when it wants one.',
    }),
  ),
  JUDGE_LLM_MODEL: Type.Optional(
    text({
      pattern: '^[^\\u0000-\\u001f]{1,512}$',
      must: 'be the name of a model',
      description: 'Model that is asked when neither the judge nor the version of its prompt names one.',
    }),
  ),
  JUDGE_LLM_TIMEOUT_SECONDS: whole({
    default: 60,
    minimum: 1,
    maximum: 3600,
    description: 'Longest time one call of that endpoint may take.',
  }),
  JUDGE_CONCURRENCY: whole({
    default: 4,
    minimum: 1,
    maximum: 1000,
    description: 'Calls of that endpoint under way at once.',
  }),
  JUDGE_RATE_PER_MINUTE: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      defaultText: 'no limit',
      description: 'Calls of that endpoint in a minute.',
    }),
  ),
  JUDGE_MAX_ATTEMPTS: whole({
    default: 6,
    minimum: 1,
    maximum: 100,
    description: 'How often an evaluation is tried while the endpoint is overloaded, fails or does not answer.',
  }),
  JUDGE_QUEUE_MAX: whole({
    default: 20_000,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Evaluations waiting. While there are so many, new spans of projects that have an equal share of them waiting are left for later; none is lost.',
  }),
  JUDGE_MAX_CHARACTERS: whole({
    default: 60_000,
    minimum: 1000,
    maximum: 10_000_000,
    description: 'Of an input or output longer than this, judges are not shown the middle.',
  }),
  JUDGE_MAX_ANSWER_CHARACTERS: whole({
    default: 1_000_000,
    minimum: 1000,
    maximum: 8_000_000,
    description: 'Of an answer of a model longer than this, the rest is left out.',
  }),
  JUDGE_MAX_ANSWER_MB: whole({
    default: 8,
    minimum: 1,
    maximum: 64,
    description: 'An answer of the endpoint that is larger is read no further, and its evaluation fails.',
  }),
  JUDGE_EXAMPLE_TOKENS: whole({
    default: 4000,
    minimum: 0,
    maximum: 1_000_000,
    description:
      'Tokens, estimated, that corrections by people may take in one evaluation. 0: judges are not shown any.',
  }),
  JOBS_AT_ONCE: whole({
    default: 8,
    minimum: 1,
    maximum: 1000,
    description: 'Calibration trials and optimisations under way at once; projects take turns.',
  }),
  JOBS_PER_PROJECT: whole({
    default: 2,
    minimum: 1,
    maximum: 1000,
    description: 'Of these, at most so many are of one project.',
  }),
  JOB_MAX_ATTEMPTS: whole({
    default: 20,
    minimum: 1,
    maximum: 1000,
    description:
      'How often a job (also one that prices spans anew) is tried while a store does not answer and nothing of it gets done.',
  }),
  REVIEW_TEXT_MAX_CHARACTERS: whole({
    default: 16_000,
    minimum: 100,
    maximum: 100_000,
    description:
      'Longest text that a reviewer may send by a feedback link, as a reason or as a better answer; a longer one is ' +
      'answered 422. Bodies there may be as large as their fields can become; beyond it, 413.',
  }),
  REVIEW_MAX_REVIEWERS: whole({
    default: 1000,
    minimum: 4,
    maximum: 100_000,
    description:
      'Reviewers of one feedback link. One network (an address, or a /48 of IPv6) has at most as many as are left free, so ' +
      'half when it comes alone; more are answered 422.',
  }),
  REVIEW_MAX_MB: whole({
    default: 64,
    minimum: 1,
    maximum: 65_536,
    description: 'All that the reviewers of one feedback link said, shared in the same way.',
  }),
  REVIEW_REQUESTS_PER_MINUTE: whole({
    default: 600,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Requests for one feedback link; beyond it, 429.',
  }),
  REVIEW_ADDRESS_REQUESTS_PER_MINUTE: whole({
    default: 300,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Of one address for feedback links, which may be an office full of reviewers; beyond it, 429.',
  }),
  MAX_BODY_MB: whole({
    default: 32,
    minimum: 1,
    maximum: 512,
    description: 'Largest request body, also after decompression; a larger one is answered 413.',
  }),
  // At most 256, like COMMIT_MAX_MB: an insert stores all or nothing as long as ClickHouse takes it as one block.
  MAX_ENCODED_MB: whole({
    default: 64,
    minimum: 1,
    maximum: 256,
    description:
      'Most that one request may write; beyond it, 413. Twice `MAX_BODY_MB` suits: rows take more than a body where ' +
      'spans share a resource, which each of them holds, and where JSON needs escapes. The embedded engine needs ' +
      'eight times as much memory.',
  }),
  MAX_TAG_BYTES: whole({
    default: 262_144,
    minimum: 1024,
    maximum: 536_870_912,
    description:
      'Most that the keys and values of one `tags`, `trace_tags` or `session_tags` may have together, in bytes; with more ' +
      'a request is answered 422, and by OTLP that span alone is refused. All tags of a trace are in memory together.',
  }),
  BODY_MEMORY_MB: whole({
    default: 128,
    minimum: 1,
    maximum: 65_536,
    description:
      'Request bodies with an API key in work together, and OTLP messages over gRPC; one project has at most as much as is ' +
      'left free, so half when it comes alone. Beyond it, 429. Four times `MAX_BODY_MB` when less is set.',
  }),
  PUBLIC_BODY_MEMORY_MB: whole({
    default: 16,
    minimum: 8,
    maximum: 65_536,
    description:
      'The same for bodies without a key, which are reviews at feedback links, besides; one address has at most as much as is ' +
      'left free.',
  }),
  HEADERS_TIMEOUT_SECONDS: whole({
    default: 15,
    minimum: 1,
    maximum: 600,
    description: 'How long the headers of a request may take to arrive; beyond it, 408.',
  }),
  UPLOAD_TIMEOUT_SECONDS: whole({
    default: 60,
    minimum: 1,
    maximum: 3600,
    description: 'How long a body may take to arrive; beyond it, 408.',
  }),
  UPLOAD_MIN_BYTES_PER_SECOND: whole({
    default: 1024,
    minimum: 0,
    maximum: 1_073_741_824,
    description:
      'Bodies that come more slowly are answered 408, unless they are so small that they would be there in time all the ' +
      'same. 0: none are.',
  }),
  UPLOAD_WINDOW_SECONDS: whole({
    default: 5,
    minimum: 1,
    maximum: 600,
    description: 'Over how long that rate is taken. The first such time is not looked at.',
  }),
  MAX_CONNECTIONS: whole({
    default: 4096,
    minimum: 16,
    maximum: 1_000_000,
    description:
      'Connections open at once, of HTTP and of gRPC each; one address (or /64 of IPv6) has at most as many as are left ' +
      'free, so half when it comes alone. Beyond it, 503, or they are closed.',
  }),
  OTLP_GRPC_CALLS_AT_ONCE: whole({
    default: 64,
    minimum: 2,
    maximum: 100_000,
    description:
      'Calls over gRPC in work together; one project has at most as many as are left free, and one connection half of them. ' +
      'Beyond it, a call is refused as overload.',
  }),
  ENGINE_MEMORY_MB: whole({
    default: 2048,
    minimum: 512,
    maximum: 1_048_576,
    description: 'Memory cap of the embedded engine process, caches included.',
  }),
  DISK_RESERVE_MB: whole({
    default: 32,
    minimum: 8,
    maximum: 65_536,
    description:
      'Room that is kept on the disk of the embedded engine, so that everything stored can be read when the disk is full. ' +
      'Then writes are answered 503, until there is twice as much again.',
  }),
  COMMIT_MAX_ROWS: whole({
    default: 10_000,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Spans of concurrent requests are committed together, at most this many at once.',
  }),
  COMMIT_MAX_MB: whole({
    default: 32,
    minimum: 1,
    maximum: 256,
    description: 'At most this much in one commit, unless a single request writes more.',
  }),
  COMMIT_WAIT_MS: whole({
    default: 3,
    minimum: 0,
    maximum: 1000,
    description:
      'How long a commit lingers for more requests, in milliseconds; behind a slow commit a quarter of its time. 0: never.',
  }),
  QUEUE_MAX_MB: whole({
    default: 128,
    minimum: 1,
    maximum: 65_536,
    description:
      'Spans waiting for their commit; one project has at most as much as is left free, so half when it comes alone. ' +
      'Beyond it, 429 with `Retry-After`.',
  }),
  READ_TIMEOUT_SECONDS: whole({
    default: 30,
    minimum: 1,
    maximum: 3600,
    description: 'Longest time one read may take; beyond it, 503.',
  }),
  READ_MAX_RESULT_MB: whole({
    default: 256,
    minimum: 1,
    maximum: 65_536,
    description: 'Largest result of one read; beyond it, 503.',
  }),
  READS_AT_ONCE: whole({
    default: 6,
    minimum: 2,
    maximum: 1000,
    description:
      'Statements that read for projects at once; the embedded engine works on 6. Projects that wait are served in ' +
      'rotation.',
  }),
  READS_PER_PROJECT: whole({
    default: 4,
    minimum: 1,
    maximum: 1000,
    description: 'Of these, for one project; at most one fewer than all.',
  }),
  ANSWERS_AT_ONCE: whole({
    default: 32,
    minimum: 2,
    maximum: 10_000,
    description:
      'Lists of spans, traces and sessions under way at once, until the client has the whole answer: each may hold up to ' +
      '`READ_MAX_RESULT_MB` in memory. Projects that wait are served in rotation.',
  }),
  ANSWERS_PER_PROJECT: whole({
    default: 8,
    minimum: 1,
    maximum: 10_000,
    description: 'Of these, for one project; at most one fewer than all.',
  }),
  READ_WAIT_SECONDS: whole({
    default: 10,
    minimum: 1,
    maximum: 3600,
    description: 'How long a read waits for its turn by these four; beyond it, 429 with `Retry-After`.',
  }),
  READS_WAITING_PER_PROJECT: whole({
    default: 256,
    minimum: 1,
    maximum: 100_000,
    description: 'How many reads of one project may wait so; beyond it, 429 at once.',
  }),
  ANSWER_MIN_BYTES_PER_SECOND: whole({
    default: 16_384,
    minimum: 0,
    maximum: 1_073_741_824,
    description: 'An answer that its client takes more slowly is cut off. 0: none is.',
  }),
  ANSWER_WINDOW_SECONDS: whole({
    default: 10,
    minimum: 1,
    maximum: 600,
    description: 'Over how long that rate is taken. The first such time is not looked at.',
  }),
  SHUTDOWN_TIMEOUT_SECONDS: whole({
    default: 9,
    minimum: 1,
    maximum: 600,
    description: 'How long a graceful stop may take before the process ends anyway.',
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
