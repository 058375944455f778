import { LangfuseClient } from '@langfuse/client';
import { expect } from 'chai';
import { Langfuse } from 'langfuse';
import { ApiDocument } from '../harness/api-document.js';
import { makeProject, type MadeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';

type Json = any;

describe("Langfuse's clients, unchanged, with datasets", function () {
  this.timeout(30_000);
  let server: TestServer;
  let other: MadeProject;
  let document: ApiDocument;
  let old: Json;
  let current: Json;

  before(async () => {
    server = await bootServer();
    other = makeProject(server.dataDir);
    document = await ApiDocument.of(server);
    const keys = { publicKey: `pk-sh-${server.projectId}`, secretKey: server.key, baseUrl: server.url };
    [old, current] = [new Langfuse(keys), new LangfuseClient(keys)];
  });
  after(async () => {
    await old?.shutdownAsync();
    await server?.dispose();
  });

  const call = (method: string, path: string, body?: object) =>
    server.request(method, `/api/public${path}`, body === undefined ? {} : { body });
  const own = async (path: string) => {
    const { status, json, text } = await server.request('GET', path);
    expect(status, text).to.equal(200);
    return json;
  };

  it('make datasets once, with items that share a version, and read them', async () => {
    const name = 'qa/first set';
    const made = await old.createDataset({ name, description: 'Questions' });
    expect(await current.api.datasets.create({ name })).to.deep.include({ id: made.id, description: 'Questions' });
    const items = [1, 2, 3].map((n) => ({ id: `first-${n}`, input: { q: n }, expectedOutput: `answer ${n}` }));
    await Promise.all(items.map((item) => old.createDatasetItem({ datasetName: name, ...item })));
    await current.dataset.createItem({ datasetName: name, input: 'four', metadata: { n: 4 } });
    for (const read of [await old.getDataset(name), await current.dataset.get(name, { fetchItemsPageSize: 2 })]) {
      expect(read).to.include({ id: made.id, name, projectId: server.projectId });
      const [first, , , last] = read.items;
      expect(read.items).to.have.length(4);
      expect(first).to.deep.include({ ...items[0], status: 'ACTIVE', datasetName: name, metadata: null });
      expect(last).to.deep.include({ input: 'four', expectedOutput: null, metadata: { n: 4 } });
    }
    const versions = await own('/v1/datasets/qa/first set/versions');
    expect(versions.map(({ added, row_count }: Json) => [added, row_count])).to.deep.equal([[4, 4]]);
    expect((await own('/v1/datasets/qa/first set')).roles).to.deep.equal({
      ...{ input: 'input', expected_output: 'expected', metadata: 'metadata' },
    });
  });

  it('change items, keep what they do not say, archive and delete them', async () => {
    const datasetName = 'changed';
    await old.createDataset(datasetName);
    await old.createDatasetItem({ datasetName, id: 'changed-1', input: 'one', expectedOutput: 'uno' });
    const before = new Date().toISOString();
    await old.getDataset(datasetName);
    const changed = await old.createDatasetItem({ datasetName, id: 'changed-1', input: null, metadata: { a: 1 } });
    expect(changed).to.deep.include({ input: 'one', expectedOutput: 'uno', metadata: { a: 1 } });
    expect(await old.getDatasetItem('changed-1')).to.deep.include({ input: 'one', metadata: { a: 1 } });
    const then = await current.dataset.get(datasetName, { version: before });
    expect(then.items.map(({ metadata }: Json) => metadata)).to.deep.equal([null]);
    const archived = await old.createDatasetItem({ datasetName, id: 'changed-1', status: 'ARCHIVED' });
    expect(archived).to.include({ status: 'ARCHIVED', input: 'one' });
    expect((await old.getDataset(datasetName)).items).to.deep.equal([]);
    expect((await call('GET', '/dataset-items/changed-1')).status).to.equal(404);
    expect((await call('POST', '/dataset-items', { datasetName, id: 'changed-1', status: 'ACTIVE' })).status).to.equal(
      404,
    );
    await old.createDatasetItem({ datasetName, id: 'changed-1', input: 'back' });
    expect((await call('DELETE', '/dataset-items/changed-1')).status).to.equal(200);
    expect((await call('DELETE', '/dataset-items/changed-1')).status).to.equal(404);
    expect((await own('/v1/datasets/changed/data?version_number=1')).rows ?? []).to.deep.equal([]);
  });

  it('never see a version change that they have seen, whatever is sent meanwhile', async () => {
    await old.createDataset('open');
    const sent: Promise<Json>[] = [];
    const seen: Json[] = [];
    for (let n = 0; n < 120; n += 1) {
      // Some are sent again, with other texts.
      const id = `open-${n % 90}`;
      sent.push(call('POST', '/dataset-items', { datasetName: 'open', id, input: `text ${n}` }));
      if (n % 25 === 24) seen.push((await own('/v1/datasets/open')).latest_version);
    }
    for (const { status, text } of await Promise.all(sent)) expect(status, text).to.equal(200);
    const versions = await own('/v1/datasets/open/versions');
    expect(versions.length).to.be.at.most(seen.length + 2);
    for (const version of seen.filter((one) => one !== null)) {
      const now = versions.find(({ id }: Json) => id === version.id);
      expect([now.row_count, now.added, now.changed]).to.deep.equal([
        version.row_count,
        version.added,
        version.changed,
      ]);
    }
    const { items } = await old.getDataset('open');
    expect(items).to.have.length(90);
    expect(items.find(({ id }: Json) => id === 'open-5').input).to.equal('text 95');
  });

  it('link traces to items in runs, which are experiments with the output of the trace', async () => {
    const datasetName = 'linked';
    await old.createDataset(datasetName);
    for (const n of [1, 2]) await old.createDatasetItem({ datasetName, id: `linked-${n}`, input: `question ${n}` });
    const { items } = await old.getDataset(datasetName);
    const traces: string[] = [];
    for (const item of items) {
      const trace = old.trace({ name: 'answer', input: item.input });
      trace.update({ output: `to ${item.input}` });
      traces.push(trace.id);
      const linked = await item.link(trace, 'run one', { description: 'The first', metadata: { model: 'm' } });
      expect(linked).to.include({ datasetItemId: item.id, traceId: trace.id, datasetRunName: 'run one' });
    }
    const run = await old.getDatasetRun({ datasetName, runName: 'run one' });
    expect(run).to.deep.include({ name: 'run one', description: 'The first', metadata: { model: 'm' } });
    expect(run.datasetRunItems.map(({ traceId }: Json) => traceId)).to.deep.equal(traces);
    const runs = await old.getDatasetRuns(datasetName, { limit: 1 });
    expect([runs.data[0].id, runs.meta.totalItems]).to.deep.equal([run.id, 1]);
    const page = await call('GET', `/dataset-run-items?datasetId=${run.datasetId}&runName=run%20one&limit=1&page=2`);
    document.check('GET', '/api/public/dataset-run-items', page);
    expect(page.json.data).to.deep.equal([run.datasetRunItems[1]]);
    expect(page.json.meta).to.include({ totalItems: 2, totalPages: 2 });
    const experiment = `/projects/${server.projectId}/experiments/${run.id}`;
    const { results } = await own(`${experiment}/results`);
    expect(results.map(({ output_data }: Json) => output_data)).to.deep.equal(['to question 1', 'to question 2']);
    expect((await call('POST', '/scores', { datasetRunId: run.id, name: 'mean', value: 0.5 })).status).to.equal(200);
    const link = `/project/${server.projectId}/datasets/${run.datasetId}/runs/${run.id}`;
    const { headers } = await server.request('GET', link, { key: null });
    expect(headers.get('location')).to.equal(`/console/p/${server.projectId}/experiments/${run.id}`);
    const deleted = await call('DELETE', `/datasets/linked/runs/run%20one`);
    expect(deleted.status, deleted.text).to.equal(200);
    expect((await call('GET', `/datasets/linked/runs/run%20one`)).status).to.equal(404);
  });

  it("refuse what is hostile, and never see another project's items", async () => {
    await old.createDataset('own');
    await old.createDatasetItem({ datasetName: 'own', id: 'own-1', input: 'secret' });
    await old.createDataset('second');
    const refused: readonly (readonly [string, string, object | undefined, number])[] = [
      ['POST', '/v2/datasets', { name: '../x' }, 422],
      ['POST', '/v2/datasets', { name: 'x', inputSchema: { type: 'object' } }, 422],
      ['POST', '/dataset-items', { datasetName: 'none', input: 1 }, 404],
      ['POST', '/dataset-items', { datasetName: 'second', id: 'own-1', input: 1 }, 409],
      ['POST', '/dataset-items', { datasetName: 'own', id: 'x'.repeat(201) }, 422],
      ['POST', '/dataset-items', { datasetName: 'own', input: 'x'.repeat(1024 * 1024) }, 413],
      ['GET', '/dataset-items', undefined, 422],
      ['GET', '/dataset-items?datasetName=own&limit=101', undefined, 422],
      ['GET', '/dataset-items?datasetName=own&version=now', undefined, 422],
      ['POST', '/dataset-run-items', { runName: 'r', datasetItemId: 'own-1' }, 422],
      ['POST', '/dataset-run-items', { runName: 'r\n', datasetItemId: 'own-1', traceId: 't' }, 422],
      ['POST', '/dataset-run-items', { runName: 'r', datasetItemId: 'none', traceId: 't' }, 404],
      ['POST', '/dataset-run-items', { runName: 'r', datasetItemId: 'own-1', traceId: 't', datasetVersion: 'x' }, 422],
      ['GET', '/datasets/own/runs/none', undefined, 404],
      ['POST', '/scores', { datasetRunId: 'x', name: 'mean', value: 1 }, 422],
    ];
    for (const [method, path, body, expected] of refused) {
      const { status, text } = await call(method, path, body);
      expect(status, `${method} ${path} ${text.slice(0, 200)}`).to.equal(expected);
    }
    const theirs = (method: string, path: string, body?: object) =>
      server.request(method, `/api/public${path}`, { key: other.key, ...(body && { body }) });
    for (const path of ['/dataset-items/own-1', '/v2/datasets/own', '/dataset-items?datasetName=own'])
      expect((await theirs('GET', path)).status).to.equal(404);
    const link = { runName: 'r', datasetItemId: 'own-1', traceId: 't' };
    expect((await theirs('POST', '/dataset-run-items', link)).status).to.equal(404);
  });
});
