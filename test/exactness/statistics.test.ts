import { expect } from 'chai';
import fc from 'fast-check';
import { seedOf } from '../harness/seed.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { definitions, listNames, type ListName, type Row } from '../harness/checked-api.js';
import { expectRecounted, grouped, withExactCosts, type ValuesOf } from '../lists/statistics-recount.js';
import { history } from './histories.js';
import { Player } from './player.js';
import { projectMaker, type ProjectMaker } from '../harness/projects.js';

/*
 * Statistics and facets hold against a recount of what the lists answer, whatever was written before; that the lists are
 * right is held by histories.test.ts.
 *
 * SEED=123 HISTORIES=1000 npm test -- test/exactness/statistics.test.ts
 */
const HISTORIES = Number(process.env['HISTORIES'] ?? 2);
const SEED = seedOf('SEED');
const AT_ONCE = 8;
/** `SHRINK=1` makes a failing history smaller, which takes minutes. */
const SHRINK = process.env['SHRINK'] ?? '';

const MOST: Readonly<Record<ListName, number>> = { spans: 10_000, traces: 500, sessions: 500 };

/** Filters that every list has, and what is asked about their objects. */
const filters = fc
  .subarray(
    [
      ['has_error=true', 'has_error=false'],
      ['started_after=2026-01-01T00:00:00.000001Z'],
      ['started_before=2026-02-01', 'started_before=2026-03-01'],
      ['cost_min=0.1', 'cost_max=0.3'],
      ['duration_min=0.1', 'duration_max=1500'],
      ['tags.env=prod', 'tags.env=test&tags.user=prod'],
      ['internal=true'],
      ['experiments=true', 'experiments=only'],
    ].map((some) => fc.constantFrom(...some)),
    { maxLength: 3 },
  )
  .chain((some) => fc.tuple(...some));
const buckets = fc.constantFrom('', '&bucket=1d', '&bucket=6h', '&bucket=400d&time_zone=Asia/Kolkata');
const question = fc.record({
  list: fc.constantFrom(...listNames),
  filters,
  buckets,
  property: fc.nat(),
});
const asked = fc.tuple(history, fc.array(question, { minLength: 4, maxLength: 4 }));

describe('Statistics after random histories', function () {
  this.timeout(120_000 + HISTORIES * 2_000);
  let server: TestServer;
  let projects: ProjectMaker;

  before(async () => {
    console.log(`      ${HISTORIES} histories, SEED=${SEED}`);
    server = await bootServer({ limits: { readWaitMs: 120_000 } });
    projects = projectMaker(server.dataDir);
  });
  after(async () => {
    projects.close();
    await server.dispose();
  });

  it(`${HISTORIES} of them: totals, buckets, groups and facets equal a recount of the list`, async () => {
    const check = fc.asyncProperty(asked, async ([steps, questions]) => {
      const project = projects.make();
      // One that sends again does not watch lists meanwhile.
      await new Player({ url: () => server.url, ...project, retrying: true }).play(steps);
      const get = async (path: string) => {
        const { status, text } = await send(`${server.url}${path}`, 'GET', { key: project.key });
        expect(status, `${path}: ${text.slice(0, 300)}`).to.equal(200);
        return withExactCosts(text);
      };
      const within = await everything(get);
      for (const each of questions) await compare(each, get, within);
    });
    const runs = Array.from({ length: Math.min(AT_ONCE, HISTORIES) }, (_, index) =>
      fc.assert(check, {
        seed: SEED + index,
        numRuns: Math.ceil((HISTORIES - index) / AT_ONCE),
        endOnFailure: SHRINK === '',
      }),
    );
    const failed = (await Promise.allSettled(runs)).find((run) => run.status === 'rejected');
    if (failed) throw failed.reason;
  });
});

type Get = (path: string) => Promise<any>;
/** What an object of a list holds, itself among it. */
type Within = (list: ListName, row: Row) => readonly Row[];

async function everything(get: Get): Promise<Within> {
  const [spans, traces]: [Row[], Row[]] = [
    await get(`/spans?limit=${MOST.spans}&internal=true&experiments=true`),
    await get(`/traces?limit=${MOST.traces}&internal=true&experiments=true`),
  ];
  return function within(list, row): readonly Row[] {
    if (list === 'spans') return [row];
    if (list === 'traces') return [row, ...spans.filter(({ trace_id }) => trace_id === row['id'])];
    const members = traces.filter(({ session_id }) => session_id === row['id']);
    return [row, ...members.flatMap((trace) => within('traces', trace))];
  };
}

async function compare(
  { list, filters, buckets, property }: { list: ListName; filters: string[]; buckets: string; property: number },
  get: Get,
  within: Within,
): Promise<void> {
  const kept = filters
    .filter((filter) => definitions[list].hasInternal || !/^(internal|experiments)=/.test(filter))
    .join('&');
  const rows: Row[] = await get(`/${list}?limit=${MOST[list]}&${kept}`);
  const properties = [...definitions[list].groups, 'tags.env', 'tags.user'];
  const name = properties[property % properties.length] ?? '';
  const valuesOf: ValuesOf = (row) => {
    if (!name.startsWith('tags.')) return [row[name]];
    const texts = within(list, row).flatMap((each) => each['tags'][name.slice(5)] ?? []);
    return texts.length === 0 ? [null] : texts;
  };
  // Histories span sixty years: short buckets need bounds.
  const bounded = /started_after.*started_before/.test(kept);
  const wide = buckets.includes('400d') || (bounded && buckets !== '') ? buckets : '';
  const path = `/${list}:stats?${kept}${wide}`;
  await held(path, async () => expectRecounted(await get(path), rows));
  await held(`${path}&group_by=${name}`, async () =>
    expectRecounted(await get(`${path}&group_by=${name}`), rows, valuesOf),
  );
  const facets = `/${list}:facets?started_after=0&${kept.replace(/started_after=[^&]*&?/, '')}&field=`;
  const since: Row[] = await get(
    `/${list}?limit=${MOST[list]}&started_after=0&${kept.replace(/started_after=[^&]*&?/, '')}`,
  );
  await held(facets + name, async () => expectFacets(await get(facets + name), since, valuesOf));
  const keysOf: ValuesOf = (row) => within(list, row).flatMap((each) => Object.keys(each['tags']));
  await held(`${facets}tags`, async () => expectFacets(await get(`${facets}tags`), since, keysOf));
}

function expectFacets({ values, total }: any, rows: readonly Row[], valuesOf: ValuesOf): void {
  const expected = grouped(rows, (row) => valuesOf(row).filter((value) => value !== null));
  expect(JSON.stringify(values)).to.equal(
    JSON.stringify(expected.map(({ value, members }) => ({ value, count: members.length }))),
  );
  expect(total).to.equal(expected.length);
}

async function held(path: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    throw new Error(`GET ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
