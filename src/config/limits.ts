/** A megabyte here is 2^20 bytes. */
export const MEGABYTE = 1024 * 1024;

/**
 * What bounds each client, project and task, and suits every installation. What an operator decides is a setting; these are
 * not, so that there are fewer to read. Tests set others.
 */
export const LIMITS = {
  /** For the headers of a request to arrive; slower ones get 408. */
  headersTimeoutMs: 15_000,
  /** For a body; one that arrives slower than the rate gets 408 sooner, unless it is small. */
  uploadTimeoutMs: 60_000,
  uploadMinBytesPerSecond: 1024,
  /** Over which the rate is measured; the first of these is not. */
  uploadWindowMs: 5_000,
  /** For bodies without an API key, which are reviews at feedback links; one address may use what is left free. */
  publicBodyMemoryBytes: 16 * MEGABYTE,
  /** One project may have what is left free, one connection half; others get RESOURCE_EXHAUSTED. */
  grpcCallsAtOnce: 64,
  /**
   * Encoded size of what one request stores, in bodies of the largest size: rows are larger where spans share an
   * OpenTelemetry resource, which is stored with each, or where JSON needs escapes.
   */
  encodedPerBody: 2,
  /** As much at least, whatever bodies may have. */
  leastEncodedBytes: 64 * MEGABYTE,
  /** Keys and values of one `tags`, in bytes: those of all spans of a trace are held in memory together. */
  tagBytes: 262_144,
  /** One group commit, and one insert into ClickHouse, unless a single request is larger. */
  commitRows: 10_000,
  commitBytes: 32 * MEGABYTE,
  /** Of the reads at once, for one project; the rest is left for others. */
  readsShareOfProject: 2 / 3,
  /** Lists, each until its client has received it; one may hold `READ_MAX_RESULT_MB`. */
  answersAtOnce: 32,
  answersOfProject: 8,
  /** Answers of up to 8 MB that are put together in memory, where they take several times as much. */
  gatheredAtOnce: 4,
  gatheredOfProject: 2,
  /** How long and how many of one project wait for their turn; then 429. */
  readWaitMs: 10_000,
  readsWaitingOfProject: 256,
  /** A client that takes a response slower is disconnected, once a window has passed. */
  answerMinBytesPerSecond: 16_384,
  answerWindowMs: 10_000,
  /** Attempts at an evaluation while the model's endpoint is overloaded or fails. */
  judgeAttempts: 6,
  /** Evaluations that wait; while they are so many, projects with their share of them queue new spans later. */
  judgeQueue: 20_000,
  /** A longer answer of a model is cut; a larger response fails the call. */
  modelAnswerCharacters: 1_000_000,
  modelAnswerBytes: 8 * MEGABYTE,
  jobsOfProject: 2,
  /** Attempts at a job that makes no progress because a store does not respond. */
  jobAttempts: 20,
  /** Of one feedback link: its reviewers, of whom one network may have what is left free, and their texts. */
  reviewers: 1000,
  reviewBytes: 64 * MEGABYTE,
  reviewTextCharacters: 16_000,
  reviewRequestsPerMinute: 600,
  /** From one address, which may be an office full of reviewers. */
  reviewRequestsPerMinuteOfAddress: 300,
};
export type Limits = typeof LIMITS;
