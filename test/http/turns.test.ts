import { request as httpRequest } from 'node:http';
import { Type } from '@sinclair/typebox';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { FairSemaphore, type EndTurn } from '../../src/engine/work/fair-semaphore.js';
import { defineRoute } from '../../src/http/route.js';
import { send } from '../harness/server.js';
import { bootApp, eventually } from './app-harness.js';

const LIMITS = { atOnce: 3, perParty: 2, maxWaitMs: 2_000 };
/** Enough for what is resolved already to be noticed. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  const began: string[] = [];
  const ends: EndTurn[] = [];
  beforeEach(() => {
    began.length = 0;
    ends.length = 0;
  });

  const take = async (turns: FairSemaphore, party: string, name = party) => {
    const end = await turns.take(party).catch(() => null);
    if (end === null) return;
    began.push(name);
    ends.push(end);
  };
  const endOldest = async () => {
    ends.shift()?.();
    await settled();
  };

  it('leave room for others, however much one party asks for', async () => {
    const turns = new FairSemaphore('reads', LIMITS);
    for (let count = 0; count < 5; count += 1) void take(turns, 'a');
    await settled();
    expect(began).to.deep.equal(['a', 'a']);
    void take(turns, 'b');
    await settled();
    expect(began).to.deep.equal(['a', 'a', 'b']);
  });

  it('go round: who comes later waits for one turn of each other party, not for all that wait', async () => {
    const turns = new FairSemaphore('reads', { ...LIMITS, atOnce: 1, perParty: 1 });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void take(turns, name.charAt(0), name);
    await settled();
    for (let count = 0; count < 5; count += 1) await endOldest();
    expect(began).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('are refused as overload when they do not come in time, and leave nothing behind', async () => {
    const turns = new FairSemaphore('reads', { ...LIMITS, atOnce: 1, perParty: 1, maxWaitMs: 20 });
    await take(turns, 'a');
    const error: unknown = await turns.take('b').catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DomainError).and.include({ kind: 'overloaded', retryAfterSeconds: 1 });
    await endOldest();
    await take(turns, 'c');
    expect(began).to.deep.equal(['a', 'c']);
  });

  it('pass over who has gone meanwhile, and end once', async () => {
    const turns = new FairSemaphore('reads', { ...LIMITS, atOnce: 1, perParty: 1 });
    await take(turns, 'a');
    const gone = new AbortController();
    const waiting = turns.take('b', gone.signal).catch((thrown: unknown) => thrown);
    void take(turns, 'c');
    void take(turns, 'd');
    gone.abort(new Error('gone'));
    expect(await waiting).to.have.property('message', 'gone');
    const [end] = ends.splice(0, 1);
    end?.();
    end?.();
    await settled();
    expect(began).to.deep.equal(['a', 'c']);
  });
});

describe('the turn of a large answer', () => {
  it('lasts until the work for it has ended, also for a client that has left', async () => {
    const works: (() => void)[] = [];
    const route = defineRoute({
      method: 'GET',
      path: '/rows',
      operationId: 'rows',
      summary: 's',
      description: 'd',
      tag: 'Traces',
      access: 'key',
      bulk: true,
      responses: { 200: { description: 'ok', schema: Type.Array(Type.Integer()) } },
      errors: [],
      handle: async () => {
        await new Promise<void>((resolve) => works.push(resolve));
        return { status: 200, body: [] };
      },
    });
    const app = await bootApp([route], { answers: { atOnce: 2, perParty: 1, maxWaitMs: 5_000 } });
    try {
      const leaving = httpRequest(`${app.url}/rows`, { headers: { authorization: `Bearer ${app.key}` }, agent: false });
      leaving.on('error', () => undefined);
      leaving.end();
      await eventually(() => works.length === 1, 'the first is worked on');
      leaving.destroy();
      await eventually(() => app.finished.length === 1, 'the first has left');
      const next = send(`${app.url}/rows`, 'GET', { key: app.key });
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(works, 'worked on').to.have.length(1);
      works[0]?.();
      await eventually(() => works.length === 2, 'the next is worked on');
      works[1]?.();
      expect((await next).status).to.equal(200);
    } finally {
      await app.stop();
    }
  });

  it('puts only so many answers of a project together at once', async () => {
    let [running, most] = [0, 0];
    const route = defineRoute({
      method: 'GET',
      path: '/rows',
      operationId: 'rows',
      summary: 's',
      description: 'd',
      tag: 'Traces',
      access: 'key',
      bulk: 'gathered',
      responses: { 200: { description: 'ok', schema: Type.Array(Type.Integer()) } },
      errors: [],
      handle: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 20));
        running -= 1;
        return { status: 200, body: [] };
      },
    });
    const app = await bootApp([route]);
    try {
      const answers = Array.from({ length: 4 }, () => send(`${app.url}/rows`, 'GET', { key: app.key }));
      expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      expect(most).to.equal(1);
    } finally {
      await app.stop();
    }
  });
});
