import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { openMetadataStore, type MetadataStore } from '../../src/compose/metadata-store.js';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import type { AuditRecord } from '../../src/engine/signals/catalog/audit.js';
import type { AuditDraft } from '../../src/features/audit/audit-entry.js';
import { AuditTrail } from '../../src/features/audit/audit-trail.js';
import { SqliteAuditStore } from '../../src/features/audit/store/audit-store.js';
import { untilGone } from '../deletion/tombstone-gc.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { codeIn, ConsoleBrowser } from '../identity/console-browser.js';

// Entries are compared with what a test expects; a wrong guess at their shape fails an assertion.
type Entry = Record<string, any>;

const SECRET_TEXT = 'zebra crossing';
const ALL = { action: null, objectType: null, objectId: null, actor: null, actorId: null, start: null, end: null };

describe('the audit log', () => {
  let server: TestServer;
  let metadata: MetadataStore;
  let project: string;
  before(async () => {
    server = await bootServer();
    project = `/projects/${server.projectId}`;
    metadata = openMetadataStore(server.dataDir);
  });
  after(async () => {
    metadata.close();
    await server.dispose();
  });

  const ask = async (method: string, path: string, body?: object) => {
    const answer = await server.request(method, path, { body });
    expect(answer.status, answer.text).to.be.within(200, 204);
    return answer;
  };
  const entries = async (query = ''): Promise<Entry[]> => (await ask('GET', `/audit?${query}`)).json.entries as Entry[];

  it('says who did what to what, from where and by which request, and never a text', async () => {
    const made = await ask('POST', `${project}/api-keys`, { name: 'for tests', scopes: ['spans:read'] });
    const { user, key } = (await ask('GET', '/whoami')).json;
    const [entry = {}] = await entries('limit=1');
    expect(entry['number']).to.be.above(1);
    expect(entry).to.deep.include({
      ...{ action: 'api_key.create', actor: 'key', user_id: user.id, user_name: user.name },
      ...{ key_id: key.id, key_name: key.name, sign_in_id: null },
      ...{ object_type: 'api_key', object_id: made.json.id, object_name: 'for tests' },
      changes: [
        { field: 'access', to: 'custom' },
        { field: 'scopes', to: 'spans:read' },
      ],
      request_id: made.headers.get('x-request-id'),
    });
    expect(entry['address']).to.match(/127\.0\.0\.1/);
    expect(Date.parse(entry['created_at'] as string)).to.be.closeTo(Date.now(), 60_000);

    await ask('POST', '/v1/tasks/greeting/prompt/versions/ensure', { content: SECRET_TEXT });
    await ask('POST', '/v1/tasks/greeting/prompt/versions/ensure', { content: SECRET_TEXT });
    await ask('POST', `${project}/prompts/greeting/tags/live:pin`, { version: 1 });
    await ask('PATCH', project, { retention_days: 90 });
    await ask('PATCH', project, { retention_days: 30 });
    const newest = (await entries('limit=4')).map(({ action, object_name, changes }) => [action, object_name, changes]);
    expect(newest).to.deep.equal([
      ['project.set_retention', 'Default project', [{ field: 'retention_days', from: 90, to: 30 }]],
      ['project.set_retention', 'Default project', [{ field: 'retention_days', from: null, to: 90 }]],
      ['prompt_tag.move', 'greeting v1', [{ field: 'tag', to: 'live' }]],
      ['prompt_version.create', 'greeting v1', []],
    ]);
    const all = await ask('GET', '/audit:export');
    expect(all.text).not.to.include(SECRET_TEXT).and.not.to.include(made.json.key);
  });

  it('tells people in the console from programs', async () => {
    const browser = await ConsoleBrowser.signedIn(server, { key: server.key });
    const invited = await browser.request('POST', `${project}/invites`, { body: { name: 'Ann' } });
    const [invite = {}, signIn = {}] = await entries('limit=2&actor=person');
    expect(invite).to.include({ action: 'person.invite', object_name: 'Ann', object_id: invited.json.user.id });
    expect(invite['sign_in_id']).to.equal(signIn['sign_in_id']).and.be.a('string');
    expect(signIn).to.include({ action: 'sign_in.create', actor: 'person' });
    await ConsoleBrowser.signedIn(server, { code: codeIn(invited.json.url as string) });
    const member = `${project}/members/${invited.json.user.id}`;
    const [ann = {}] = await entries(`actor_id=${invited.json.user.id}`);
    expect(ann).to.include({ action: 'sign_in.create', user_name: 'Ann' });
    // What is refused leaves nothing.
    expect((await browser.request('PATCH', member, { body: { role: 'king' } })).status).to.equal(422);
    expect((await browser.request('PATCH', member, { body: { role: 'viewer' } })).status).to.equal(200);
    const [demoted = {}, before = {}] = await entries('limit=2');
    expect(demoted).to.deep.include({ action: 'person.set_role', actor: 'person', object_name: 'Ann' });
    expect(demoted['changes']).to.deep.equal([{ field: 'role', from: 'member', to: 'viewer' }]);
    expect(before).to.include({ action: 'sign_in.create' });
  });

  it('is filtered, sorted and paged, and exported the same', async () => {
    const all = await entries('limit=500');
    expect(all.map(({ number }) => number as number)).to.deep.equal(all.map((_entry, index) => all.length - index));
    const { json } = await ask('GET', '/audit?limit=2&offset=1&sort_order=asc');
    expect(json).to.deep.include({ total: all.length, limit: 2, offset: 1 });
    expect(json.entries).to.deep.equal(all.toReversed().slice(1, 3));
    const of = (query: string) => entries(`limit=500&${query}`);
    const such = (test: (entry: Entry) => boolean) => all.filter(test);
    expect(await of('action=prompt_tag.move')).to.deep.equal(such(({ action }) => action === 'prompt_tag.move'));
    expect(await of('object_type=project')).to.deep.equal(such((one) => one['object_type'] === 'project'));
    const { key_id, object_id, created_at } = all[0] ?? {};
    expect(await of(`object_id=${object_id}`)).to.deep.equal(such((one) => one['object_id'] === object_id));
    expect(await of(`actor_id=${key_id}&actor=key`)).to.deep.equal(
      such((one) => one['key_id'] === key_id && one['actor'] === 'key'),
    );
    const from = encodeURIComponent(created_at as string);
    expect((await of(`start_date=${from}`)).map(({ number }) => number as number)).to.include(all.length);
    expect(await of(`end_date=2020-01-01`)).to.deep.equal([]);
    expect((await server.request('GET', '/audit?action=api_key')).status).to.equal(422);
    expect((await server.request('GET', '/audit?actor_id=x')).status).to.equal(422);

    // The export is an entry itself, which it may have or not.
    const lines = (await ask('GET', '/audit:export')).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry);
    expect(lines.filter(({ number }) => (number as number) <= all.length)).to.deep.equal(all);
    const csv = (await ask('GET', '/audit:export?format=csv&action=prompt_tag.move')).text.trim().split(/\r?\n/);
    expect(csv).to.have.length(2);
    expect(csv[1]).to.include('greeting v1');
  });

  it('is open to its scope and to admin, and not to keys that read', async () => {
    const keyOf = async (body: object) =>
      (await ask('POST', `${project}/api-keys`, { name: 'x', ...body })).json.key as string;
    const statusBy = async (key: string) => (await server.request('GET', '/audit?limit=1', { key })).status;
    expect(await statusBy(await keyOf({ scopes: ['audit:read'] }))).to.equal(200);
    const admin = await keyOf({ scopes: ['admin'] });
    expect(await statusBy(admin)).to.equal(200);
    expect(await statusBy(await keyOf({ access: 'read' }))).to.equal(403);
    // Who has it by admin may give it.
    const given = { body: { name: 'auditor', scopes: ['audit:read'] }, key: admin };
    expect((await server.request('POST', `${project}/api-keys`, given)).status).to.equal(201);
    const { key: other } = makeProject(server.dataDir);
    expect((await server.request('GET', '/audit', { key: other })).json).to.deep.include({ total: 0, entries: [] });
  });

  it('has an entry of a change, or there is no change', async () => {
    const { add } = SqliteAuditStore.prototype;
    const rated = { entity_type: 'trace', entity_id: randomUUID(), name: 'kept', value: 1 };
    const [score] = (await ask('POST', '/scores', [rated])).json as Entry[];
    const before = (await ask('GET', `${project}/api-keys`)).json.length;
    const people = (await ask('GET', `${project}/members`)).json as { user: { id: string; name: string } }[];
    SqliteAuditStore.prototype.add = function (...given) {
      add.apply(this, given);
      throw new Error('the disk is gone');
    };
    try {
      const failed = await server.request('POST', `${project}/api-keys`, { body: { name: 'never' } });
      expect(failed.status).to.equal(500);
      expect((await server.request('PATCH', project, { body: { retention_days: 5 } })).status).to.equal(500);
      expect((await server.request('DELETE', `/scores/${score?.['id']}`)).status).to.equal(500);
      expect((await server.request('POST', '/projects', { body: { name: 'never' } })).status).to.equal(500);
      expect((await server.request('POST', `${project}/invites`, { body: { name: 'never' } })).status).to.equal(500);
      const ann = `${project}/members/${people.find(({ user }) => user.name === 'Ann')?.user.id}`;
      expect((await server.request('PATCH', ann, { body: { role: 'member' } })).status).to.equal(500);
      expect((await server.request('DELETE', ann)).status).to.equal(500);
    } finally {
      SqliteAuditStore.prototype.add = add;
    }
    expect((await ask('GET', `${project}/api-keys`)).json).to.have.length(before);
    expect((await ask('GET', `${project}/members`)).json).to.deep.equal(people);
    expect((await ask('GET', project)).json.retention_days).to.equal(30);
    await ask('GET', `/scores/${score?.['id']}`);
    const count = (await entries('limit=500')).length;
    // What fails behind its entry takes that along.
    const body = { name: `too old`, expires_at: '2020-01-01T00:00:00Z' };
    expect((await server.request('POST', `${project}/api-keys`, { body })).status).to.equal(422);
    expect(
      (await server.request('POST', `${project}/prompts/greeting/tags/live:pin`, { body: { version: 9 } })).status,
    ).to.equal(404);
    expect((await entries('limit=500')).length).to.equal(count);
  });

  it('stores all that is told in a transaction, or nothing, and logs it once it is stored', () => {
    const told: AuditRecord[] = [];
    const trail = new AuditTrail({ store: metadata.audit, tell: (record) => told.push(record), self: 'command' });
    const record: AuditRecord = { event: 'judgeMade', by: null, project_id: server.projectId, subject_id: 'a judge' };
    const stored = () =>
      metadata.audit.before({ projectId: server.projectId, filter: { ...ALL, objectId: 'a judge' } }, null, 100);
    expect(() =>
      trail.together(() => {
        trail.done(record);
        trail.together(() => trail.done(record));
        expect(told).to.deep.equal([]);
        throw new Error('no');
      }),
    ).to.throw('no');
    expect(stored()).to.deep.equal([]);
    expect(told).to.deep.equal([]);
    trail.together(() => {
      expect(() =>
        trail.together(() => {
          trail.done(record);
          throw new Error('inside');
        }),
      ).to.throw('inside');
      trail.done(record);
    });
    expect(told).to.have.length(1);
    expect(stored().map(({ actor, user_id }) => [actor, user_id])).to.deep.equal([['command', null]]);
  });

  it('never changes an entry, is bounded, and keeps the newest one whatever its age', () => {
    const { projectId } = makeProject(server.dataDir);
    const db = openDatabase(join(server.dataDir, DATABASE_FILE));
    try {
      const entry: AuditDraft = {
        ...{ project_id: projectId, created_at: 1_000, action: 'judge.create', actor: 'server', user_id: null },
        ...{
          key_id: null,
          sign_in_id: null,
          object_id: null,
          object_name: null,
          changes: [],
          address: null,
          request_id: null,
        },
      };
      const numbers = () => metadata.audit.before({ projectId, filter: ALL }, null, 1_000).map(({ number }) => number);
      metadata.together(() => {
        for (let count = 0; count < 768; count += 1) metadata.audit.add(entry, 300);
      });
      expect(numbers()).to.deep.equal(Array.from({ length: 300 }, (_, index) => 768 - index));
      expect(() => db.prepare("UPDATE audit SET action = 'x' WHERE project_id = ?").run(projectId)).to.throw(
        /do not change/,
      );
      while (metadata.audit.forgetSome(2_000)) continue;
      expect(numbers()).to.deep.equal([768]);
    } finally {
      db.close();
    }
  });

  it('goes with its project, but for who deleted that', async () => {
    const { projectId, key } = makeProject(server.dataDir);
    const price = { input_per_million: 1, output_per_million: 2 };
    const path = `/projects/${projectId}`;
    expect((await server.request('PUT', `${path}/model-prices/co/m`, { body: price, key })).status).to.equal(201);
    expect((await server.request('GET', '/audit', { key })).json.total).to.equal(1);
    const deletion = await server.request('DELETE', path, { key });
    expect(deletion.status).to.equal(202);
    await untilGone(server.dataDir, [projectId]);
    expect(metadata.audit.before({ projectId, filter: ALL }, null, 10)).to.deep.equal([]);
    const [own] = metadata.audit.before({ projectId: null, filter: ALL }, null, 1);
    expect(own).to.include({
      ...{ action: 'project.delete', actor: 'key', object_id: projectId },
      request_id: deletion.headers.get('x-request-id'),
    });
  });
});
