import { randomUUID } from 'node:crypto';

const SANE = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's `X-Request-Id` when it can be trusted in logs and headers, else a new UUID. */
export function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && SANE.test(header) ? header : randomUUID();
}
