import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';

const AT = '2026-01-15T10:00:00.000000Z';
const LATER = '2026-01-15T10:00:00.000001Z';

/** What each part of the trace says, and nothing else in it does. */
export const SECRETS = {
  texts: ['zebra-question', 'zebra-answer'],
  errors: ['zebra-failure', 'zebra-code', 'zebra-stack', 'zebra-file'],
  user: ['zebra-person'],
  metadata: ['zebra-team', 'zebra-slug'],
  costs: ['0.123456', '987654'],
  attributes: ['zebra-attribute'],
} as const;

/** A trace of two spans, stored. */
export async function storeTrace(server: TestServer, more: object = {}) {
  const [trace_id, root, child] = [randomUUID(), randomUUID(), randomUUID()];
  const { status, text } = await server.request('POST', '/spans', {
    body: [
      {
        ...{ id: root, trace_id, name: 'shown root', kind: 'agent', started_at: AT, ended_at: AT },
        trace_tags: { user: 'zebra-person', team: 'zebra-team' },
        ...more,
      },
      {
        ...{
          id: child,
          trace_id,
          parent_span_id: root,
          name: 'shown call',
          kind: 'llm',
          started_at: LATER,
          ended_at: LATER,
        },
        ...{ input_data: 'zebra-question', output_data: 'zebra-answer', cost: 0.123456 },
        ...{ error_message: 'zebra-failure', error_code: 'zebra-code', error_stack: 'zebra-stack' },
        ...{ code_filepath: 'zebra-file', tags: { 'user.id': 'zebra-person', team: 'zebra-team' } },
        attributes: { note: 'zebra-attribute', model: 'gpt-4o', inputTokens: 987654, prompt_slug: 'zebra-slug' },
      },
    ],
  });
  expect(status, text).to.equal(200);
  return { trace_id, root, child };
}
