import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { send, type TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { promptApi, secondProject, sha256 } from './prompt-api.js';

describe('prompts', () => {
  let server: TestServer;
  let api: ReturnType<typeof promptApi>;
  let serial = 0;
  const newSlug = () => `prompt-${(serial += 1)}`;

  before(async () => {
    server = await sharedServer();
    api = promptApi(server);
  });
  after(() => server.dispose());

  it('are not made when the hash is not that of the content, or anything else is wrong', async () => {
    const slug = newSlug();
    const bad: [unknown, string][] = [
      [{ content: 'x', content_hash: sha256('y') }, '/content_hash'],
      [{ content: 'x', content_hash: 'abc' }, '/content_hash'],
      [{ content: '' }, '/content'],
      [{}, '/content'],
      [{ content: 7 }, '/content'],
      [{ content: null }, '/content'],
      [{ content: 'half \ud83d' }, '/content'],
      [{ content: 'x'.repeat(4 * 1024 * 1024 + 1) }, '/content'],
      [{ content: 'x', model_id: '' }, '/model_id'],
      [{ content: 'x', model_id: 7 }, '/model_id'],
      [{ content: 'x', metadata: [] }, '/metadata'],
      [{ content: 'x', metadata: 'text' }, '/metadata'],
      [{ content: 'x', config: { large: 'x'.repeat(300_000) }, content_hash: sha256('x') }, '/config'],
      [{ content: 'x', metadata: { large: 'x'.repeat(300_000) } }, '/metadata'],
    ];
    for (const [body, pointer] of bad) {
      const refused = await api.ensure(slug, body);
      expect([refused.status, refused.json.errors?.[0]?.pointer], JSON.stringify(body).slice(0, 60)).to.deep.equal([
        422,
        pointer,
      ]);
    }
    expect((await api.ensure(slug, [])).status).to.equal(422);
    expect((await api.ensure(slug, '{')).status).to.equal(400);
    expect((await api.get(slug)).status).to.equal(404);
    expect((await api.list()).json.map(({ slug: name }: any) => name)).to.not.include(slug);
  });

  it('have slugs of letters, digits, dots, underscores, hyphens, spaces and slashes', async () => {
    const good = ['a', 'A.b_c-9', 'with space', 'folder/name', '/', ' ', 'a//b', 'x'.repeat(128)];
    for (const slug of good) {
      const made = await api.ensure(slug, { content: slug });
      expect([made.status, made.json.prompt], slug).to.deep.equal([200, slug]);
      expect((await api.get(slug)).json.content, slug).to.equal(slug);
      expect((await api.versions(slug)).json, slug).to.have.length(1);
    }
    expect((await api.get('a')).json.content).to.equal('a');
    for (const slug of ['x'.repeat(129), 'ü', 'a:b', 'a?b', 'a%b', 'a#b', 'a\\b', 'a\nb', '日本', 'a+b', '\u0000']) {
      const refused = await api.ensure(slug, { content: 'x' });
      expect([refused.status, refused.json.errors[0].pointer], slug).to.deep.equal([422, '{task_name}']);
      expect((await api.get(slug)).status, slug).to.equal(422);
    }
    // A slash that is not encoded separates segments.
    expect((await send(`${server.url}/v1/prompts/folder/name`, 'GET', { key: server.key })).status).to.equal(404);
    expect((await send(`${server.url}/v1/prompts/%zz`, 'GET', { key: server.key })).status).to.equal(400);
  });

  it('that do not exist are 404', async () => {
    const slug = newSlug();
    await api.ensure(slug, { content: 'x' });
    const nowhere = [
      api.get('unknown'),
      api.get('unknown', '?version=1'),
      api.get(slug, '?version=2'),
      api.get(slug, `?version=999999999999999`),
      api.get(slug, '?tag=production'),
      api.latest('unknown'),
      api.byHash(slug, sha256('y')),
      api.byHash('unknown', sha256('x')),
      api.model(randomUUID()),
      api.versions('unknown'),
      api.tags('unknown'),
      api.pin('unknown', 'production', 1),
      api.pin('unknown', 'latest', 1),
      api.pin(slug, 'production', 2),
      api.history(slug, 'production'),
      api.history('unknown', 'latest'),
      api.bind(slug, 2, { model_id: 'x' }),
      api.bind('unknown', 1, { model_id: 'x' }),
    ];
    for (const [index, answer] of (await Promise.all(nowhere)).entries()) {
      expect([answer.status, answer.headers.get('content-type')], `case ${index}`).to.deep.equal([
        404,
        'application/problem+json',
      ]);
    }
    expect((await api.tags(slug)).json).to.deep.equal([{ tag: 'latest', version: 1 }]);
  });

  it('of another project do not exist for a key, and its path is forbidden', async () => {
    const other = secondProject(server);
    const slug = newSlug();
    const { id } = (await api.ensure(slug, { content: 'mine' })).json;
    const foreign = promptApi(server, other.key);
    expect((await foreign.get(slug)).status).to.equal(404);
    expect((await foreign.model(id)).status).to.equal(404);
    expect((await foreign.byHash(slug, sha256('mine'))).status).to.equal(404);
    for (const answer of [
      await foreign.versions(slug),
      await foreign.tags(slug),
      await foreign.list(),
      await foreign.pin(slug, 'x', 1),
      await foreign.bind(slug, 1, { model_id: 'x' }),
      await foreign.history(slug, 'x'),
    ])
      expect(answer.status).to.equal(403);
    expect((await foreign.ensure(slug, { content: 'theirs' })).json).to.include({ version: 1 });
    const theirs = promptApi({ ...server, projectId: other.projectId }, other.key);
    expect((await theirs.list()).json.map(({ slug: name }: any) => name)).to.deep.equal([slug]);
    expect((await api.get(slug)).json.content).to.equal('mine');
    expect((await promptApi(server, 'nobody').get(slug)).status).to.equal(401);
  });

  it('take whole numbers from 1 as versions, and nothing else', async () => {
    const slug = newSlug();
    await api.ensure(slug, { content: 'x' });
    for (const version of ['0', '-1', '1.5', 'abc', '9007199254740992', '', '1e0', '0x1', ' 1']) {
      expect((await api.get(slug, `?version=${encodeURIComponent(version)}`)).status, version).to.equal(422);
      if (version !== '')
        expect((await api.bind(slug, encodeURIComponent(version), { model_id: 'x' })).status, version).to.equal(422);
    }
    expect((await api.get(slug, '?version=1&version=1')).status).to.equal(422);
    for (const version of [0, -1, 1.5, 'abc', '1', 2 ** 53, null, true, [1], undefined])
      expect((await api.pin(slug, 'production', version)).status, String(version)).to.equal(422);
    for (const tag of ['a/b', 'ü', 'x'.repeat(65), 'a b'])
      expect((await api.get(slug, `?tag=${encodeURIComponent(tag)}`)).status, tag).to.equal(422);
    expect((await api.byHash(slug, 'abc')).status).to.equal(422);
    expect((await api.model('no-uuid')).status).to.equal(422);
  });
});
