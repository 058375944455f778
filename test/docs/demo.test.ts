import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { tellStory } from '../../scripts/demo/story.js';
import { DASHBOARD, VIEW } from '../../scripts/demo/dashboards.js';
import { PROMPTS } from '../../scripts/demo/prompts.js';
import { HOUSE_MODEL, UNPRICED_MODEL } from '../../scripts/demo/models.js';
import { bootServer, send, type TestResponse, type TestServer } from '../harness/server.js';
import { PROGRAM_ENV } from '../harness/program-files.js';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../scripts/demo.js', import.meta.url));

interface Named {
  readonly name: string;
}

describe('npm run demo', () => {
  let server: TestServer;
  let first: string;
  /** Of the second time. */
  let output: string;
  let key: string;

  const demo = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run(process.execPath, [program, ...args], { env: { ...PROGRAM_ENV, ...env } });

  let [once, twice]: Made[] = [];

  const tell = async () => {
    const { stdout } = await demo(['--url', server.url, '--seed', '3', '--sessions', '12'], {
      DATA_DIR: server.dataDir,
    });
    return stdout;
  };
  const answer = async (path: string) => {
    const response = await server.request('GET', path);
    expect(response.status, path).to.equal(200);
    return response;
  };

  before(async () => {
    server = await bootServer();
    first = await tell();
    once = await countAll(server.projectId, answer);
    output = await tell();
    twice = await countAll(server.projectId, answer);
    key = /SPANHOUSE_KEY=(\S+)/.exec(output)?.[1] ?? '';
  });
  after(() => server.dispose());

  it('prints what the server stored, and that is what it sent', () => {
    const rows = [...output.matchAll(/^ {2}(sessions|traces|spans|spans with errors) +(\d+) +(\d+)$/gm)];
    expect(rows.map(([, name]) => name)).to.deep.equal(['sessions', 'traces', 'spans', 'spans with errors']);
    for (const [, name, sent, stored] of rows) {
      expect(Number(sent), String(name)).to.be.greaterThan(0);
      expect(stored, String(name)).to.equal(sent);
    }
  });

  it('prints addresses that answer something with the key it made', async () => {
    const urls = [...output.matchAll(/curl -sS '([^']+)'/g)].map(([, url]) => url ?? '');
    expect(urls.length).to.be.at.least(6);
    for (const url of urls) {
      const response = await send(url, 'GET', { key });
      expect(response.status, url).to.equal(200);
      expect(response.json, url).to.be.an('array').that.is.not.empty;
    }
  });

  it('sends model calls that all have a price, unless they failed or nobody knows it', async () => {
    const { json } = await answer('/spans?span_kind=llm&has_error=false');
    const calls = json as { cost: unknown; model: string }[];
    const [unpriced, priced] = [true, false].map((is) =>
      calls.filter(({ model }) => (model === UNPRICED_MODEL.model) === is),
    );
    expect(priced?.length).to.be.greaterThan(8);
    for (const call of priced ?? []) expect(call.cost, JSON.stringify(call)).to.be.a('number').above(0);
    expect(new Set(unpriced?.map(({ cost }) => cost))).to.deep.equal(new Set([null]));
    expect(calls.map(({ model }) => model)).to.include(HOUSE_MODEL.model);
  });

  it('makes prompts with versions and moved tags, which answers name', async () => {
    for (const { slug, versions, pins } of Object.values(PROMPTS)) {
      const path = `/projects/${server.projectId}/prompts/${slug}`;
      expect((await answer(`${path}/versions`)).json).to.have.lengthOf(versions.length);
      const moves = (await answer(`${path}/tags/production/history`)).json as { version: number }[];
      expect(moves.map(({ version }) => version).reverse()).to.deep.equal(
        pins.filter(([tag]) => tag === 'production').map(([, version]) => version),
      );
    }
    const { versions } = (
      await answer(`/projects/${server.projectId}/prompts/${PROMPTS['order-desk'].slug}/versions:stats`)
    ).json as { versions: { calls: number }[] };
    expect(versions.map(({ calls }) => calls > 0)).to.deep.equal([true, true, true]);
  });

  it('collects feedback of several people, and a link for more', async () => {
    const names = new Set<string>();
    for (const { slug } of Object.values(PROMPTS)) {
      const { json } = await answer(`/projects/${server.projectId}/prompts/${slug}/feedback?limit=500`);
      const { feedback } = json as { feedback: { created_by: { name: string }; thumbs_up: boolean; reason: string }[] };
      for (const { created_by, thumbs_up, reason } of feedback) {
        names.add(created_by.name);
        if (!thumbs_up) expect(reason).to.be.a('string').that.is.not.empty;
      }
    }
    expect(names.size).to.be.at.least(3);
    const link = /feedback link, .*(\/f\/\S+)$/m.exec(first)?.[1] ?? '';
    const page = await server.request('GET', link, { key: null });
    expect(page.status).to.equal(200);
  });

  it('brings a judge with evaluations by a stand-in that is named as such, and corrections', async () => {
    const judges = (await answer(`/projects/${server.projectId}/judges`)).json as { id: string; enabled: boolean }[];
    expect(judges).to.have.lengthOf(1);
    const [{ id, enabled } = { id: '', enabled: true }] = judges;
    expect(enabled, 'it would ask a model').to.be.false;
    const path = `/projects/${server.projectId}/judges/${id}`;
    const { evaluations } = (await answer(`${path}/evaluations?agreement=disagreed`)).json as {
      evaluations: { model_used: string; origin: string }[];
    };
    expect(evaluations).not.to.be.empty;
    for (const { model_used, origin } of evaluations) {
      expect(model_used).to.include('no model called');
      expect(origin).to.equal('external');
    }
    const { kappa, agreed, count, by_version } = (await answer(`${path}/calibration`)).json as Calibration;
    expect(kappa).to.be.within(-1, 1);
    expect(agreed).to.be.greaterThan(0).and.below(count);
    const [first, second] = by_version;
    expect([first?.prompt_version, second?.prompt_version]).to.deep.equal([1, 2]);
    expect(second?.rate).to.be.greaterThan(first?.rate ?? 1);
    expect(output).to.include('no model called').and.to.include(`/console/p/${server.projectId}/judges/${id}`);
  });

  it('makes a dashboard and a saved view', async () => {
    const named = async (path: string) => (await answer(`/projects/${server.projectId}/${path}`)).json as Named[];
    expect((await named('dashboards')).map(({ name }) => name)).to.deep.equal([DASHBOARD.name]);
    expect((await named('saved-views')).map(({ name }) => name)).to.deep.equal([VIEW.name]);
  });

  it('doubles nothing when it is told again', () => {
    expect(twice).to.deep.equal(once);
  });

  it('says what to do when there is no server, no data, or the key is refused', async () => {
    const failure = async (args: readonly string[], env?: Readonly<Record<string, string>>) =>
      demo(args, env).then(
        () => 'it succeeded',
        (error: unknown) => (error as { stderr: string }).stderr,
      );
    expect(await failure(['--url', 'http://127.0.0.1:9'])).to.match(/No Spanhouse server responds at .*npm start/);
    expect(await failure(['--url', server.url], { DATA_DIR: '/nowhere' })).to.match(/No server data in .*--key/);
    expect(await failure(['--url', server.url, '--key', 'sk_wrong'])).to.match(/does not accept this API key/);
    expect(await failure(['--sessions', 'many'])).to.match(/whole number/);
  });
});

interface Calibration {
  readonly kappa: number;
  readonly agreed: number;
  readonly count: number;
  readonly by_version: readonly { readonly prompt_version: number; readonly rate: number }[];
}

/** How much there is of all that the demo makes. */
type Made = Readonly<Record<string, number>>;

async function countAll(projectId: string, answer: (path: string) => Promise<TestResponse>): Promise<Made> {
  const project = `/projects/${projectId}`;
  const counts: Record<string, number> = {};
  for (const list of ['spans', 'traces', 'sessions'])
    counts[list] = Number((await answer(`/${list}?limit=1&count=true`)).headers.get('X-Total-Count'));
  const lists = ['/feedback-links', `${project}/judges`, `${project}/prompts`, `${project}/model-prices`];
  for (const path of lists) counts[path] = ((await answer(path)).json as unknown[]).length;
  for (const { slug } of (await answer(`${project}/prompts`)).json as { slug: string }[]) {
    const prompt = `${project}/prompts/${slug}`;
    for (const path of [`${prompt}/versions`, `${prompt}/tags/production/history`])
      counts[path] = ((await answer(path)).json as unknown[]).length;
    counts[`${prompt}/feedback`] = ((await answer(`${prompt}/feedback?limit=1`)).json as { total: number }).total;
  }
  const [judge] = (await answer(`${project}/judges`)).json as { id: string }[];
  const path = `${project}/judges/${judge?.id ?? ''}`;
  counts['evaluations'] = ((await answer(`${path}/evaluations?limit=1`)).json as { total: number }).total;
  counts['corrections'] = ((await answer(`${path}/calibration`)).json as { count: number }).count;
  expect(Object.entries(counts).filter(([, count]) => !(count > 0))).to.deep.equal([]);
  return counts;
}

describe('the story of the demo', () => {
  const made = [1, 2, 3].map((version) => ({ id: `00000000-0000-4000-8000-00000000000${version}`, version }));
  const prompts = { 'support-chat': made, 'order-desk': made, 'buying-guide': made.slice(1) };
  const options = { seed: 11, sessions: 12, until: Date.UTC(2026, 2, 1), run: 'x', prompts };

  it('is the same for the same seed, and another for another', () => {
    expect(tellStory(options)).to.deep.equal(tellStory(options));
    expect(tellStory({ ...options, seed: 12 })).not.to.deep.equal(tellStory(options));
  });

  it('lies within its hour, each span within its parent', () => {
    for (const { spans } of tellStory(options)) {
      const byId = new Map(spans.map((span) => [span.id, span]));
      for (const span of spans) {
        expect(String(span.started_at) >= '2026-02-28T23:00' && String(span.ended_at) < '2026-03-01T00:00').to.be.true;
        if (span.parent_span_id == null) continue;
        const parent = byId.get(span.parent_span_id);
        expect(String(parent?.started_at) <= String(span.started_at), span.name).to.be.true;
        expect(String(parent?.ended_at) >= String(span.ended_at), span.name).to.be.true;
      }
    }
  });

  it('has answers that differ by the version of the prompt', () => {
    const { slug } = PROMPTS['order-desk'];
    const spans = tellStory({ ...options, sessions: 60 }).flatMap((request) => request.spans);
    const [wordy = 0, brief = 0, plain = 0] = made.map(({ id }) => {
      const lengths = spans
        .filter(({ attributes }) => attributes?.['prompt_slug'] === slug && attributes['prompt_version_id'] === id)
        .flatMap(({ output_data }) => (typeof output_data === 'string' ? [output_data.length] : []));
      return lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
    });
    expect(wordy).to.be.greaterThan(plain);
    expect(plain).to.be.greaterThan(brief);
  });

  it('holds what there is to look at', () => {
    const story = tellStory({ ...options, sessions: 40 });
    const spans = story.flatMap((request) => request.spans);
    expect([...new Set(spans.map(({ kind }) => kind))]).to.include.members([
      'agent',
      'llm',
      'retriever',
      'vector_store',
      'embedding',
      'tool',
      'http',
      'database',
    ]);
    expect(new Set(spans.map(({ attributes }) => attributes?.['model'])).size).to.be.greaterThan(4);
    expect(spans.some(({ error_stack }) => error_stack?.includes('Traceback') === true)).to.be.true;
    expect(story.some(({ again }) => again)).to.be.true;
  });
});
