import * as zlib from 'node:zlib';
import { expect } from 'chai';
import { sharedServer } from '../harness/shared-server.js';
import type { TestServer } from '../harness/server.js';
import { figuresOf, importInto, ImportFolder, projectOn } from './importing.js';
import { KEYS, madeProject, OldLangfuse } from './old-langfuse.js';

const TRACES = 40;
/** A span of the trace, and three of its observations. */
const SPANS = 4 * TRACES;
const COST = 0.0125 * TRACES;

describe('an import from Langfuse', function () {
  this.timeout(180_000);
  let old: OldLangfuse;
  let shared: TestServer;
  let server: TestServer;
  let folder: ImportFolder;
  const project = madeProject(TRACES);
  before(async () => {
    [shared, old] = [await sharedServer(), await OldLangfuse.start(project)];
  });
  beforeEach(async () => {
    server = projectOn(shared);
    folder = await ImportFolder.make();
  });
  afterEach(() => folder.remove());
  after(async () => {
    await old.stop();
    await shared.dispose();
  });

  const langfuse = (more: object = {}) =>
    importInto(server, { from: 'langfuse', options: { sourceUrl: old.url, ...KEYS }, state: folder.state, ...more });

  const expectAll = async () => {
    const { count, cost } = await figuresOf(server);
    expect(count).to.equal(SPANS);
    expect(cost).to.be.closeTo(COST, 0.005);
  };

  it('takes traces, observations, scores, prompts and datasets, with their times and costs', async () => {
    const report = await langfuse();
    expect(report?.left).to.deep.equal([
      {
        why: 'it is version 1 here: versions before it were deleted, or have the same content as others',
        ...{ count: 1, examples: ['prompt chat version 2'] },
      },
      { why: 'archived items of datasets are not imported', count: 1, examples: ['item item-c of golden'] },
    ]);
    expect(report?.compared?.every(({ same }) => same)).to.equal(true);
    expect(report?.tally).to.include({ traces: TRACES, spans: SPANS, scores: 3 * TRACES, prompts: 3, rows: 2 });
    await expectAll();
    const { json: spans } = await server.request(
      'GET',
      '/spans?span_kind=llm&sort_by=started_at&sort_order=asc&limit=1',
    );
    expect(spans[0]).to.include({
      started_at: '2026-03-01T00:00:00.000000Z',
      duration_ms: 3000,
      model: 'gpt-4o',
      cost: 0.0125,
    });
    const { json: traces } = await server.request('GET', '/traces?sort_by=started_at&sort_order=asc&limit=1');
    expect(traces[0]).to.include({ name: 'answer', root_span_output: 'fine' });
    expect(traces[0].tags).to.include({ imported_from: 'langfuse', plan: 'pro' });
    const { json: scores } = await server.request(
      'GET',
      '/scores?name=quality&sort_by=created_at&sort_order=asc&limit=1',
    );
    expect(scores[0]).to.include({ value: 0, created_at: '2026-03-01T00:00:00.000000Z' });
    const { json: version } = await server.request(
      'GET',
      `/api/public/v2/prompts/${encodeURIComponent('support/answer')}`,
    );
    expect(version).to.include({ version: 2, prompt: 'Please answer {{question}}' });
    const { json: rows } = await server.request('GET', '/v1/datasets/golden/data');
    expect(rows.total_rows).to.equal(2);
  });

  it('changes nothing when it is repeated', async () => {
    await langfuse();
    const report = await langfuse({ restart: true });
    expect(report?.compared?.every(({ same }) => same)).to.equal(true);
    // What is new since the last one, which is nothing.
    expect((await langfuse())?.tally).to.include({ spans: SPANS });
    await expectAll();
  });

  it('goes on where it was cut off, and waits where it is told to', async () => {
    old.limitEvery = 4;
    for (const cutAfter of [3, 9]) expect(await langfuse({ cutAfter })).to.equal(null);
    const report = await langfuse();
    old.limitEvery = 0;
    expect(report?.compared?.every(({ same }) => same)).to.equal(true);
    expect(report?.tally).to.include({ spans: SPANS, scores: 3 * TRACES });
    await expectAll();
  });

  it('reads observations by the newer call where there is no other', async () => {
    old.newer = true;
    const report = await langfuse();
    old.newer = false;
    expect(report?.tally).to.include({ spans: SPANS });
    await expectAll();
  });

  it('refuses to begin with keys that are none', async () => {
    const failed = await langfuse({ options: { sourceUrl: old.url, publicKey: 'pk-lf-1', secretKey: 'no' } }).catch(
      String,
    );
    expect(failed).to.match(/rejected the keys/);
  });

  it('takes the files of its blob export', async () => {
    const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const time = (value: unknown) =>
      typeof value === 'string' && /^\d{4}-.*Z$/.test(value) ? value.replace('T', ' ').replace('Z', '000') : value;
    const asRows = (things: readonly object[]) =>
      things
        .map((thing) => Object.fromEntries(Object.entries(thing).map(([name, value]) => [snake(name), time(value)])))
        .map((row) => `${JSON.stringify(row)}\n`)
        .join('');
    const calls = project.observations.map(({ model, calculatedTotalCost: _cost, ...row }) => ({
      ...row,
      providedModelName: model,
    }));
    await folder.write('e/traces/1.jsonl', asRows(project.traces));
    await folder.write('e/observations/1.jsonl.gz', zlib.gzipSync(asRows(calls)));
    await folder.write('e/scores/1.jsonl', asRows(project.scores));
    const report = await langfuse({ paths: [`${folder.path}/e`], options: {} });
    expect(report?.left).to.deep.equal([]);
    expect(report?.compared?.every(({ same }) => same)).to.equal(true);
    expect(report?.tally).to.include({ spans: SPANS, scores: 3 * TRACES });
    await expectAll();
    // The same ids as by the API.
    await langfuse({ state: `${folder.path}/other.json` });
    await expectAll();
  });
});
