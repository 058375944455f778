import { expect } from 'chai';
import { KILLS } from '../harness/kills.js';
import { Programs } from '../harness/programs.js';
import type { Row } from '../harness/checked-api.js';
import { Receiver } from './receiver.js';

const ROUNDS = Math.max(3, KILLS);
const MOVES = 20;

describe('webhooks when the program is killed', function () {
  this.timeout(240_000);
  let programs: Programs;
  let receiver: Receiver;
  before(async () => {
    receiver = await Receiver.start();
    programs = await Programs.make();
  });
  after(async () => {
    await programs.dispose();
    await receiver.stop();
  });

  it('are told of everything that was acknowledged, at least once', async () => {
    const env = { WEBHOOK_ALLOWED_ADDRESSES: '127.0.0.1' };
    let program = await programs.start(env);
    const project = `/projects/${program.projectId}`;
    await program.ask('POST', `${project}/webhooks`, { name: 'x', kind: 'webhook', target: receiver.url('/x') });
    await program.ask('POST', '/v1/tasks/p/prompt/versions/ensure', { content: 'Say it.' });
    const acknowledged = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const moves = Array.from({ length: MOVES }, (_, n) => `t${round}-${n}`);
      const killed = receiver.received.length + 1 + round * 3;
      const sent = moves.map(async (tag) => {
        await program.ask('POST', `${project}/prompts/p/tags/${tag}:pin`, { version: 1 });
        acknowledged.add(tag);
      });
      const all = Promise.allSettled(sent);
      await receiver.came('/x', killed);
      await program.destroy();
      await all;
      program = await programs.start(env);
    }
    await program.ask('POST', `${project}/prompts/p/tags/last:pin`, { version: 1 });
    acknowledged.add('last');
    const told = () => new Set(receiver.received.map(({ text }) => (JSON.parse(text) as Row)['data'].tag as string));
    while ([...acknowledged].some((tag) => !told().has(tag))) await receiver.came('/x', receiver.received.length + 1);
    expect([...told()]).to.include.members([...acknowledged]);
  });
});
