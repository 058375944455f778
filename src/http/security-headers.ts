import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * Answers are data, never pages: nothing of them may run, be framed or be kept by a cache. Pages say otherwise
 * themselves. None of this depends on the request, so helmet is asked once.
 * @param hstsSeconds for how long browsers shall use HTTPS alone; 0: TLS ends at a proxy, which knows whether to insist on it
 */
export function securityHeaders(hstsSeconds = 0): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' };
  const recorder = {
    setHeader: (name: string, value: string) => (headers[name] = value),
    removeHeader: () => undefined,
  };
  const secure = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: hstsSeconds > 0 && { maxAge: hstsSeconds, includeSubDomains: false },
  });
  secure({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw new Error('helmet failed', { cause: error });
  });
  return headers;
}
