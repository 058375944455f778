import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect } from 'chai';
import { DATABASE_FILE } from '../../src/engine/metadata/database.js';
import { calls, SelectedApi } from '../deletion/selected-api.js';
import { ApiDocument } from '../harness/api-document.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { codeIn, ConsoleBrowser } from '../identity/console-browser.js';
import { storeTrace } from './shared-trace.js';

describe('comments on traces', function () {
  this.timeout(60_000);
  let server: TestServer;
  let document: ApiDocument;
  let project: string;
  before(async () => {
    server = await bootServer({ signIns: { attemptsPerMinute: 1_000 } });
    document = await ApiDocument.of(server);
    project = `/projects/${server.projectId}`;
  });
  after(() => server.dispose());

  const of = (trace: string) => `${project}/traces/${trace}/comments`;
  async function ask(method: string, path: string, body?: unknown, status = 200): Promise<any> {
    const answer = await server.request(method, path, body === undefined ? {} : { body });
    expect(answer.status, answer.text).to.equal(status);
    document.check(method, path, answer);
    return answer.json;
  }
  const comment = (trace: string, body: object, status = 201) => ask('POST', of(trace), body, status);
  const textsOf = async (trace: string): Promise<string[]> =>
    (await ask('GET', of(trace))).comments.map(({ text }: { text: string }) => text);
  async function person(role: string): Promise<ConsoleBrowser> {
    const { json } = await server.request('POST', `${project}/invites`, { body: { name: role, role } });
    return ConsoleBrowser.signedIn(server, { code: codeIn(json.url) });
  }
  function rows(sql: string, ...values: readonly unknown[]): unknown[] {
    const database = new BetterSqlite3(join(server.dataDir, DATABASE_FILE), { readonly: true });
    try {
      return database.prepare(sql).all(...values);
    } finally {
      database.close();
    }
  }

  it('are about a trace or a span of it, listed by pages, the oldest first', async () => {
    const { trace_id, root, child } = await storeTrace(server);
    const first = await comment(trace_id, { text: '**Why** so slow?' });
    expect(first).to.include({ trace_id, span_id: null, text: '**Why** so slow?', edited_at: null });
    expect(await comment(trace_id, { text: 'This call.', span_id: child.toUpperCase() })).to.include({
      span_id: child,
    });
    await comment(trace_id, { text: 'third' });
    expect(await textsOf(trace_id)).to.deep.equal(['**Why** so slow?', 'This call.', 'third']);
    const page = await ask('GET', `${of(trace_id)}?limit=1&offset=1`);
    expect([page.total, page.limit, page.comments[0].span_id]).to.deep.equal([3, 1, child]);
    const ofSpan = await ask('GET', `${of(trace_id)}?span_id=${child}`);
    expect([ofSpan.total, ofSpan.comments.length]).to.deep.equal([1, 1]);
    expect((await ask('GET', `${of(trace_id)}?span_id=${root}`)).total).to.equal(0);
    expect((await ask('GET', of(randomUUID()))).comments).to.deep.equal([]);
  });

  it('are refused where there is no such trace, or no such span in it, and without a text', async () => {
    const [one, other] = [await storeTrace(server), await storeTrace(server)];
    await comment(randomUUID(), { text: 'x' }, 404);
    await comment(one.trace_id, { text: 'x', span_id: other.child }, 404);
    for (const text of ['', ' \n ', 'x'.repeat(10_001)]) await comment(one.trace_id, { text }, 422);
    expect(await textsOf(one.trace_id)).to.deep.equal([]);
  });

  it('are edited by their authors, and deleted by these and by admins', async () => {
    const { trace_id } = await storeTrace(server);
    const own = await comment(trace_id, { text: 'mine' });
    const path = (id: string) => `${project}/comments/${id}`;
    const [annotator, viewer, member] = [await person('annotator'), await person('viewer'), await person('member')];
    const theirs = (await annotator.request('POST', of(trace_id), { body: { text: 'hers' } })).json;
    expect(theirs.created_by.name).to.equal('annotator');
    expect(await viewer.status('POST', of(trace_id), { body: { text: 'no' } })).to.equal(403);
    expect(await viewer.status('GET', of(trace_id))).to.equal(200);
    const edited = await annotator.request('PATCH', path(theirs.id), { body: { text: 'hers, again' } });
    expect([edited.json.text, edited.json.edited_at === null]).to.deep.equal(['hers, again', false]);
    for (const [by, id] of [
      [annotator, own.id],
      [member, theirs.id],
    ] as const) {
      expect(await by.status('PATCH', path(id), { body: { text: 'x' } })).to.equal(403);
      expect(await by.status('DELETE', path(id))).to.equal(403);
    }
    // Whoever manages the project deletes, but does not write in another's name.
    expect((await server.request('PATCH', path(theirs.id), { body: { text: 'x' } })).status).to.equal(403);
    expect(await textsOf(trace_id)).to.deep.equal(['mine', 'hers, again']);
    await ask('DELETE', path(theirs.id), undefined, 204);
    await ask('DELETE', path(own.id), undefined, 204);
    await ask('DELETE', path(own.id), undefined, 404);
    const { entries } = await ask('GET', '/audit?action=comment.delete');
    expect(entries.map(({ object_id }: any) => object_id)).to.deep.equal([own.id, theirs.id]);
  });

  it('of one project are none of another', async () => {
    const { trace_id } = await storeTrace(server);
    const { id } = await comment(trace_id, { text: 'mine' });
    const other = makeProject(server.dataDir);
    const foreign = async (method: string, path: string, body?: object) =>
      (await server.request(method, path, { key: other.key, ...(body && { body }) })).status;
    expect(await foreign('GET', of(trace_id))).to.equal(403);
    const there = `/projects/${other.projectId}`;
    expect(await foreign('POST', `${there}/traces/${trace_id}/comments`, { text: 'x' })).to.equal(404);
    expect(await foreign('PATCH', `${there}/comments/${id}`, { text: 'x' })).to.equal(404);
    expect(await foreign('DELETE', `${there}/comments/${id}`)).to.equal(404);
    expect(await textsOf(trace_id)).to.deep.equal(['mine']);
  });

  it('are masked by the rules of the project', async () => {
    const { trace_id } = await storeTrace(server);
    const set = (rules: unknown[]) => ask('PUT', `${project}/masking`, { rules });
    await set([{ type: 'email', name: 'mail' }]);
    try {
      const { id } = await comment(trace_id, { text: 'ask anna@example.com' });
      await ask('PATCH', `${project}/comments/${id}`, { text: 'or ben@example.com' });
      await comment(trace_id, { text: 'cara@example.com' });
    } finally {
      await set([]);
    }
    expect(await textsOf(trace_id)).to.deep.equal(['or [mail]', '[mail]']);
  });

  it('are at most 100,000 of a project', async () => {
    const { trace_id } = await storeTrace(server);
    const { id } = await comment(trace_id, { text: 'first' });
    const full = randomUUID();
    const database = new BetterSqlite3(join(server.dataDir, DATABASE_FILE));
    try {
      database
        .prepare(
          `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
           INSERT INTO comments (id, project_id, trace_id, user_id, text, created_at)
           SELECT ? || i, c.project_id, ?, c.user_id, 'x', i FROM n, comments AS c WHERE c.id = ?`,
        )
        .run(full, full, id);
      const { detail } = await comment(trace_id, { text: 'too many' }, 409);
      expect(detail).to.equal('A project has at most 100000 comments: delete some first');
    } finally {
      database.prepare('DELETE FROM comments WHERE trace_id = ?').run(full);
      database.close();
    }
    await comment(trace_id, { text: 'room again' });
  });

  it('go with what they are about', async () => {
    const [whole, partly, listed, session] = [
      await storeTrace(server),
      await storeTrace(server),
      await storeTrace(server, { tags: { go: 'yes' } }),
      await storeTrace(server, { session_id: randomUUID() }),
    ];
    for (const { trace_id, child } of [whole, partly, listed, session]) {
      await comment(trace_id, { text: 'on all' });
      await comment(trace_id, { text: 'on the call', span_id: child });
    }
    await ask('DELETE', `/traces/${whole.trace_id}`, undefined, 204);
    expect(rows('SELECT 1 FROM comments WHERE trace_id = ?', whole.trace_id)).to.deep.equal([]);
    await ask('DELETE', `/spans/${partly.child}`, undefined, 204);
    expect(await textsOf(partly.trace_id)).to.deep.equal(['on all']);
    // With its last span, a trace is gone.
    await ask('DELETE', `/spans/${partly.root}`, undefined, 204);
    expect(await textsOf(partly.trace_id)).to.deep.equal([]);
    const selected = new SelectedApi(calls(server));
    await selected.run((await selected.plan('traces', 'tags.go=yes')).confirm);
    expect(await textsOf(listed.trace_id)).to.deep.equal([]);
    expect(await textsOf(session.trace_id)).to.have.length(2);
    const { session_id } = await ask('GET', `/traces/${session.trace_id}`);
    await ask('DELETE', `/sessions/${session_id}`, undefined, 204);
    expect(await textsOf(session.trace_id)).to.deep.equal([]);
  });
});
