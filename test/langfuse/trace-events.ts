import { randomUUID } from 'node:crypto';
import type { Random } from '../../scripts/random.js';
import { at, type SentEvent } from './langfuse-client.js';

/** A trace as a client sends it that changes everything as it goes, with ids of its own. */
export function eventsOf(trace: string): SentEvent[] {
  const [outer, inner] = [`${trace}-outer`, `${trace}-inner`];
  const event = (type: string, ms: number, body: object): SentEvent => ({
    ...{ id: randomUUID(), type, timestamp: at(ms) },
    body: { ...(type === 'trace-create' ? { id: trace } : { traceId: trace }), ...body },
  });
  return [
    event('trace-create', 10, { name: 'checkout', timestamp: at(10), userId: 'ann', tags: ['shop'], input: 'Where?' }),
    event('span-create', 20, { id: outer, name: 'retrieve', startTime: at(20), metadata: { step: 'first', kept: 1 } }),
    event('generation-create', 30, {
      ...{ id: inner, parentObservationId: outer, name: 'answer', startTime: at(30), model: 'gpt-4o' },
      ...{ input: [{ role: 'user', content: 'Where?' }], modelParameters: { temperature: 0 } },
    }),
    // In the millisecond of its creation, and before it in some orders.
    event('generation-update', 30, { id: inner, completionStartTime: at(35), name: 'answer, renamed' }),
    event('generation-update', 60, { id: inner, usage: { input: 999, output: 999, total: 1998 }, output: 'draft' }),
    event('generation-update', 70, {
      ...{ id: inner, endTime: at(70), output: 'Here.', promptName: 'support', promptVersion: 1 },
      ...{ usageDetails: { input: 1000, output: 500 }, level: 'ERROR', statusMessage: 'cut short' },
    }),
    event('span-update', 80, {
      id: outer,
      endTime: at(80),
      metadata: { step: 'second', more: true },
      output: { n: 3 },
    }),
    event('trace-create', 90, { sessionId: 'a session', metadata: { plan: 'pro' }, output: 'Here.' }),
  ];
}

/** The items in another order. */
export function shuffled<T>(items: readonly T[], dice: Random): T[] {
  const left = [...items];
  return items.map(() => left.splice(dice.whole(0, left.length - 1), 1)[0] as T);
}
