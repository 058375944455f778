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

function shownDefault(definition: SettingDefinition): string {
  if (definition.defaultText !== undefined) return definition.defaultText;
  return definition.default === undefined ? 'unset' : `\`${String(definition.default)}\``;
}

function meaning(definition: SettingDefinition): string {
  const values = Array.isArray(definition['enum']) || definition.type === 'integer';
  const rule = values ? ` Must ${expectation(definition)}.` : '';
  return `${definition.description}${rule}`.replaceAll('|', '\\|');
}
