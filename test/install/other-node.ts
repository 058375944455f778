import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../judges/judge-api.js';
import { ModelEndpoint } from '../judges/model-endpoint.js';
import { packageRoot } from '../../src/engine/files/schema-files.js';
import { Program } from '../harness/program.js';

const TRACE = '0197f3a0-0000-7000-8000-0000000000a1';
const SPAN = '0197f3a0-0000-7000-8000-0000000000a2';
const OTLP_TRACE = '0197f3a0-0000-7000-8000-0000000000b1';

/** The path of that Node.js, fetched as `npm start` fetches one. */
function fetchedNode(major: string): string {
  const script = join(packageRoot(), 'scripts/node.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, major], { encoding: 'utf8' });
  expect(status, stderr).to.equal(0);
  return stdout.trim();
}

/** Declares tests of the program on another Node.js than that of all tests. */
export function onNode(major: string): void {
  describe(`on Node.js ${major}`, function () {
    this.timeout(120_000);
    let node: string;
    let model: ModelEndpoint;
    let program: Program;
    let judgeId: string;
    let dataDir: string;
    const folders: string[] = [];
    const newDataDir = async () => {
      const folder = await mkdtemp(join(tmpdir(), 'spanhouse-node-'));
      folders.push(folder);
      return folder;
    };
    const environment = () => ({ JUDGE_LLM_BASE_URL: model.url, JUDGE_LLM_API_KEY: 'k', JUDGE_LLM_MODEL: 'gpt-4o' });
    const start = async () => (program = await Program.start(dataDir, environment(), node));
    const ask = async (method: string, path: string, body?: unknown) => {
      const { status, json } = await program.request(method, path, body);
      expect(status, `${method} ${path}: ${JSON.stringify(json)}`).to.be.oneOf([200, 201, 202]);
      return json;
    };

    before(async () => {
      node = fetchedNode(major);
      model = await ModelEndpoint.start();
      dataDir = await newDataDir();
    });

    after(async () => {
      await program.destroy();
      await model.stop();
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    });

    it('is the version that was asked for', () => {
      expect(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout).to.match(new RegExp(`^v${major}\\.`));
    });

    it('starts in an empty folder and takes spans by REST and by OTLP', async () => {
      await start();
      await ask('POST', '/spans', [
        {
          id: SPAN,
          trace_id: TRACE,
          name: 'before the judge',
          kind: 'llm',
          started_at: '2026-01-15T10:00:00Z',
          output_data: 'One timed step.',
          attributes: { provider: 'openai', model: 'gpt-4o', inputTokens: 100, outputTokens: 100 },
        },
      ]);
      await ask('POST', '/v1/traces', otlpRequest());
      const traces = await ask('GET', '/traces?sort_by=started_at&sort_order=asc');
      expect(traces.map(({ id, span_count, cost }: any) => ({ id, span_count, cost }))).to.deep.equal([
        { id: TRACE, span_count: 1, cost: 0.00125 },
        { id: OTLP_TRACE, span_count: 1, cost: null },
      ]);
    });

    it('versions prompts, and evaluates spans with a judge', async () => {
      const version = await ask('POST', '/v1/tasks/support/prompt/versions/ensure', { content: 'You help.' });
      expect((await ask('GET', '/v1/prompts/support')).version_id).to.equal(version.id);
      const judge = { name: 'Answers', evaluation_type: 'binary', prompt: 'Does it answer?' };
      judgeId = (await ask('POST', `/projects/${program.projectId}/judges`, judge)).id;
      await ask('POST', `/projects/${program.projectId}/judges/${judgeId}:run`, { span_ids: [SPAN] });
      const [evaluation] = await evaluations(1);
      expect(evaluation).to.include({ span_id: SPAN, evaluation_result: true });
    });

    it('has everything after kill -9', async () => {
      program.signal('SIGKILL');
      await program.ended;
      await start();
      const ids = (await ask('GET', `/spans?trace_id=${TRACE}`)).map(({ id }: { id: string }) => id);
      expect(ids).to.deep.equal([SPAN]);
      expect((await ask('GET', `/traces?id=${OTLP_TRACE}`))[0].span_count).to.equal(1);
      expect(await evaluations(1)).to.have.length(1);
    });

    it('goes on with what a server on the Node.js of the other tests has left, and the other way round', async () => {
      program.signal('SIGTERM');
      expect(await program.ended).to.deep.equal({ code: 0, signal: null });
      for (const next of [process.execPath, node]) {
        program = await Program.start(dataDir, environment(), next);
        expect((await ask('GET', '/traces')).length).to.be.at.least(2);
        expect((await ask('GET', '/v1/prompts/support')).content).to.equal('You help.');
        expect(await evaluations(1)).to.have.length(1);
        program.signal('SIGTERM');
        await program.ended;
        expect(program.stderr).to.equal('');
      }
    });

    async function evaluations(least: number): Promise<any[]> {
      const path = `/projects/${program.projectId}/judges/${judgeId}/evaluations`;
      return eventually(
        async () => (await ask('GET', path)).evaluations,
        (all: any[]) => all.length >= least,
      );
    }
  });
}

function otlpRequest(): object {
  const nanos = (millis: number) => `${Date.parse('2026-01-15T11:00:00Z') + millis}000000`;
  const span = {
    traceId: OTLP_TRACE.replaceAll('-', ''),
    spanId: 'a1b2c3d4e5f60718',
    name: 'by OpenTelemetry',
    startTimeUnixNano: nanos(0),
    endTimeUnixNano: nanos(5),
  };
  return { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
}
