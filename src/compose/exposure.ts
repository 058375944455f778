import { isIPv6 } from 'node:net';
import type { Config } from '../config/config.js';
import { isLoopback } from '../engine/models/loopback.js';
import type { Signals } from '../engine/signals/signals.js';

/** Warns of what others on the network could read. */
export function warnOfExposure({ http, metricsToken }: Config, events: Signals): void {
  if (!isOpen(http)) return;
  const { host } = http;
  if (http.publicUrl === null || new URL(http.publicUrl).protocol !== 'https:') events.openWithoutTls({ host });
  if (metricsToken === null) events.metricsOpen({ host });
}

/**
 * Whether others than programs of this machine come in, as far as settings tell. A server in a container listens on all
 * addresses wherever the container is published: who names an address of the machine itself for people says that it is there.
 */
function isOpen({ host, publicUrl }: Config['http']): boolean {
  const leadsHere = (url: string) => URL.canParse(url) && isLoopback(new URL(url).hostname);
  return !leadsHere(`http://${isIPv6(host) ? `[${host}]` : host}`) && (publicUrl === null || !leadsHere(publicUrl));
}
