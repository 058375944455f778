/** Codes of ClickHouse's ErrorCodes.cpp that this code base names. */
export const ErrorCode = {
  cannotReadAllData: 33,
  syntaxError: 62,
  unknownSetting: 115,
  timeoutExceeded: 159,
  tooSlow: 160,
  tooManyRows: 158,
  readonly: 164,
  unknownDatabase: 81,
  tooManySimultaneousQueries: 202,
  timeoutOfSocket: 209,
  aborted: 236,
  memoryLimitExceeded: 241,
  tooManyBytes: 307,
  queryWasCancelled: 394,
  tooManyRowsOrBytes: 396,
  unknownQueryParameter: 456,
  badQueryParameter: 457,
  authenticationFailed: 516,
} as const;

/** A failure as ClickHouse words it: `Code: 62. DB::Exception: … (SYNTAX_ERROR)`. */
export class EngineError extends Error {
  readonly code: number;

  constructor(code: number, text: string, options?: ErrorOptions) {
    super(text, options);
    this.name = 'EngineError';
    this.code = code;
  }

  /** Builds an error in ClickHouse's own wording. */
  static of(code: number, detail: string, type: string): EngineError {
    return new EngineError(code, `Code: ${code}. DB::Exception: ${detail} (${type})`);
  }

  /** Wraps what the addon threw; its message is ClickHouse's text. */
  static from(cause: unknown): EngineError {
    if (cause instanceof EngineError) return cause;
    const text = cause instanceof Error ? cause.message : String(cause);
    const code = /^Code: (\d+)/.exec(text)?.[1];
    if (code !== undefined) return new EngineError(Number(code), text, { cause });
    return new EngineError(1002, `Code: 1002. DB::Exception: ${text} (UNKNOWN_EXCEPTION)`, { cause });
  }
}

const STATUS: ReadonlyMap<number, number> = new Map([
  [ErrorCode.syntaxError, 400],
  [ErrorCode.unknownSetting, 404],
  [47, 404], // UNKNOWN_IDENTIFIER
  [46, 404], // UNKNOWN_FUNCTION
  [60, 404], // UNKNOWN_TABLE
  [ErrorCode.unknownDatabase, 404],
  [ErrorCode.unknownQueryParameter, 400],
  [ErrorCode.badQueryParameter, 400],
  [26, 400],
  [27, 400], // CANNOT_PARSE_*
  [38, 400],
  [41, 400],
  [43, 400], // ILLEGAL_TYPE_OF_ARGUMENT
  [53, 400], // TYPE_MISMATCH
  [72, 400],
  [117, 400], // INCORRECT_DATA
  [ErrorCode.timeoutExceeded, 408],
  [ErrorCode.readonly, 403],
  [ErrorCode.authenticationFailed, 403],
  [ErrorCode.tooManySimultaneousQueries, 503],
  [ErrorCode.aborted, 503],
  [48, 501], // NOT_IMPLEMENTED
]);

/** The HTTP status ClickHouse's own front gives to an error code, as far as a client could notice. */
export function statusOf(code: number): number {
  return STATUS.get(code) ?? 500;
}
