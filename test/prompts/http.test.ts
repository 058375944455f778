import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { DATABASE_FILE, openDatabase } from '../../src/storage/sqlite/database.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { promptApi, secondProject, sha256 } from './prompt-api.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

describe('prompts', () => {
  let server: TestServer;
  let api: ReturnType<typeof promptApi>;
  let serial = 0;
  const newSlug = () => `prompt-${(serial += 1)}`;

  before(async () => {
    server = await bootServer();
    api = promptApi(server);
  });
  after(() => server.dispose());

  it('answer every field, by name, tag, number and hash', async () => {
    const slug = newSlug();
    const content = 'Hello {{name}}';
    const made = await api.ensure(slug, {
      content,
      model_id: 'openai/gpt-4o',
      metadata: { by: 'test', deep: [1, { a: null }] },
    });
    expect(made.status).to.equal(200);
    const version = made.json;
    expect(version).to.deep.equal({
      id: version.id,
      version_id: version.id,
      prompt_id: version.prompt_id,
      task_id: version.prompt_id,
      prompt: slug,
      content,
      content_hash: sha256(content),
      version: 1,
      model_id: 'openai/gpt-4o',
      tag: null,
      is_latest: true,
      metadata: { by: 'test', deep: [1, { a: null }] },
      created_at: version.created_at,
      updated_at: version.created_at,
    });
    expect(version.id).to.match(UUID);
    expect(version.prompt_id).to.match(UUID).and.not.equal(version.id);
    expect(version.created_at).to.match(TIME);
    expect((await api.get(slug)).json).to.deep.equal({ ...version, tag: 'latest' });
    expect((await api.get(slug, '?tag=latest')).json).to.deep.equal({ ...version, tag: 'latest' });
    expect((await api.get(slug, '?version=1')).json).to.deep.equal(version);
    expect((await api.get(slug, '?version=1&tag=none')).json).to.deep.equal(version);
    expect((await api.latest(slug)).json).to.deep.equal({ ...version, tag: 'latest' });
    expect((await api.byHash(slug, version.content_hash.toUpperCase())).json).to.deep.equal(version);
    expect((await api.versions(slug)).json).to.deep.equal([version]);
    expect((await api.model(version.id.toUpperCase())).json).to.deep.equal({
      model_id: 'openai/gpt-4o',
      provider: 'openai',
      model: 'openai/gpt-4o',
    });
  });

  it('are numbered in order, and the old ones stop being the latest', async () => {
    const slug = newSlug();
    for (const content of ['one', 'two', 'three', 'two', 'one'])
      expect((await api.ensure(slug, { content })).status).to.equal(200);
    const versions = (await api.versions(slug)).json;
    expect(versions.map(({ version, content, is_latest }: any) => [version, content, is_latest])).to.deep.equal([
      [1, 'one', false],
      [2, 'two', false],
      [3, 'three', true],
    ]);
    expect((await api.get(slug)).json).to.include({ version: 3, tag: 'latest', is_latest: true });
    expect((await api.get(slug, '?version=2')).json).to.include({ version: 2, tag: null, is_latest: false });
    expect((await api.ensure(slug, { content: 'one' })).json).to.include({ version: 1, is_latest: false });
  });

  it('are answered unchanged when ensured again, with their model and metadata', async () => {
    const slug = newSlug();
    const first = await api.ensure(slug, { content: 'x', model_id: 'a', metadata: { a: 1 } });
    const again = await api.ensure(slug, {
      content: 'x',
      model_id: 'b',
      metadata: { b: 2 },
      content_hash: sha256('x').toUpperCase(),
    });
    expect(again.json).to.deep.equal(first.json);
    const bare = await api.ensure(newSlug(), { content: 'x', model_id: null, metadata: null, content_hash: null });
    expect(bare.json).to.include({ model_id: null }).and.to.have.deep.property('metadata', {});
    expect(bare.json.id).to.not.equal(first.json.id);
  });

  it('keep any content byte for byte', async () => {
    const slug = newSlug();
    const contents = [
      'a',
      ' ',
      '\r\n line \r\n\r\n',
      '\ufeffwith a byte order mark',
      'nul \u0000 inside',
      '\u0000',
      'e\u0301 is not \u00e9',
      '👩‍👩‍👧‍👦 {{variable}} {{ other }}',
      '\u2028\u2029\u0085\u007f"\\/',
      '日本語'.repeat(1000),
      'x'.repeat(1024 * 1024),
      `${'ü'.repeat(512 * 1024 - 1)}\r\n`,
    ];
    for (const content of contents) {
      const made = await api.ensure(slug, { content, content_hash: sha256(content) });
      expect(made.status, JSON.stringify(content.slice(0, 40))).to.equal(200);
      expect(made.json.content === content).to.equal(true);
      expect(made.json.content_hash).to.equal(sha256(content));
      const read = await api.get(slug, `?version=${made.json.version}`);
      expect(read.json.content === content).to.equal(true);
    }
    const listed = (await api.versions(slug)).json;
    expect(listed.map(({ content }: any) => sha256(content))).to.deep.equal(contents.map(sha256));
  }).timeout(30_000);

  it('keep random unicode byte for byte', async () => {
    const slug = newSlug();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), async (content) => {
        const made = await api.ensure(slug, { content });
        expect(made.json.content).to.equal(content);
        expect((await api.byHash(slug, sha256(content))).json.content).to.equal(content);
      }),
      { numRuns: 40 },
    );
  }).timeout(30_000);

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

  it('have models bound and unbound, one version at a time', async () => {
    const slug = newSlug();
    const { id, created_at } = (await api.ensure(slug, { content: 'x' })).json;
    await api.ensure(slug, { content: 'y' });
    expect((await api.model(id)).json).to.deep.equal({ model_id: null, provider: null, model: null });
    const bound = await api.bind(slug, 1, { model_id: 'anthropic/claude-sonnet-4' });
    expect(bound.status).to.equal(200);
    expect(bound.json).to.include({ id, version: 1, model_id: 'anthropic/claude-sonnet-4', content: 'x', created_at });
    expect(bound.json.updated_at > created_at).to.equal(true);
    expect((await api.get(slug, '?version=1')).json.model_id).to.equal('anthropic/claude-sonnet-4');
    expect((await api.get(slug)).json.model_id).to.equal(null);
    const providers: [string, string | null][] = [
      ['gpt-4o', 'openai'],
      ['gemini/anything', 'gemini'],
      ['nobody/claude-3-5-sonnet-20241022', 'anthropic'],
      ['zeroeval/0199a1b2-0000-7000-8000-000000000001', null],
      ['my own model', null],
      ['/', null],
    ];
    for (const [model_id, provider] of providers) {
      await api.bind(slug, 1, { model_id });
      expect((await api.model(id)).json, model_id).to.deep.equal({ model_id, provider, model: model_id });
    }
    expect((await api.bind(slug, 1, { model_id: null })).json.model_id).to.equal(null);
    expect((await api.model(id)).json.model_id).to.equal(null);
    for (const body of [{}, { model_id: 7 }, { model_id: '' }, { model_id: 'a\nb' }, []])
      expect((await api.bind(slug, 1, body)).status).to.equal(422);
  });

  it('are listed with versions and tags, in pages', async () => {
    const slugs = ['list/a', 'list/b', 'list/c'];
    for (const slug of slugs) await api.ensure(slug, { content: 'one' });
    const { prompt_id, created_at } = (await api.ensure('list/b', { content: 'two' })).json;
    await api.pin('list/b', 'production', 1);
    const listed = (await api.list()).json.filter(({ slug }: any) => slug.startsWith('list/'));
    expect(listed.map(({ slug }: any) => slug)).to.deep.equal(slugs);
    expect(listed[1]).to.deep.equal({
      id: prompt_id,
      prompt_id,
      slug: 'list/b',
      version_count: 2,
      latest_version: 2,
      tags: [
        { tag: 'latest', version: 2 },
        { tag: 'production', version: 1 },
      ],
      created_at: listed[1].created_at,
      updated_at: created_at,
    });
    const all = (await api.list()).json;
    const paged = [...(await api.list('?limit=2')).json, ...(await api.list('?offset=2')).json];
    expect(paged).to.deep.equal(all);
    expect((await api.list('?limit=0')).status).to.equal(422);
  });

  it('are seen at once when another process has written them', async () => {
    const slug = newSlug();
    const { id } = (await api.ensure(slug, { content: 'x' })).json;
    expect((await api.get(slug)).json.model_id).to.equal(null);
    const other = openDatabase(join(server.dataDir, DATABASE_FILE));
    other.prepare('UPDATE prompt_versions SET model_id = ? WHERE id = ?').run('elsewhere', id);
    expect((await api.get(slug)).json.model_id).to.equal('elsewhere');
    expect(() => other.prepare('UPDATE prompt_versions SET content = ? WHERE id = ?').run('changed', id)).to.throw(
      'immutable',
    );
    other.close();
  });

  it('are counted by how they were fetched', async () => {
    const counted = async (result: string) => {
      const { text } = await server.request('GET', '/metrics', { key: null });
      return Number(new RegExp(`spanhouse_prompt_fetches_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
    };
    const slug = newSlug();
    await api.ensure(slug, { content: 'x' });
    const results = ['read', 'cached', 'not_found'];
    const before = await Promise.all(results.map(counted));
    await api.get(slug);
    await api.get(slug);
    await api.get('unknown');
    const after = await Promise.all(results.map(counted));
    expect(after.map((count, index) => count - (before[index] ?? 0))).to.deep.equal([1, 1, 1]);
  });
});
