import { expect } from 'chai';
import { createMetrics } from '../../src/engine/signals/metrics.js';
import { MAX_MODELS, ProjectSeries } from '../../src/engine/signals/project-series.js';
import { span } from '../harness/checked-api.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { eventually } from '../judges/judge-api.js';

const SUM = { spans: 1, errors: 0, cost: 0.5, input_tokens: 2, output_tokens: 3 };

describe('series by project and model', function () {
  this.timeout(60_000);

  /** Series of one metric: their labels, as they are exposed, with their values. */
  function seriesOf(text: string, metric = 'spanhouse_project_spans_total'): Map<string, number> {
    const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`));
    return new Map(
      lines.map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(metric.length, end), Number(line.slice(end))];
      }),
    );
  }

  it('are bounded, whatever models are called, and lose no span', async () => {
    const metrics = createMetrics();
    const series = new ProjectSeries(metrics);
    series.open(100, (project) => project === 'gone');
    const hostile = [
      ...Array.from({ length: 5_000 }, (_, number) => `model-${number}`),
      ...['', 'other', 'none', '"} 1\nspanhouse_up 0 #', '\\', '\r\n', '\u0000', '\u2028', '__proto__', 'constructor'],
      'x'.repeat(1_000_000),
    ];
    for (const project of ['hostile', 'other', 'constructor', 'gone'])
      for (const model of [null, ...hostile]) series.add(project, [{ model, ...SUM }]);
    const text = await metrics.registry.metrics();
    const found = seriesOf(text);
    expect(found.size).to.be.at.most(101);
    expect([...found.keys()].filter((labels) => labels.includes('project="hostile"'))).to.have.length(MAX_MODELS);
    expect([...found.values()].reduce((sum, each) => sum + each)).to.equal(3 * (hostile.length + 1));
    expect(found.get('{project="hostile",model="none"}'), 'one without a model, and one of that name').to.equal(2);
    expect(text).to.not.match(/^spanhouse_up/m);
    expect(Buffer.byteLength(text)).to.be.below(1_000_000);
    series.forget('hostile');
    const left = seriesOf(await metrics.registry.metrics());
    expect([...left.keys()].some((labels) => labels.includes('hostile'))).to.equal(false);
    // There is room again.
    series.add('later', [{ model: 'gpt-4o', ...SUM }]);
    expect(seriesOf(await metrics.registry.metrics()).get('{project="later",model="gpt-4o"}')).to.equal(1);
  });

  describe('of a server', () => {
    let server: TestServer;
    before(async () => {
      server = await bootServer({
        env: { METRICS_PROJECT_SERIES: '3', INGEST_THREADS: '1' },
        bodyThreads: { leastBytes: 2_000 },
      });
    });
    after(() => server.dispose());

    const metrics = async () => (await server.request('GET', '/metrics', { key: null })).text;

    it('count what is acknowledged, in threads too, and go with their project', async () => {
      const { projectId, key } = makeProject(server.dataDir);
      const calls = (from: number, count: number, model: string | null, more: object = {}) =>
        Array.from({ length: count }, (_, n) => {
          const tokens = { inputTokens: 10, outputTokens: 1 };
          const attributes = model === null ? {} : { provider: 'openai', model, ...tokens };
          return span(from + n, { name: 'call', kind: 'llm', cost: 0.25, attributes, ...more });
        });
      const post = async (body: unknown) => (await server.request('POST', '/spans', { body, key })).status;
      expect(await post(calls(0, 1, 'gpt-4o'))).to.equal(200);
      expect(await post(calls(100, 40, 'gpt-4o', { status: 'error' }))).to.equal(200);
      expect(await post(calls(200, 2, null))).to.equal(200);
      expect(await post([...calls(300, 40, 'gpt-4o'), { id: 'wrong' }]), 'nothing of it counts').to.equal(422);
      const own = (model: string) => `{project="${projectId}",model="${model}"}`;
      const text = await metrics();
      expect(Object.fromEntries(seriesOf(text))).to.deep.equal({ [own('gpt-4o')]: 41, [own('none')]: 2 });
      const of = (metric: string, labels = own('gpt-4o')) => seriesOf(text, `spanhouse_project_${metric}`).get(labels);
      expect(of('span_errors_total')).to.equal(40);
      expect(of('spans_cost_dollars_total')).to.equal(41 * 0.25);
      const direction = (name: string) => own('gpt-4o').replace('}', `,direction="${name}"}`);
      expect(of('tokens_total', direction('input'))).to.equal(410);
      expect(of('tokens_total', direction('output'))).to.equal(41);
      expect(await post([...calls(400, 1, 'a'), ...calls(410, 1, 'b')])).to.equal(200);
      const found = seriesOf(await metrics());
      expect(found.get(own('a'))).to.equal(1);
      expect(found.get('{project="other",model="other"}')).to.equal(1);
      expect((await server.request('DELETE', `/projects/${projectId}`, { key })).status).to.equal(202);
      await eventually(metrics, (gone) => !gone.includes(projectId));
    });
  });

  it('are off by default', async () => {
    const metrics = createMetrics();
    new ProjectSeries(metrics).add('project', [{ model: 'gpt-4o', ...SUM }]);
    expect(seriesOf(await metrics.registry.metrics()).size).to.equal(0);
  });
});
