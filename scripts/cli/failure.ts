import type { Problem } from '../transfer/problem.js';
import { RefusedError, UnansweredError } from '../transfer/remote.js';
import { KEY_VARIABLE } from '../client-options.js';
import { jsonLineOf, printableLines } from '../output.js';
import { FlagError, flagName } from './flags.js';

/** What a command ends with. */
export const EXIT = { done: 0, refused: 1, usage: 2, notAllowed: 3, notFound: 4, unavailable: 5 } as const;

/** Something that a command was not given, or given wrongly. */
export class UsageError extends Error {}

/** Why a command failed. */
interface Failure {
  readonly code: keyof typeof EXIT;
  /** HTTP status, where the server answered. */
  readonly status?: number;
  readonly detail: string;
  readonly errors?: Problem['errors'];
  /** What to do. */
  readonly next: string;
}

const HELP = 'Add --help to see the arguments and flags of the command.';

/** Says why a command failed and what to do, for programs as JSON, and ends it with its exit code. */
export function fail(error: unknown, asJson: boolean): void {
  const failure = failureOf(error);
  const { code, detail, next } = failure;
  process.stderr.write(asJson ? jsonLineOf({ error: failure }) : `${printableLines(detail)}\n${next}\n`);
  process.exitCode = EXIT[code];
}

function failureOf(error: unknown): Failure {
  if (error instanceof RefusedError) return refused(error);
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError || error instanceof FlagError) return { code: 'usage', detail, next: HELP };
  const next =
    error instanceof UnansweredError
      ? 'Set the server with --url or SPANHOUSE_URL. By default, commands use the server on this machine.'
      : 'Check the address of the server (--url or SPANHOUSE_URL), and try again.';
  return { code: 'unavailable', detail, next };
}

function refused({ problem }: RefusedError): Failure {
  const { status = 0, errors } = problem;
  const detail = detailOf(problem);
  const answered = { status, detail, ...(errors !== undefined && { errors }) };
  if (status === 401)
    return {
      code: 'notAllowed',
      ...answered,
      next: `Give a valid key with --key or ${KEY_VARIABLE}; \`spanhouse admin create-key\` creates one.`,
    };
  if (status === 403)
    return { code: 'notAllowed', ...answered, next: 'Use a key of this project whose access allows the call.' };
  if (status === 404)
    return {
      code: 'notFound',
      ...answered,
      next: 'Check the id or name: the command that lists such objects shows it.',
    };
  if (status === 429 || status >= 500) return { code: 'unavailable', ...answered, next: 'Try again later.' };
  return { code: 'refused', ...answered, next: HELP };
}

/** What is wrong, with flags in place of the names of parameters. */
function detailOf({ detail = 'The server refused the request', errors = [] }: Problem): string {
  if (errors.length === 0) return detail;
  return errors.map(({ pointer, detail: rule }) => `${asFlag(pointer)} ${rule}`).join('\n');
}

function asFlag(pointer: string): string {
  if (pointer.startsWith('?')) return flagName(pointer.slice(1));
  return pointer.replace(/^\{(.*)\}$/, '<$1>');
}
