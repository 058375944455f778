import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { uuid } from '../harness/checked-api.js';
import { Programs } from '../harness/programs.js';
import { SelectedApi } from './selected-api.js';

/** More than one portion. */
const TRACES = 12_000;
const KILLED_AFTER_MS = [40, 250, 700];

describe('deletions by filters when the program is killed', function () {
  this.timeout(180_000);
  let programs: Programs;
  before(async () => {
    programs = await Programs.make();
  });
  after(() => programs.dispose());

  it('go on after the next start, delete all that was found, and count it once', async () => {
    let program = await programs.start();
    for (let from = 0; from < TRACES; from += 2_000) {
      const spans = Array.from({ length: 2_000 }, (_, n) => ({
        id: uuid(from + n),
        trace_id: uuid(1_000_000 + from + n),
        name: 'step',
        started_at: 1_770_000_000 + (from + n) / 7,
        tags: { env: 'old' },
      }));
      await program.ask('POST', '/spans', spans);
    }
    await program.ask('POST', '/spans', [
      { id: uuid(1), trace_id: uuid(5), name: 'kept', started_at: 1_770_000_000, tags: { env: 'kept' } },
    ]);
    let api = new SelectedApi(program);
    const plan = await api.plan('traces', 'tags.env=old');
    expect(plan).to.include({ traces: TRACES, spans: TRACES });
    const { id } = await api.start(plan.confirm);
    const states: string[] = [];
    for (const ms of KILLED_AFTER_MS) {
      await sleep(ms);
      await program.destroy();
      program = await programs.start();
      api = new SelectedApi(program);
      states.push((await api.get(id)).status);
    }
    expect(states, 'one kill came in the middle').to.include('running');
    expect(await api.ended(id)).to.include({ status: 'done', deleted: TRACES, error: null });
    const left = (await program.ask('GET', '/traces?fields=id&count=true')) as { id: string }[];
    expect(left.map((trace) => trace.id)).to.deep.equal([uuid(5)]);
  });
});
