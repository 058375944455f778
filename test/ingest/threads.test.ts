import { expect } from 'chai';
import { movable, ThreadLostError, Threads } from '../../src/compose/threads.js';

const open = (count: number) =>
  new Threads({
    what: 'messages answered',
    module: new URL('./answering-thread.js', import.meta.url),
    count,
    data: null,
    resourceLimits: {},
  });

describe('threads', () => {
  it('take one message each, and projects take turns', async () => {
    const threads = open(2);
    const order: string[] = [];
    const send = async (project: string, count: number) => {
      const sent = Array.from({ length: count }, async () => {
        const ask = await threads.take(project);
        order.push(project);
        expect(await ask<string>({ text: project }, [])).to.equal(project);
      });
      await Promise.all(sent);
    };
    await Promise.all([send('flood', 20), send('small', 2), send('other', 1)]);
    await threads.close();
    // Two of the flood are under way at once, and then comes one of each in turn.
    expect(order.slice(0, 5).sort(), order.join()).to.deep.equal(['flood', 'flood', 'flood', 'other', 'small']);
    expect(order.lastIndexOf('small'), order.join()).to.be.below(8);
  });

  it('that end fail one message', async () => {
    const threads = open(1);
    const asked = async (message: object) => (await threads.take('project'))<string>(message, []);
    const answers = await Promise.allSettled([asked({ text: 'a' }), asked({ end: true }), asked({ text: 'b' })]);
    await threads.close();
    expect(answers.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    const [, lost] = answers;
    expect(lost?.status === 'rejected' && lost.reason)
      .to.be.instanceOf(ThreadLostError)
      .and.include({ outOfMemory: false });
  });

  it('that are ended answer nothing', async () => {
    const threads = open(1);
    const asked = (await threads.take('project'))({ text: 'a' }, []);
    await threads.close();
    expect(await asked.catch((error: unknown) => error)).to.be.instanceOf(ThreadLostError);
  });

  it('get bytes in memory of their own', () => {
    const pool = Buffer.from('xabcx');
    for (const bytes of [pool.subarray(1, 4), Buffer.alloc(3, 'a'), new Uint8Array(3)]) {
      const moved = movable(bytes);
      expect(moved.equals(bytes)).to.equal(true);
      expect(moved.buffer.byteLength).to.equal(3);
    }
    const large = new Uint8Array(100_000);
    expect(movable(large).buffer, 'without a copy').to.equal(large.buffer);
  });
});
