import { join } from 'node:path';
import { expect } from 'chai';
import { NO_AUDIT_LOG } from '../../src/engine/identity/audit.js';
import { PromptService } from '../../src/features/prompts/prompt-service.js';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { SqlitePromptStore } from '../../src/features/prompts/store/prompt-store.js';
import { withDatabase } from '../feedback/feedback-api.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { promptApi, secondProject } from './prompt-api.js';

describe('tags of prompts', () => {
  let server: TestServer;
  let api: ReturnType<typeof promptApi>;
  let serial = 0;

  before(async () => {
    server = await bootServer();
    api = promptApi(server);
  });
  after(() => server.dispose());

  async function promptOf(versions: number): Promise<string> {
    const slug = `tagged ${(serial += 1)}`;
    for (let version = 1; version <= versions; version += 1) await api.ensure(slug, { content: `v${version}` });
    return slug;
  }

  it('point where they were pinned, move and roll back, and remember it', async () => {
    const slug = await promptOf(3);
    const pinned = await api.pin(slug, 'production', 1);
    expect([pinned.status, pinned.json]).to.deep.equal([200, { tag: 'production', version: 1 }]);
    expect((await api.get(slug, '?tag=production')).json).to.include({
      version: 1,
      content: 'v1',
      tag: 'production',
      is_latest: false,
    });
    await api.pin(slug, 'production', 3);
    expect((await api.get(slug, '?tag=production')).json).to.include({
      version: 3,
      tag: 'production',
      is_latest: true,
    });
    await api.pin(slug, 'production', 1);
    expect((await api.get(slug, '?tag=production')).json).to.include({ version: 1 });
    await api.pin(slug, 'A.b_c-9', 2);
    expect((await api.tags(slug)).json).to.deep.equal([
      { tag: 'latest', version: 3 },
      { tag: 'A.b_c-9', version: 2 },
      { tag: 'production', version: 1 },
    ]);
    const history = (await api.history(slug, 'production')).json;
    expect(history.map(({ version }: any) => version)).to.deep.equal([1, 3, 1]);
    for (const { pinned_at, pinned_by } of history) {
      expect(Date.parse(pinned_at)).to.be.closeTo(Date.now(), 60_000);
      expect(pinned_by).to.deep.equal({ id: pinned_by.id, email: null, name: 'Owner' });
    }
    expect((await api.history(slug, 'production', '?limit=1&offset=1')).json).to.deep.equal([history[1]]);
  });

  it('named latest follow the newest version by themselves', async () => {
    const slug = await promptOf(1);
    await api.pin(slug, 'production', 1);
    expect((await api.pin(slug, 'latest', 1)).status).to.equal(409);
    expect((await api.get(slug)).json).to.include({ version: 1, tag: 'latest' });
    await api.ensure(slug, { content: 'v2' });
    expect((await api.get(slug)).json).to.include({ version: 2, tag: 'latest', is_latest: true });
    expect((await api.get(slug, '?tag=production')).json).to.include({ version: 1, is_latest: false });
    expect((await api.tags(slug)).json[0]).to.deep.equal({ tag: 'latest', version: 2 });
    expect((await api.history(slug, 'latest')).json.map(({ version }: any) => version)).to.deep.equal([2, 1]);
  });

  it('are removed at once, keep their history and can be pinned again', async () => {
    const slug = await promptOf(2);
    await api.pin(slug, 'production', 2);
    await api.pin(slug, 'prodution', 2);
    await api.pin(slug, 'prodution', 1);
    expect((await api.get(slug, '?tag=prodution')).json).to.include({ version: 1 });
    expect((await api.removeTag(slug, 'prodution')).status).to.equal(204);
    for (const { status, json } of [await api.get(slug, '?tag=prodution'), await api.removeTag(slug, 'prodution')])
      expect([status, json.detail]).to.deep.equal([404, 'The prompt has no tag prodution']);
    const left = [
      { tag: 'latest', version: 2 },
      { tag: 'production', version: 2 },
    ];
    expect((await api.tags(slug)).json).to.deep.equal(left);
    expect((await api.list()).json.find((prompt: any) => prompt.slug === slug).tags).to.deep.equal(left);
    const history = (await api.history(slug, 'prodution')).json;
    expect(history.map(({ version }: any) => version)).to.deep.equal([null, 1, 2]);
    expect(history[0].pinned_by).to.include({ name: 'Owner' });
    expect((await api.history(slug, 'prodution', '?offset=3')).json).to.deep.equal([]);
    // It keeps its version no longer.
    expect((await api.remove(slug, 1)).status).to.equal(204);
    await api.pin(slug, 'prodution', 2);
    expect((await api.get(slug, '?tag=prodution')).json).to.include({ version: 2, tag: 'prodution' });
  });

  it('that were removed go with their prompt', async () => {
    const slug = await promptOf(1);
    await api.pin(slug, 'production', 1);
    expect((await api.remove(slug, 1)).status).to.equal(409);
    await api.removeTag(slug, 'production');
    expect((await api.remove(slug, 1)).status).to.equal(204);
    await api.ensure(slug, { content: 'v1' });
    expect((await api.history(slug, 'production')).status).to.equal(404);
  });

  it('are removed once, by one of the project, unless the server moves them', async () => {
    const slug = await promptOf(1);
    await api.pin(slug, 'production', 1);
    const latest = await api.removeTag(slug, 'latest');
    expect([latest.status, latest.json.detail]).to.deep.equal([
      409,
      'The tag latest always follows the newest version; it cannot be removed',
    ]);
    expect((await api.removeTag('no such prompt', 'production')).json.detail).to.equal(
      'There is no prompt with this slug',
    );
    expect((await api.removeTag(slug, 'a%20b')).status).to.equal(422);
    const other = secondProject(server);
    const foreign = promptApi({ ...server, projectId: other.projectId }, other.key);
    expect((await foreign.removeTag(slug, 'production')).status).to.equal(404);
    expect((await promptApi(server, other.key).removeTag(slug, 'production')).status).to.equal(403);
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.removeTag(slug, 'production')));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([204, ...Array<number>(9).fill(404)]);
  });

  it('removed by another process are gone from the next call on', async () => {
    const slug = await promptOf(1);
    await api.pin(slug, 'production', 1);
    const { pinned_by } = (await api.history(slug, 'production')).json[0];
    expect((await api.get(slug, '?tag=production')).status).to.equal(200);
    withDatabase(server, (db) =>
      new SqlitePromptStore(db).removeTag(server.projectId, slug, 'production', Date.now() * 1000, pinned_by.id),
    );
    expect((await api.get(slug, '?tag=production')).status).to.equal(404);
  });

  it('pinned by several at once get one order, and every pin is in the history', async () => {
    const slug = await promptOf(5);
    const wanted = Array.from({ length: 60 }, (_, index) => (index % 5) + 1);
    const answers = await Promise.all(wanted.map((version) => api.pin(slug, 'production', version)));
    expect(answers.map(({ status, json }) => [status, json.version])).to.deep.equal(
      wanted.map((version) => [200, version]),
    );
    const history = (await api.history(slug, 'production')).json;
    expect(history.map(({ version }: any) => version).sort()).to.deep.equal([...wanted].sort());
    expect((await api.get(slug, '?tag=production')).json.version).to.equal(history[0].version);
    const times = history.map(({ pinned_at }: any) => pinned_at);
    expect(times).to.deep.equal([...times].sort().reverse());
  });

  /** Gives a prompt further tags, as an import does. */
  const withTags = (slug: string, tags: readonly string[]) =>
    withDatabase(server, (db) => {
      const pin = db.prepare<[string, string]>(
        `INSERT INTO prompt_tag_pins (prompt_id, tag, version, pinned_at, pinned_by)
         SELECT id, ?, 1, 1, (SELECT id FROM users LIMIT 1) FROM prompts WHERE slug = ?`,
      );
      db.transaction(() => tags.forEach((tag) => pin.run(tag, slug)))();
    });
  const tagsNamed = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);

  it('are at most 1,000, removed ones included; more that are stored stay readable', async () => {
    const slug = await promptOf(2);
    withTags(slug, tagsNamed(999));
    expect((await api.pin(slug, 'last', 1)).status).to.equal(200);
    expect((await api.removeTag(slug, 't0')).status).to.equal(204);
    const refused = await api.pin(slug, 'more', 1);
    expect([refused.status, refused.json.detail]).to.deep.equal([
      409,
      'A prompt can have at most 1000 tags, including removed ones, whose history is kept: move an existing tag',
    ]);
    for (const tag of ['last', 't0', 't7']) expect((await api.pin(slug, tag, 2)).status, tag).to.equal(200);
    expect((await api.tags(slug)).json).to.have.length(1 + 1_000);
    withTags(slug, tagsNamed(1_500).slice(999));
    expect((await api.tags(slug)).json).to.have.length(1 + 1_501);
    expect((await api.pin(slug, 't1400', 2)).status).to.equal(200);
    expect((await api.pin(slug, 'more', 2)).status).to.equal(409);
    expect((await api.get(slug, '?tag=t1400')).json).to.include({ version: 2 });
  });

  it('of many prompts are listed between turns that others get', async () => {
    const slugs = [];
    for (let index = 0; index < 50; index += 1) slugs.push(await promptOf(1));
    for (const slug of slugs) withTags(slug, tagsNamed(1_000));
    const db = openDatabase(join(server.dataDir, DATABASE_FILE));
    const store = new SqlitePromptStore(db);
    const observer = { promptFetched: () => undefined };
    const prompts = new PromptService({
      store,
      modelName: () => expect.fail(),
      observer,
      audit: NO_AUDIT_LOG,
      announce: () => undefined,
    });
    let turns = 0;
    const others = setInterval(() => (turns += 1), 0);
    const listed = await prompts.list(server.projectId, { limit: 1000, offset: 0 });
    clearInterval(others);
    db.close();
    expect(listed.filter(({ tags }) => tags.length === 1_001)).to.have.length(50);
    expect(turns).to.be.greaterThan(3);
  });

  it('outlive a restart with their history', async () => {
    const slug = await promptOf(2);
    await api.pin(slug, 'production', 2);
    await api.pin(slug, 'production', 1);
    const before = [
      (await api.tags(slug)).json,
      (await api.history(slug, 'production')).json,
      (await api.versions(slug)).json,
    ];
    await server.stop();
    server = await bootServer({ dataDir: server.dataDir });
    api = promptApi(server);
    expect([
      (await api.tags(slug)).json,
      (await api.history(slug, 'production')).json,
      (await api.versions(slug)).json,
    ]).to.deep.equal(before);
  }).timeout(30_000);

  it('refuse bodies and names that break rules', async () => {
    const slug = await promptOf(1);
    for (const tag of ['ü', 'x'.repeat(65), 'a%20b', 'a%2Fb'])
      expect((await api.pin(slug, tag.includes('%') ? tag : encodeURIComponent(tag), 1)).status, tag).to.equal(422);
    expect((await api.pin(slug, 'x'.repeat(64), 1)).status).to.equal(200);
    const path = `/projects/${server.projectId}/prompts/${encodeURIComponent(slug)}/tags`;
    expect((await server.request('POST', `${path}/x:pin`, { body: {} })).status).to.equal(422);
    expect((await server.request('POST', `${path}/x:pin`, { body: '{' })).status).to.equal(400);
    expect((await server.request('GET', `${path}/x:pin`)).status).to.equal(405);
    expect((await server.request('POST', `${path}/x:unpin`, { body: { version: 1 } })).status).to.equal(405);
    expect((await server.request('POST', `${path}/x`, { body: { version: 1 } })).status).to.equal(405);
  });
});
