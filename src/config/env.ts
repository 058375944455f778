import { Ajv, type ErrorObject } from 'ajv';
import { expectation, settingDefinitions, settings, type SettingName, type Settings } from './settings.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment holds values the server cannot start with. The message lists all of them and says what to do. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const list = problems.map((problem) => `  - ${problem}`).join('\n');
    super(
      `Spanhouse cannot start with this configuration:\n${list}\n` +
        'Correct or unset these environment variables. `npm start -- --help` lists all of them with their defaults.',
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const ajv = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true });
for (const keyword of ['must', 'defaultText', 'secret']) ajv.addKeyword(keyword);
const validate = ajv.compile<Settings>(settings);
const definitions = new Map<string, (typeof settingDefinitions)[number][1]>(settingDefinitions);

/**
 * Reads the settings out of an environment. A variable that is set but empty counts as unset (that is what
 * `VAR=` in an env file or `${VAR:-}` in a compose file means).
 * @throws ConfigError listing every problem at once; secrets are not quoted in it.
 */
export function readSettings(env: Environment): Settings {
  const given: Record<string, unknown> = {};
  for (const [name] of settingDefinitions) {
    const value = env[name]?.trim();
    if (value !== undefined && value !== '') given[name] = value;
  }
  const problems = validate(given) ? [] : invalidValues(validate.errors ?? [], env);
  problems.push(...brokenRules(given));
  if (problems.length > 0) throw new ConfigError(problems);
  return given as Settings;
}

/** One line per setting with a bad value; several errors of one value (type and pattern) are one problem. */
function invalidValues(errors: readonly ErrorObject[], env: Environment): string[] {
  const names = new Set(errors.map((error) => error.instancePath.slice(1)));
  return [...names].map((name) => {
    const definition = definitions.get(name);
    if (definition === undefined) return `${name} is invalid`;
    const found = definition.secret === true ? '' : ` (it is "${env[name] ?? ''}")`;
    return `${name} must ${expectation(definition)}${found}`;
  });
}

/** Rules between settings. */
function brokenRules(given: Readonly<Record<string, unknown>>): string[] {
  const has = (name: SettingName) => given[name] !== undefined;
  const problems: string[] = [];
  if (has('SPANHOUSE_INIT_PROJECT_ID') !== has('SPANHOUSE_INIT_API_KEY')) {
    problems.push('Set both SPANHOUSE_INIT_PROJECT_ID and SPANHOUSE_INIT_API_KEY, or neither');
  }
  if (has('OIDC_ISSUER') !== has('OIDC_CLIENT_ID')) {
    problems.push('Set both OIDC_ISSUER and OIDC_CLIENT_ID, or neither');
  }
  if ((has('OIDC_CLIENT_SECRET') || has('OIDC_ALLOWED_DOMAINS')) && !has('OIDC_ISSUER')) {
    problems.push(
      'OIDC_CLIENT_SECRET and OIDC_ALLOWED_DOMAINS need OIDC_ISSUER: without it, no provider signs people in',
    );
  }
  if (has('SIGN_IN_PROXY_HEADER') !== has('SIGN_IN_PROXY_ADDRESSES')) {
    problems.push('Set both SIGN_IN_PROXY_HEADER and SIGN_IN_PROXY_ADDRESSES, or neither');
  }
  if (has('CLICKHOUSE_CLUSTER') && !has('CLICKHOUSE_URL')) {
    problems.push('CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL: the embedded engine is never part of a cluster');
  }
  if (has('BACKUP_EVERY') !== has('BACKUP_TO')) {
    problems.push('Set both BACKUP_EVERY and BACKUP_TO, or neither');
  }
  if (has('BACKUP_EVERY') && has('CLICKHOUSE_URL')) {
    problems.push(
      'BACKUP_EVERY needs the embedded engine: back up an external ClickHouse (CLICKHOUSE_URL) with its own tools',
    );
  }
  if (has('BACKUP_S3_ACCESS_KEY_ID') !== has('BACKUP_S3_SECRET_ACCESS_KEY')) {
    problems.push('Set both BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY, or neither');
  }
  if (has('S3_ENDPOINT') && !has('S3_BUCKET')) {
    problems.push('S3_ENDPOINT needs S3_BUCKET: without a bucket, attachments are files in DATA_DIR');
  }
  if ((has('JUDGE_LLM_API_KEY') || has('JUDGE_LLM_MODEL')) && !has('JUDGE_LLM_BASE_URL')) {
    problems.push('JUDGE_LLM_API_KEY and JUDGE_LLM_MODEL need JUDGE_LLM_BASE_URL: without it, judges are disabled');
  }
  return problems;
}
