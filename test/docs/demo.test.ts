import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { tellStory } from '../../scripts/demo/story.js';
import { bootServer, send, type TestServer } from '../harness/server.js';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../scripts/demo.js', import.meta.url));

describe('npm run demo', () => {
  let server: TestServer;
  let output: string;
  let key: string;

  const demo = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run(process.execPath, [program, ...args], { env: { PATH: process.env['PATH'], ...env } });

  before(async () => {
    server = await bootServer();
    const { stdout } = await demo(['--url', server.url, '--seed', '3', '--sessions', '8'], {
      DATA_DIR: server.dataDir,
    });
    output = stdout;
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

  it('sends model calls that all have a price, unless they failed', async () => {
    const calls = (await server.request('GET', '/spans?span_kind=llm&has_error=false')).json as { cost: unknown }[];
    expect(calls.length).to.be.greaterThan(8);
    for (const call of calls) expect(call.cost, JSON.stringify(call)).to.be.a('number').above(0);
  });

  it('says what to do when there is no server, no data, or the key is refused', async () => {
    const failure = async (args: readonly string[], env?: Readonly<Record<string, string>>) =>
      demo(args, env).then(
        () => 'it succeeded',
        (error: unknown) => (error as { stderr: string }).stderr,
      );
    expect(await failure(['--url', 'http://127.0.0.1:9'])).to.match(/No Spanhouse server answers at .*npm start/);
    expect(await failure(['--url', server.url], { DATA_DIR: '/nowhere' })).to.match(/no server's data in .*--key/);
    expect(await failure(['--url', server.url, '--key', 'sk_wrong'])).to.match(/does not know this API key/);
    expect(await failure(['--sessions', 'many'])).to.match(/whole number/);
  });
});

describe('the story of the demo', () => {
  const options = { seed: 11, sessions: 12, until: Date.UTC(2026, 2, 1), run: 'x' };

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
