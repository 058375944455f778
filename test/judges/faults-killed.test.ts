import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually, finished, type Json } from './judge-api.js';
import { answer, ModelEndpoint, passing } from './model-endpoint.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Program, unhurried } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';

const SPANS = 400;
const SEED = seedOf('KILL_SEED');

describe(`judges when the program is killed, KILL_SEED=${SEED}`, () => {
  let dataDir: string;
  let endpoint: ModelEndpoint;
  let program: Program;
  let judges: Json[];
  const env = () => ({ JUDGE_LLM_BASE_URL: endpoint.url, JUDGE_LLM_MODEL: 'gpt-4o-mini', JUDGE_CONCURRENCY: '16' });

  before(async () => {
    dataDir = await freshDataDir('spanhouse-judges-');
    endpoint = await ModelEndpoint.start();
    program = await Program.start(dataDir, env());
    judges = [];
    for (const name of ['one', 'two'])
      judges.push(
        await program.ask('POST', 'judges', {
          name,
          evaluation_type: 'binary',
          prompt: name,
          filters: { names: ['answer'] },
        }),
      );
  });
  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(program.complaints());
  });
  after(async () => {
    await program.destroy();
    await endpoint.stop();
    await removeDirectory(dataDir);
  });

  const evaluationsOf = async (judge: Json): Promise<Json[]> => {
    const found: Json[] = [];
    for (;;) {
      const page = await program.ask('GET', `judges/${judge['id']}/evaluations?limit=500&offset=${found.length}`);
      found.push(...page.evaluations);
      if (page.evaluations.length < 500) return found;
    }
  };

  /** Every pair of a judge and a span is evaluated exactly once, and every evaluation has its call. */
  async function expectOnceEach(spanIds: readonly string[]): Promise<void> {
    for (const judge of judges) {
      const found = (await evaluationsOf(judge)).filter(({ span_id }) => spanIds.includes(span_id as string));
      expect(found.map(({ span_id }) => span_id as string).sort()).to.deep.equal([...spanIds].sort());
      expect((await program.ask('GET', `judges/${judge['id']}/runs`)).runs).to.deep.equal([]);
      const calls: Json[] = await program.ask('GET', `/spans?spanhouse.judge=${judge['id']}&limit=10000`);
      const runs = calls
        .filter(({ status }) => status === 'ok')
        .map(({ attributes }) => attributes.spanhouse.run_id as string);
      expect(new Set(runs).size, 'no call is stored twice').to.equal(runs.length);
      const withCall = new Set(runs);
      expect(found.filter(({ id }) => !withCall.has(id as string))).to.deep.equal([]);
    }
  }

  const drained = (spanIds: readonly string[]) =>
    eventually(
      async () =>
        (await Promise.all(
          judges.map((judge) => program.ask('GET', `judges/${judge['id']}/evaluations?limit=1`)),
        )) as Json[],
      (pages) => pages.every(({ total }) => total >= spanIds.length),
      60_000,
    );

  for (let round = 1; round <= 3; round += 1)
    it(`evaluates each span once by each judge, killed again and again (round ${round})`, async () => {
      endpoint.reset(() => answer(passing, 15));
      const known =
        judges.length === 0 ? [] : (await evaluationsOf(judges[0] ?? {})).map(({ span_id }) => span_id as string);
      const spans = Array.from({ length: SPANS }, () => finished());
      let posted = 0;
      const post = async () => {
        while (posted < SPANS) {
          const some = spans.slice(posted, posted + 50);
          const { status } = await program.request('POST', '/spans', some);
          if (status === 200) posted += some.length;
          else await sleep(50);
        }
      };
      const posting = post();
      for (let kill = 0; kill < 3; kill += 1) {
        await sleep(150 + ((SEED * (kill + 1) * round) % 500));
        program.signal('SIGKILL');
        await program.ended;
        program = Program.spawn(dataDir, env());
        await program.ready();
      }
      await posting;
      const all = [...known, ...spans.map(({ id }) => id as string)];
      await drained(all);
      await sleep(300);
      await expectOnceEach(all);
    }).timeout(120_000);

  it('stops in time with calls under way, and goes on after the next start', async () => {
    endpoint.reset(() => ({ do: 'hang' }));
    const known = (await evaluationsOf(judges[0] ?? {})).map(({ span_id }) => span_id as string);
    const spans = Array.from({ length: 40 }, () => finished({ trace_id: randomUUID() }));
    await program.ask('POST', '/spans', spans);
    await eventually(
      async () => endpoint.underWay,
      (count) => count === 16,
    );
    const stopping = performance.now();
    program.signal('SIGTERM');
    expect(await program.ended).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - stopping).to.be.lessThan(unhurried(9_000));
    endpoint.reset(() => answer(passing));
    program = Program.spawn(dataDir, env());
    await program.ready();
    const all = [...known, ...spans.map(({ id }) => id as string)];
    await drained(all);
    await expectOnceEach(all);
  }).timeout(60_000);
});
