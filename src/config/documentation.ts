import { expectation, settingDefinitions, type SettingDefinition } from './settings.js';

/** The configuration as a Markdown table, for the README; escaped so that no cell breaks it. */
export function configurationTable(): string {
  const rows = settingDefinitions.map(
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
