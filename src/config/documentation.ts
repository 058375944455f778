import { expectation, settingDefinitions, type SettingDefinition, type SettingName } from './settings.js';

/** Settings that an installation is most likely to change: the README shows these alone. */
const MAIN_SETTINGS: ReadonlySet<SettingName> = new Set<SettingName>([
  'PORT',
  'HOST',
  'OTLP_GRPC_PORT',
  'PUBLIC_URL',
  'DATA_DIR',
  'CLICKHOUSE_URL',
  'METRICS_TOKEN',
  'S3_BUCKET',
  'JUDGE_LLM_BASE_URL',
  'JUDGE_LLM_MODEL',
  'ENGINE_MEMORY_MB',
]);

/** The configuration as a Markdown table, for the manual; escaped so that no cell breaks it. */
export function configurationTable(): string {
  return table(settingDefinitions);
}

/** The main settings as a Markdown table, for the README. */
export function mainSettingsTable(): string {
  return table(settingDefinitions.filter(([name]) => MAIN_SETTINGS.has(name)));
}

function table(settings: typeof settingDefinitions): string {
  const rows = settings.map(
    ([name, definition]) => `| \`${name}\` | ${shownDefault(definition)} | ${meaning(definition)} |`,
  );
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n');
}

/** The configuration for a terminal, for `npm start -- --help`. */
export function configurationHelp(): string {
  return settingDefinitions
    .map(([name, definition]) => {
      const lines = [`  ${name}  (default: ${shownDefault(definition)})`, `      ${meaning(definition)}`];
      return lines.join('\n').replaceAll('`', '').replaceAll('\\|', '|');
    })
    .join('\n');
}

/** Settings that docker-compose.yml gives values of its own. */
const SET_IN_CONTAINER: ReadonlySet<string> = new Set(['HOST', 'PORT', 'OTLP_GRPC_PORT', 'DATA_DIR', 'PUBLIC_URL']);

/** The other settings, as lines of docker-compose.yml that pass on what is set outside of the container. */
export function passedVariables(): string {
  return settingDefinitions
    .filter(([name]) => !SET_IN_CONTAINER.has(name))
    .map(([name]) => `      ${name}:`)
    .join('\n');
}

function shownDefault(definition: SettingDefinition): string {
  if (definition.defaultText !== undefined) return definition.defaultText;
  return definition.default === undefined ? 'unset' : `\`${String(definition.default)}\``;
}

function meaning(definition: SettingDefinition): string {
  const values = Array.isArray(definition['enum']) || definition.type === 'integer';
  const rule = values ? ` Must ${expectation(definition)}.` : '';
  return `${definition.description}${rule}`.replaceAll('|', '\\|');
}
