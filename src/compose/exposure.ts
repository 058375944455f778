import { isIPv6 } from 'node:net';
import type { Config } from '../config/config.js';
import { isLoopback } from '../engine/models/loopback.js';
import { say } from '../engine/signals/lines.js';
import type { Logger } from '../engine/signals/logger.js';

/** Warns of what others on the network could read. */
export function warnOfExposure({ http, metricsToken }: Config, log: Logger): void {
  if (!isOpen(http)) return;
  const fields = { host: http.host };
  if (http.publicUrl === null || new URL(http.publicUrl).protocol !== 'https:') say(log, 'openWithoutTls', fields);
  if (metricsToken === null) say(log, 'metricsOpen', fields);
}

/**
 * Whether others than programs of this machine come in, as far as settings tell. A server in a container listens on all
 * addresses wherever the container is published: who names an address of the machine itself for people says that it is there.
 */
function isOpen({ host, publicUrl }: Config['http']): boolean {
  const leadsHere = (url: string) => URL.canParse(url) && isLoopback(new URL(url).hostname);
  return !leadsHere(`http://${isIPv6(host) ? `[${host}]` : host}`) && (publicUrl === null || !leadsHere(publicUrl));
}
