import { randomUUID } from 'node:crypto';
import type { TestServer } from '../harness/server.js';

export type SentRun = Readonly<Record<string, unknown>> & { readonly id: string };

/** Calls as a client of LangSmith makes them. */
export function langsmith(server: Pick<TestServer, 'request' | 'key'>) {
  const headers = { 'x-api-key': server.key };
  const call = (method: string, path: string, body?: unknown) =>
    server.request(method, `/langsmith${path}`, { key: null, headers, ...(body !== undefined && { body }) });
  return {
    headers,
    call,
    send: (post: readonly unknown[], patch: readonly unknown[] = []) => call('POST', '/runs/batch', { post, patch }),
    form: (method: string, path: string, parts: readonly FormPart[]) => {
      const { bytes, type } = formData(parts);
      return server.request(method, `/langsmith${path}`, {
        key: null,
        headers: { ...headers, 'content-type': type },
        body: bytes,
      });
    },
  };
}

export type FormPart = readonly [name: string, value: unknown, type?: string];

/** A body as clients write it. @param parts bytes as they are, anything else as JSON */
export function formData(parts: readonly FormPart[]): { readonly bytes: Buffer; readonly type: string } {
  const boundary = `----form-${randomUUID()}`;
  const pieces = parts.flatMap(([name, value, type = 'application/json']) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n`),
    Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)),
    Buffer.from('\r\n'),
  ]);
  const bytes = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
  return { bytes, type: `multipart/form-data; boundary=${boundary}` };
}

/** A time within the test's minute. */
export const at = (milliseconds: number) => new Date(Date.UTC(2026, 7, 1, 12) + milliseconds).toISOString();

/** Place of a run: starts, in milliseconds of the test's minute, and ids, of the root first. */
export const dotted = (...segments: readonly (readonly [ms: number, id: string])[]) =>
  segments.map(([ms, id]) => `${at(ms).replace(/[-:.]/g, '').replace('Z', '000Z')}${id}`).join('.');
