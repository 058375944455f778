import { distance } from 'fastest-levenshtein';
import type { Environment } from './env.js';
import { settingDefinitions } from './settings.js';

const SETTINGS: readonly string[] = settingDefinitions.map(([name]) => name);

/** Variables of clients of the server: of the README, the manual, the demo and transfers, with the key's old name. */
const OF_CLIENTS = ['SPANHOUSE_KEY', 'SPANHOUSE_API_KEY', 'SPANHOUSE_PROJECT', 'SPANHOUSE_URL'];
const KNOWN: ReadonlySet<string> = new Set([...SETTINGS, ...OF_CLIENTS]);

/** Settings of earlier versions, and what took their place. */
export const REMOVED_SETTINGS: Readonly<Record<string, string>> = {
  COMMIT_WAIT_MS: 'commits no longer wait for more requests, as the write-ahead log takes small ones',
  MAX_ENCODED_MB: 'what a request may store follows MAX_BODY_MB',
  READS_PER_PROJECT: 'one project has two thirds of READS_AT_ONCE',
  JUDGE_MAX_ATTEMPTS: 'evaluations are attempted six times',
  REVIEW_REQUESTS_PER_MINUTE: 'a feedback link takes 600 requests per minute',
  ...Object.fromEntries(
    [
      ...['ANSWERS_AT_ONCE', 'ANSWERS_PER_PROJECT', 'ANSWER_MIN_BYTES_PER_SECOND', 'ANSWER_WINDOW_SECONDS'],
      ...['COMMIT_MAX_MB', 'COMMIT_MAX_ROWS', 'HEADERS_TIMEOUT_SECONDS', 'JOBS_PER_PROJECT', 'JOB_MAX_ATTEMPTS'],
      ...['JUDGE_MAX_ANSWER_CHARACTERS', 'JUDGE_MAX_ANSWER_MB', 'JUDGE_QUEUE_MAX', 'MAX_TAG_BYTES'],
      ...['OTLP_GRPC_CALLS_AT_ONCE', 'PUBLIC_BODY_MEMORY_MB', 'READS_WAITING_PER_PROJECT', 'READ_WAIT_SECONDS'],
      ...['REVIEW_ADDRESS_REQUESTS_PER_MINUTE', 'REVIEW_MAX_MB', 'REVIEW_MAX_REVIEWERS', 'REVIEW_TEXT_MAX_CHARACTERS'],
      ...['UPLOAD_MIN_BYTES_PER_SECOND', 'UPLOAD_TIMEOUT_SECONDS', 'UPLOAD_WINDOW_SECONDS'],
    ].map((name) => [name, 'this limit is fixed; "Know the limits" in the manual has it']),
  ),
};

/** Variables that begin so are meant for this server; with the other beginnings of settings, others have variables, too. */
const OURS = /^(SPANHOUSE|JUDGE_LLM)_/;
/** Variables of OpenTelemetry, which its libraries read or others on the machine are meant by. */
const OF_OPENTELEMETRY = /^OTEL_/;
/** What Kubernetes and Docker tell of services that are named like that. */
const OF_SERVICES = { name: /_SERVICE_(HOST|PORT)|_PORT_\d+_(TCP|UDP|SCTP)/, value: /^(tcp|udp|sctp):\/\// };

/** Sentences about variables that look like settings and are none. */
export function unknownVariables(env: Environment): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (KNOWN.has(name) || OF_OPENTELEMETRY.test(name) || OF_SERVICES.name.test(name) || OF_SERVICES.value.test(value))
      return [];
    if (REMOVED_SETTINGS[name] !== undefined) return [`${name} no longer has any effect: ${REMOVED_SETTINGS[name]}`];
    const near = nearestSetting(name);
    if (near !== undefined) return [`${name} is not a Spanhouse setting; did you mean ${near}?`];
    return OURS.test(name) ? [`${name} is not a Spanhouse setting; \`npm start -- --help\` lists all settings`] : [];
  });
}

/** The setting of the same beginning that is nearest; undefined when none is near. */
function nearestSetting(name: string): string | undefined {
  const words = name.split('_');
  if (words.length === 1) return undefined;
  const candidates = SETTINGS.flatMap((setting) => {
    const wanted = setting.split('_');
    if (words[0] === wanted[0] && wanted.length > 1)
      return [{ setting, far: farness(words.slice(1), wanted.slice(1)) }];
    // As in SPANHOUSE_PORT.
    return words[0] === 'SPANHOUSE' ? [{ setting, far: farness(words.slice(1), wanted) }] : [];
  });
  candidates.sort((left, right) => left.far - right.far);
  const [nearest] = candidates;
  return nearest === undefined || nearest.far === Infinity ? undefined : nearest.setting;
}

/** How far words are from those of a setting. Where a setting has all of them, what it has besides counts for little. */
function farness(words: readonly string[], wanted: readonly string[]): number {
  const [given, meant] = [words.join(''), wanted.join('')];
  const edits = distance(given, meant);
  if (words.every((word) => wanted.includes(word))) return edits / 1000;
  return edits <= Math.max(1, given.length / 3) ? edits : Infinity;
}
