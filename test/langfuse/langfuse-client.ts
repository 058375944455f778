import type { TestServer } from '../harness/server.js';

/** An event of an older client of Langfuse. */
export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export const basic = (publicKey: string, secretKey: string) =>
  `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`;

/** Sends events as a client of Langfuse does. */
export function langfuse(server: Pick<TestServer, 'request' | 'projectId' | 'key'>) {
  const headers = { authorization: basic(`pk-sh-${server.projectId}`, server.key) };
  return {
    headers,
    send: (batch: readonly unknown[]) =>
      server.request('POST', '/api/public/ingestion', {
        key: null,
        headers,
        body: { batch, metadata: { sdk_name: 'test' } },
      }),
  };
}

/** A time within the test's minute. */
export const at = (milliseconds: number) => new Date(Date.UTC(2026, 7, 1, 12) + milliseconds).toISOString();
