import { isIPv6 } from 'node:net';
import { readSettings, type Environment } from './env.js';
import { clickHouseGroup } from './groups/clickhouse.js';
import { dataGroup } from './groups/data.js';
import { imageGroup } from './groups/images.js';
import { judgeGroup } from './groups/judges.js';
import { networkGroup } from './groups/network.js';
import { notificationGroup } from './groups/notifications.js';
import { operationGroup } from './groups/operation.js';
import { readGroup } from './groups/reads.js';
import { signInGroup } from './groups/sign-in.js';
import { writeGroup } from './groups/writes.js';
import { LIMITS, type Limits } from './limits.js';
import type { Settings } from './settings.js';
import { unknownVariables } from './unknown-variables.js';

export { ConfigError } from './env.js';

/** The configuration as the program uses it: grouped, in bytes, with absolute paths. Made once, by `main.ts`. */
export type Config = ReturnType<typeof group>;
export type HttpConfig = Config['http'];
export type LogConfig = Config['log'];
export type JudgeConfig = Config['judges'];
export type ReviewConfig = Config['reviews'];
export type TracingConfig = NonNullable<Config['tracing']>;

/**
 * Reads, validates and types the configuration.
 * @param limits other ones than every installation has: for tests
 * @throws ConfigError whose message is fit to print before exiting with 1.
 */
export function loadConfig(env: Environment = process.env, limits: Partial<Limits> = {}): Config {
  return group(readSettings(env), { ...LIMITS, ...limits }, unknownVariables(env));
}

function group(settings: Settings, limits: Limits, warnings: readonly string[]) {
  return {
    /** Sentences about variables that were perhaps meant as settings. */
    warnings,
    ...networkGroup(settings, limits),
    ...signInGroup(settings),
    ...dataGroup(settings),
    ...clickHouseGroup(settings),
    ...imageGroup(settings),
    ...judgeGroup(settings, limits),
    ...notificationGroup(settings),
    ...writeGroup(settings, limits),
    ...readGroup(settings, limits),
    ...operationGroup(settings, limits),
  };
}

/** Where programs of this machine call a server that has these settings, whatever is in front of it. */
export function localUrl({ host, port }: Pick<HttpConfig, 'host' | 'port'>): string {
  return urlOf(host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, port);
}

/**
 * The base of every URL handed out: `PUBLIC_URL`, else the address listened on. A wildcard address is no address to
 * call, so it becomes `localhost`.
 * @param boundPort the port the listener got; differs from the configured one when that is 0.
 */
export function publicUrl(http: HttpConfig, boundPort: number): string {
  if (http.publicUrl !== null) return http.publicUrl;
  const wildcard = http.host === '0.0.0.0' || http.host === '::';
  return urlOf(wildcard ? 'localhost' : http.host, boundPort);
}

function urlOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
