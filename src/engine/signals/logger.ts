import winston from 'winston';
import type { LogConfig } from '../../config/config.js';

export type LogFields = Readonly<Record<string, unknown>>;

/** Logging for the rest of the program: a message that never changes, and fields that do. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to every line, such as `request_id`. */
  child(fields: LogFields): Logger;
}

/**
 * A logger to standard output: one JSON object per line, or colored lines for people. Secrets are taken out of
 * fields and texts before anything is written.
 */
export function createLogger(config: LogConfig, stream?: NodeJS.WritableStream): Logger {
  const { combine, timestamp, json } = winston.format;
  const clean = winston.format((info) => Object.assign(info, redact(info) as object))();
  const output = config.format === 'json' ? json() : pretty();
  const base = winston.createLogger({
    level: config.level === 'silent' ? 'error' : config.level,
    silent: config.level === 'silent',
    format: combine(timestamp(), clean, output),
    transports: [stream === undefined ? new winston.transports.Console() : new winston.transports.Stream({ stream })],
  });
  return withFields(base, {});
}

function withFields(base: winston.Logger, fixed: LogFields): Logger {
  const write = (level: string) => (message: string, fields?: LogFields) => {
    // Asked first, because winston formats lines that nobody sees.
    if (base.silent || !base.isLevelEnabled(level)) return;
    // One object, message last: given as separate arguments, winston appends a field called `message` to the text.
    base.log({ ...fixed, ...fields, level, message });
  };
  return {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    child: (fields) => withFields(base, { ...fixed, ...fields }),
  };
}

const SECRET_KEYS = /^(authorization|cookie|set-cookie|password|api_?key|token|secret|x-clickhouse-key|x-api-key)$/i;
const SECRET_TEXT = /\bsk_[A-Za-z0-9_-]+|\b(?:Bearer|Basic)\s+[^\s"',]+|(?<=:\/\/)[^\s/@:]*:[^\s/@]*(?=@)/gi;
const REDACTED = '[redacted]';
const MAX_DEPTH = 6;

/** A copy without secrets, with errors as plain objects; deep structures are cut off, cycles cannot hang it. */
function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.replace(SECRET_TEXT, REDACTED);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  if (value instanceof Error) return redact(errorFields(value), depth + 1);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, SECRET_KEYS.test(key) ? REDACTED : redact(item, depth + 1)]),
  );
}

function errorFields(error: Error): Record<string, unknown> {
  const { cause } = error;
  return {
    ...Object.fromEntries(Object.entries(error)),
    name: error.name,
    message: error.message,
    stack: error.stack,
    ...(cause === undefined ? {} : { cause }),
  };
}

function pretty(): winston.Logform.Format {
  const paint = winston.format.colorize();
  return winston.format.printf(({ level, message, timestamp, ...fields }) => {
    const time = String(timestamp).slice(11, 23);
    const { action, ...facts } = fields;
    const { stack, rest } = pullStack(facts);
    const pairs = Object.entries(rest).map(([key, item]) => ` ${key}=${shown(item)}`);
    const line = `${time} ${paint.colorize(level, level.padEnd(5))} ${String(message)}${pairs.join('')}${typeof action === 'string' ? ` → ${action}` : ''}`;
    return stack === undefined ? line : `${line}\n${harmless(stack)}`;
  });
}

/** What a terminal takes for a command, or what hides or turns around other text. */
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

function harmless(text: string): string {
  return text.replace(COMMANDS, (command) => `\\u${command.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** On a terminal a stack is read as lines below the message, not as an escaped string within it. */
function pullStack(fields: Record<string, unknown>): { stack: string | undefined; rest: Record<string, unknown> } {
  const { error, ...rest } = fields;
  if (typeof error !== 'object' || error === null || !('stack' in error)) return { stack: undefined, rest: fields };
  const { stack, name: _name, message: _message, ...others } = error as Record<string, unknown>;
  return { stack: String(stack), rest: { ...rest, ...others } };
}

function shown(item: unknown): string {
  return harmless(typeof item === 'string' && /^[^\s"=]+$/.test(item) ? item : JSON.stringify(item));
}
