import { Type, type Static, type TProperties, type TSchema } from '@sinclair/typebox';
import { clickHouseSettings } from './settings/clickhouse.js';
import { dataSettings } from './settings/data.js';
import { imageSettings } from './settings/images.js';
import { judgeSettings } from './settings/judges.js';
import { whole, type Words } from './settings/kinds.js';
import { networkSettings } from './settings/network.js';
import { operationSettings } from './settings/operation.js';
import { readSettings } from './settings/reads.js';
import { requestSettings } from './settings/requests.js';
import { signInSettings } from './settings/sign-in.js';
import { webhookSettings } from './settings/webhooks.js';
import { writeSettings } from './settings/writes.js';

/**
 * Every setting of the server, once. Parsing, validation, the `Config` type, `--help`, and the tables in
 * README and manual all come from here. Keywords beyond JSON Schema:
 * - `must`: how a value has to look, said after "must" (only where it cannot be told from the schema),
 * - `defaultText`: the default in words, where it depends on something,
 * - `secret`: the value never appears in a message, a log line or a page.
 */
export const settings = Type.Object({
  ...networkSettings,
  ...dataSettings,
  ...clickHouseSettings,
  ...signInSettings,
  ...operationSettings,
  ...imageSettings,
  ...judgeSettings,
  ...webhookSettings,
  ...requestSettings,
  ...writeSettings,
  ...readSettings,
  SHUTDOWN_TIMEOUT_SECONDS: whole({
    default: 9,
    minimum: 1,
    maximum: 600,
    description: 'Maximum duration of a graceful shutdown. After that, the process ends anyway.',
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
