import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { KILLS } from '../harness/kills.js';
import { Program } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';
import type { SentEvent } from './langfuse-client.js';
import { eventsOf, shuffled } from './trace-events.js';

const SEED = seedOf('KILLED_PARTS_SEED');
const TRACES = 20;

describe(`spans in parts and kill -9, KILLED_PARTS_SEED=${SEED}`, function () {
  this.timeout(300_000);
  let dataDir: string;
  let program: Program;
  before(async () => {
    dataDir = await freshDataDir('spanhouse-parts-');
    program = await Program.start(dataDir);
  });
  after(async () => {
    await program.destroy();
    await removeDirectory(dataDir);
  });

  const send = (batch: readonly SentEvent[]) => program.request('POST', '/api/public/ingestion', { batch });

  async function stored(trace: string): Promise<string> {
    const order = 'sort_by=started_at&sort_order=asc';
    const spans = (await program.ask('GET', `/spans?trace_id=${trace}&${order}`)) as { id: string; name: string }[];
    const traces = await program.ask('GET', `/traces?id=${trace}`);
    return spans
      .reduce((text, { id, name }) => text.replaceAll(id, name), JSON.stringify([spans, traces]))
      .replaceAll(trace, 'T')
      .replace(/"created_at":"[^"]*"/g, '')
      .replace(/,"since":\d+/g, '');
  }

  it(`leave the same spans, ${KILLS} times, as clients send again what was not acknowledged`, async () => {
    const dice = new Random(SEED);
    const whole = randomUUID();
    expect((await send(eventsOf(whole))).status).to.equal(207);
    const expected = await stored(whole);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const traces = Array.from({ length: TRACES }, () => randomUUID());
      let open = true;
      const clients = traces.map(async (trace) => {
        const left = shuffled(eventsOf(trace), dice).map((event) => [event]);
        for (let batch = left.shift(); batch !== undefined; batch = left.shift()) {
          while ((await send(batch)).status !== 207) await sleep(20);
          // The rest follows the death.
          if (open) await sleep(dice.whole(0, 60));
        }
      });
      await sleep(dice.whole(50, 300));
      program.signal('SIGKILL');
      await program.ended;
      program = Program.spawn(dataDir);
      await program.ready();
      open = false;
      await Promise.all(clients);
      for (const trace of traces) expect(await stored(trace)).to.equal(expected);
    }
  });
});
