import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Bucket } from '../backup/bucket.js';
import { uuid } from '../harness/checked-api.js';
import { Programs } from '../harness/programs.js';
import { linesOf, objectsOf, type Row } from './objects.js';

/** When the program is killed after an upload has reached the bucket, in milliseconds. */
const KILLED_AFTER_MS = [0, 5, 20, 60, 0, 20];
const SPANS = 300;

describe('scheduled exports when the program is killed', function () {
  this.timeout(240_000);
  let programs: Programs;
  let bucket: Bucket;
  before(async () => {
    bucket = await Bucket.start();
    programs = await Programs.make();
  });
  after(async () => {
    await programs.dispose();
    await bucket.stop();
  });

  it('have each version of each row once, and the newest of all', async () => {
    const env = { ...bucket.env, EXPORT_TO: bucket.address };
    let program = await programs.start(env);
    const path = `/projects/${program.projectId}/scheduled-exports`;
    const create = (list: string): Promise<Row> =>
      program.ask('POST', path, {
        ...{ name: list, list, every_minutes: 600 },
        query: list === 'scores' ? '' : list === 'sessions' ? 'fields=cost' : 'fields=name,cost',
      }) as Promise<Row>;
    const schedules: Row[] = [];
    for (const list of ['spans', 'traces', 'sessions', 'scores']) schedules.push(await create(list));
    const done = async ({ id }: Row) => {
      for (;;) {
        const { next_at, failures } = (await program.ask('GET', `${path}/${id}`)) as Row;
        if (failures === 0 && Date.parse(next_at) > Date.now() + 60_000) return;
        await sleep(50);
      }
    };
    for (const schedule of schedules) await done(schedule);
    const costs = new Map<string, number>();
    let cost = 0;
    const write = async (round: number) => {
      // A third of them again, in traces of three.
      const spans = Array.from({ length: SPANS }, (_, n) => {
        const number = (round * SPANS * 2) / 3 + n;
        costs.set(uuid(number), (cost += 1));
        const trace_id = uuid(1_000_000 + Math.floor(number / 3));
        const session_id = uuid(2_000_000 + Math.floor(number / 30));
        return { id: uuid(number), trace_id, session_id, name: 'step', started_at: 1_770_000_000 + number, cost };
      });
      await program.ask('POST', '/spans', spans);
      const scores = spans.map(({ id, cost: value }) => ({ entity_type: 'span', entity_id: id, name: 'good', value }));
      await program.ask('POST', '/scores', scores);
    };
    for (const [round, ms] of KILLED_AFTER_MS.entries()) {
      await write(round);
      const killed = new Promise<void>((resolve) => {
        bucket.onRequest = async ({ method }) => {
          if (method !== 'PUT') return undefined;
          bucket.onRequest = () => undefined;
          if (ms === 0) await program.destroy();
          else setTimeout(() => void program.destroy(), ms);
          resolve();
          return undefined;
        };
      });
      await program.ask('POST', `${path}/${schedules[round % schedules.length]?.['id']}:run`);
      await killed;
      await program.destroy();
      program = await programs.start(env);
      // What was named is made again, of what is current by then.
      await write(round);
      for (const schedule of schedules) {
        await program.ask('POST', `${path}/${schedule['id']}:run`);
        await done(schedule);
      }
    }
    const [spans = [], traces = [], sessions = [], scores = []] = await Promise.all(
      schedules.map(async ({ id }) => [...(await objectsOf(bucket, program.projectId, id)).values()].flatMap(linesOf)),
    );
    const versions = spans.map((row) => `${row['id']} ${row['cost']}`);
    expect(new Set(versions).size, 'each version once').to.equal(versions.length);
    const newest = new Map(spans.map((row) => [row['id'] as string, row['cost'] as number]));
    expect(newest).to.deep.equal(costs);
    const states = traces.map((row) => `${row['id']} ${row['cost']}`);
    expect(new Set(states).size, 'each state once').to.equal(states.length);
    const figures = new Map(traces.map((row) => [row['id'] as string, row['cost'] as number]));
    const now = (await program.ask('GET', '/traces?fields=id,cost&limit=500&started_after=2020')) as Row[];
    for (const trace of now) expect(figures.get(trace['id'])).to.equal(trace['cost']);
    expect(figures.size).to.equal(Math.ceil(costs.size / 3));
    const values = scores.map((row) => `${row['entity_id']} ${row['value']}`);
    expect(new Set(values).size, 'each score once').to.equal(values.length);
    expect(new Map(scores.map((row) => [row['entity_id'] as string, row['value'] as number]))).to.deep.equal(costs);
    const totals = sessions.map((row) => `${row['id']} ${row['cost']}`);
    expect(new Set(totals).size, 'each state of a session once').to.equal(totals.length);
    const newestOf = new Map(sessions.map((row) => [row['id'] as string, row['cost'] as number]));
    const all = (await program.ask('GET', '/sessions?fields=id,cost&limit=500')) as Row[];
    for (const session of all) expect(newestOf.get(session['id'])).to.equal(session['cost']);
    expect(newestOf.size).to.equal(all.length);
  });
});
