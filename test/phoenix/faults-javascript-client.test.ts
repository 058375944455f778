import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { nodeFolderWith, requireInstalled } from '../harness/foreign-packages.js';
import { bootServer, type TestServer } from '../harness/server.js';

const execute = promisify(execFile);
const { cwd, install } = nodeFolderWith({
  folder: 'spanhouse-test-phoenix-javascript-6.14.2',
  packages: ['@arizeai/phoenix-client@6.14.2', '@arizeai/phoenix-otel@2.1.0'],
  check: 'import "@arizeai/phoenix-client"; import "@arizeai/phoenix-otel";',
});

describe("Phoenix's client for JavaScript, unchanged", function () {
  this.timeout(400_000);
  let server: TestServer;
  before(async function () {
    await requireInstalled(this, install());
    server = await bootServer();
  });
  after(() => server?.dispose());

  it('makes a dataset, runs an experiment on it, and goes on with it', async () => {
    const env = {
      ...{ PATH: process.env['PATH'], PHOENIX_API_KEY: server.key },
      ...{ PHOENIX_HOST: `${server.url}/phoenix`, PHOENIX_COLLECTOR_ENDPOINT: server.url },
    };
    const program = `
import { createDataset, appendDatasetExamples, getDataset } from '@arizeai/phoenix-client/datasets';
import { asExperimentEvaluator, runExperiment, getExperiment, resumeEvaluation } from '@arizeai/phoenix-client/experiments';
import { addSessionAnnotation, deleteSession, deleteSessions } from '@arizeai/phoenix-client/sessions';
const { datasetId } = await createDataset({ name: 'js', description: 'Some', examples: [{ input: { q: 'a' }, output: { a: 'A' } }, { input: { q: 'b' }, output: { a: 'X' } }] });
await appendDatasetExamples({ dataset: { datasetName: 'js' }, examples: [{ input: { q: 'c' }, output: { a: 'C' } }] });
const dataset = await getDataset({ dataset: { datasetId } });
const right = asExperimentEvaluator({ name: 'right', kind: 'CODE', evaluate: async ({ output, expected }) => ({ score: Number(output.a === expected.a) }) });
const ran = await runExperiment({ experimentName: 'upper', dataset: { datasetName: 'js' }, task: async ({ input }) => ({ a: input.q.toUpperCase() }), evaluators: [right], logger: { info() {}, debug() {}, warn() {}, error() {}, log() {}, table() {} } });
const tone = asExperimentEvaluator({ name: 'tone', kind: 'CODE', evaluate: async () => ({ label: 'calm' }) });
await resumeEvaluation({ experimentId: ran.id, evaluators: [tone] });
const read = await getExperiment({ experimentId: ran.id });
await addSessionAnnotation({ sessionAnnotation: { sessionId: 'js-talk', name: 'tone', annotatorKind: 'CODE', label: 'calm' }, sync: true });
await deleteSessions({ sessionIds: ['js-none'] });
const refused = await deleteSession({ sessionId: 'js-none' }).catch(({ message }) => message);
console.log(JSON.stringify({ refused, id: ran.id, examples: dataset.examples.length, runs: Object.values(read.runs).map(({ output }) => output.a), counts: [read.successfulRunCount, read.missingRunCount] }));`;
    const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], { cwd, env });
    const said = JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null');
    expect(said).to.deep.include({ examples: 3, counts: [3, 0] });
    expect(said.refused).to.include('404');
    const [tone] = (await server.request('GET', '/scores?entity_type=session')).json;
    expect(tone).to.include({ name: 'tone', value: 'calm', source: 'code' });
    expect(said.runs).to.have.members(['A', 'B', 'C']);
    const path = `/projects/${server.projectId}/experiments/${said.id}`;
    const { json: experiment } = await server.request('GET', path);
    expect(experiment.figures).to.include({ results: 3, errors: 0 });
    const scores = Object.fromEntries(experiment.figures.scores.map((each: any) => [each.name, each]));
    expect(scores.right.mean).to.be.closeTo(2 / 3, 0.001);
    expect(scores.tone).to.include({ count: 3, kind: 'categorical' });
  });
});
