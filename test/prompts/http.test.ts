import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { promptApi, sha256 } from './prompt-api.js';

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
