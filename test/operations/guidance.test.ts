import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createLogger } from '../../src/engine/signals/logger.js';
import { bootServer, type TestServer } from '../harness/server.js';

describe('the way to what is there', () => {
  let server: TestServer;
  let log = '';
  before(async () => {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        log += String(chunk);
        done();
      },
    });
    const logger = createLogger({ level: 'info', format: 'json' }, stream);
    server = await bootServer({ logger, env: { JUDGE_LLM_URL: 'http://127.0.0.1:1' } });
  });
  after(() => server.dispose());

  it('GET / leads browsers to the console', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
    const answer = await server.request('GET', '/', { key: null, headers: { accept } });
    expect([answer.status, answer.headers.get('location'), answer.headers.get('vary')]).to.deep.equal([
      302,
      '/console',
      'Accept',
    ]);
  });

  it('GET / says to others what is where, and it is there', async () => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }, { accept: 'image/png' }]) {
      const { status, json } = await server.request('GET', '/', { key: null, headers });
      expect(status).to.equal(200);
      expect(json).to.include({ name: 'Spanhouse' });
      expect(json.paths).to.include({ docs: '/docs', traces: '/traces', judges: '/projects/{project_id}/judges' });
    }
    const { paths } = (await server.request('GET', '/', { key: null })).json as { paths: Record<string, string> };
    const document = (await server.request('GET', '/openapi.json', { key: null })).json;
    for (const path of Object.values(paths)) expect(document.paths, path).to.have.property(path);
  });

  it('a path without its project says which one was meant', async () => {
    const lacking: [path: string, meant: string][] = [
      ['/judges', '/projects/{project_id}/judges'],
      ['/projects//judges', '/projects/{project_id}/judges'],
      ['/projects/judges', '/projects/{project_id}/judges'],
      ['/projects/judges/7?limit=1', '/projects/{project_id}/judges/{judge_id}'],
      ['/judges/7:run', '/projects/{project_id}/judges/{judge_id}:run'],
      ['/projects//model-prices:reprice', '/projects/{project_id}/model-prices:reprice'],
      ['/projects//prompts/support/tags/production:pin', '/projects/{project_id}/prompts/{prompt_slug}/tags/{tag}:pin'],
      ['/projects/prompts/support/all', '/projects/{project_id}/prompts/…'],
      ['/v1/prompts/support/versions', '/projects/{project_id}/prompts/{prompt_slug}/versions'],
    ];
    for (const method of ['GET', 'POST', 'PATCH'])
      for (const [path, meant] of lacking) {
        const { status, json } = await server.request(method, path);
        expect([status, json.detail], `${method} ${path}`).to.deep.equal([
          404,
          `The path lacks the project: use ${meant}, with the project id that the first start printed (SPANHOUSE_PROJECT)`,
        ]);
      }
  });

  it('a path that begins as others do says which one was meant', async () => {
    const mistaken: [path: string, meant: string][] = [
      ['/v1/spans', '/spans'],
      ['/projects/spans', '/spans'],
      ['/projects/spans/7', '/spans/{id}'],
      [`/projects/${server.projectId}/traces?limit=1`, '/traces'],
      [`/projects/${server.projectId}/prompts/support`, '/v1/prompts/{prompt_slug}'],
      ['/projects/prompts/support', '/v1/prompts/{prompt_slug}'],
      [`/v1/projects/${server.projectId}/judges`, '/projects/{project_id}/judges'],
    ];
    for (const [path, meant] of mistaken) {
      const { status, json } = await server.request('GET', path);
      expect([status, json.detail], path).to.deep.equal([
        404,
        `Nothing exists at this path; did you mean ${meant}? GET /docs/api lists all paths`,
      ]);
    }
  });

  it('a path says what it takes', async () => {
    for (const list of ['spans', 'traces', 'sessions']) {
      const path = `/${list}/${server.projectId}`;
      const { status, json, headers } = await server.request('PATCH', path);
      expect([status, headers.get('allow'), json.detail], path).to.deep.equal([
        405,
        'DELETE, GET, HEAD',
        'This path supports DELETE, GET, HEAD',
      ]);
    }
  });

  it('other paths say nothing of the kind, and a caller without a key learns nothing', async () => {
    for (const path of [
      '/nothing',
      '/v1',
      '/v1/metrics',
      '/spans/1/2/3/4',
      `/projects/${server.projectId}/judges/7/nothing`,
      '/projects//nothing',
      '/%2Fjudges',
    ]) {
      const { status, json } = await server.request('GET', path);
      expect([status, json.detail], path).to.deep.equal([
        404,
        'Nothing exists at this path; GET /docs/api lists all paths',
      ]);
    }
    expect((await server.request('PATCH', '/spans')).status).to.equal(405);
    expect((await server.request('PUT', `/projects/${server.projectId}`)).status).to.equal(405);
    expect((await server.request('PUT', `/projects/${server.projectId}/judges`)).status).to.equal(405);
    for (const path of ['/judges', '/projects/judges', '/nothing'])
      expect((await server.request('GET', path, { key: null })).status, path).to.equal(401);
  });

  it('a variable that is no setting is named in the log, once', () => {
    expect(log.split('JUDGE_LLM_URL is not a Spanhouse setting; did you mean JUDGE_LLM_BASE_URL?')).to.have.length(2);
  });

  it('a feedback link that opens on this machine only says so, and how it opens elsewhere', async () => {
    await server.request('POST', '/v1/tasks/support/prompt/versions/ensure', { body: { content: 'Help.' } });
    const body = { prompt_slug: 'support', link_type: 'prompt_completion' };
    for (let round = 0; round < 3; round += 1) {
      const { json } = await server.request('POST', '/feedback-links', { body });
      expect(json.note).to.equal(
        'This URL works only on the server machine. To share links, start the server with PUBLIC_URL set to the address ' +
          'that others use; this link then works there too, with the same path.',
      );
    }
    expect(log.split('A link works only on this machine: set PUBLIC_URL')).to.have.length(2);
    const [listed] = (await server.request('GET', '/feedback-links')).json;
    expect(listed).to.not.have.property('note');
    await server.stop();
    server = await bootServer({ dataDir: server.dataDir, env: { PUBLIC_URL: 'https://spans.example/base' } });
    const { json } = await server.request('POST', '/feedback-links', { body });
    expect(json.url).to.match(/^https:\/\/spans\.example\/base\/f\//);
    expect(json.note).to.equal(null);
  }).timeout(30_000);
});
