import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect } from 'chai';
import { DATABASE_FILE } from '../../src/engine/metadata/database.js';
import { DomainError } from '../../src/engine/errors.js';
import { BesideTraces } from '../../src/features/traces/beside-traces.js';
import { withoutUser, type ShownTrace } from '../../src/features/sharing/shown-fields.js';
import { base64, png } from '../attachments/images.js';
import { ApiDocument } from '../harness/api-document.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { codeIn, ConsoleBrowser } from '../identity/console-browser.js';
import { SECRETS, storeTrace } from './shared-trace.js';

const DAY_MS = 24 * 3600 * 1000;

describe('links that share a trace', function () {
  this.timeout(60_000);
  let server: TestServer;
  let document: ApiDocument;
  let project: string;
  before(async () => {
    server = await bootServer({ limits: { reviewRequestsPerMinute: 15 }, signIns: { attemptsPerMinute: 1_000 } });
    document = await ApiDocument.of(server);
    project = `/projects/${server.projectId}`;
  });
  after(() => server.dispose());

  async function ask(method: string, path: string, body?: unknown, status = 200): Promise<any> {
    const answer = await server.request(method, path, body === undefined ? {} : { body });
    expect(answer.status, answer.text).to.equal(status);
    document.check(method, path, answer);
    return answer.json;
  }
  const share = (trace: string, body: object = {}, status = 201) =>
    ask('POST', `${project}/traces/${trace}/share-links`, body, status);
  /** As somebody without an account asks. */
  const open = (url: string, behind = '') => send(`${url}${behind}`, 'GET', { key: null });
  const statuses = async (url: string, span: string) =>
    [await open(url), await open(url, '/trace'), await open(url, `/spans/${span}`)].map(({ status }) => status);
  const change = (sql: string, ...values: unknown[]) => {
    const database = new BetterSqlite3(join(server.dataDir, DATABASE_FILE));
    try {
      return database.prepare(sql).run(...values).changes;
    } finally {
      database.close();
    }
  };

  it('show it to whoever has them, by a page that runs and loads nothing else', async () => {
    const { trace_id, child } = await storeTrace(server);
    const made = await share(trace_id);
    expect(made).to.include({ trace_id, uses: 0, last_used_at: null, revoked_at: null });
    expect(made.url).to.match(/\/s\/[A-Za-z0-9_-]{43}$/);
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).to.equal(7 * DAY_MS);
    const page = await open(made.url);
    expect(page.status).to.equal(200);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy)
      .to.include("default-src 'none'")
      .and.include("connect-src 'self'")
      .and.not.match(/unsafe|https?:|\*/);
    expect(page.headers.get('referrer-policy')).to.equal('no-referrer');
    expect(page.headers.get('x-robots-tag')).to.equal('noindex, nofollow');
    expect(page.headers.get('cache-control')).to.equal('no-store');
    const { trace, outline, left_out } = (await open(made.url, '/trace')).json;
    expect(trace).to.include({ name: 'shown root', span_count: 2, error_count: 1, cost: 0.123456 });
    expect([outline.names, outline.total, left_out]).to.deep.equal([['shown root', 'shown call'], 2, []]);
    const span = (await open(made.url, `/spans/${child}`)).json;
    expect(span).to.include({ name: 'shown call', input_data: 'zebra-question', error_message: 'zebra-failure' });
    expect(span.attributes).to.include({ note: 'zebra-attribute' });
    // Nothing says what else there is.
    for (const text of [
      page.text,
      JSON.stringify({ trace, outline: { ...outline, trace_id: '' } }),
      JSON.stringify(span),
    ])
      expect(text).to.not.include(server.projectId).and.not.include(trace_id);
    const [listed] = await ask('GET', `${project}/share-links?trace_id=${trace_id}`);
    expect(listed).to.include({ id: made.id, uses: 1 });
    expect(listed).to.not.have.property('url');
    expect(listed.last_used_at).to.be.a('string');
    expect(listed.created_by.name).to.be.a('string');
  });

  it('leave out in every byte what their maker chose', async () => {
    const { trace_id, root, child } = await storeTrace(server);
    const parts = Object.keys(SECRETS) as (keyof typeof SECRETS)[];
    for (const chosen of [...parts.map((part) => [part]), parts]) {
      const { url } = await share(trace_id, { left_out: chosen });
      const answers = [await open(url), await open(url, '/trace'), await open(url, `/spans/${root}`)];
      answers.push(await open(url, `/spans/${child}`));
      const shown = answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join();
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      for (const part of chosen)
        for (const secret of SECRETS[part]) expect(shown, `${chosen.join()}: ${secret}`).to.not.include(secret);
      // Attributes may repeat anything. Whether a span failed is always shown.
      expect(shown).to.not.include('zebra-attribute');
      expect(shown).to.include('shown call');
      expect(answers[1]?.json.outline.errors).to.deep.equal([1]);
      if (!chosen.includes('texts')) expect(shown).to.include('zebra-answer');
      if (!chosen.includes('errors')) expect(shown).to.include('zebra-failure');
      if (!chosen.includes('metadata')) expect(shown).to.include('zebra-team');
      if (!chosen.includes('costs')) expect(shown).to.include('0.123456').and.include('987654');
    }
  });

  it('take tags for those of the user whose keys say so in a word', () => {
    const said = [
      'user',
      'userId',
      'enduser.id',
      'langfuse.user.id',
      'customer_id',
      'EMAIL',
      'contact-email',
      'accountId',
      'phone',
    ];
    const other = ['team', 'superuser', 'region', 'browser'];
    const tags = Object.fromEntries([...said, ...other].map((key) => [key, 'x']));
    expect(Object.keys(withoutUser({ tags } as unknown as ShownTrace).tags ?? {})).to.deep.equal(other);
  });

  it('mask by the rules of the project what was stored before these', async () => {
    const name = `call anna@example.com`;
    const { trace_id, root } = await storeTrace(server, { name, output_data: 'to anna@example.com' });
    const { url } = await share(trace_id);
    await ask('PUT', `${project}/masking`, { rules: [{ type: 'email', name: 'mail' }] });
    try {
      const answers = [await open(url, '/trace'), await open(url, `/spans/${root}`)];
      for (const { text } of answers) expect(text).to.include('call [mail]').and.not.include('anna');
      expect(answers[1]?.json.output_data).to.equal('to [mail]');
    } finally {
      await ask('PUT', `${project}/masking`, { rules: [] });
    }
  });

  it('reach images of the trace, and nothing of another trace, even by an id that both have', async () => {
    const shot = (label: string) => ({ attachments: [{ type: 'image', label, base64: base64(png(2)) }] });
    const id = randomUUID();
    const [mine, other] = [
      await storeTrace(server, { id, attributes: shot('mine') }),
      await storeTrace(server, { id, attributes: shot('other') }),
    ];
    const { url, id: made } = await share(mine.trace_id);
    const { images } = (await open(url, `/spans/${id}`)).json;
    expect(images.map(({ label }: { label: string }) => label)).to.deep.equal(['mine']);
    expect(images[0].url).to.equal(`${url}/spans/${id}/images/0`);
    const image = await open(images[0].url);
    expect([image.status, image.headers.get('content-type')]).to.deep.equal([200, 'image/png']);
    expect(image.headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
    expect(image.headers.get('cache-control')).to.equal('private, no-cache');
    for (const place of ['1', '-1', 'x'])
      expect((await open(url, `/spans/${id}/images/${place}`)).status).to.equal(404);
    expect((await open(url, `/spans/${other.child}`)).status).to.equal(404);
    const hidden = await share(mine.trace_id, { left_out: ['texts'] });
    expect((await open(hidden.url, `/spans/${id}`)).json.images).to.deep.equal([]);
    expect((await open(hidden.url, `/spans/${id}/images/0`)).status).to.equal(404);
    const rule = { name: 'shots', type: 'path', path: '$.attributes.attachments', action: 'drop' };
    await ask('PUT', `${project}/masking`, { rules: [rule] });
    try {
      expect((await open(url, `/spans/${id}`)).json.images).to.deep.equal([]);
      expect((await open(images[0].url)).status).to.equal(404);
    } finally {
      await ask('PUT', `${project}/masking`, { rules: [] });
    }
    expect((await open(images[0].url)).status).to.equal(200);
    await ask('DELETE', `${project}/share-links/${made}`, undefined, 204);
    expect((await open(images[0].url)).status).to.equal(404);
  });

  it('end when they expire or are revoked, and with the trace', async () => {
    const { trace_id, child } = await storeTrace(server);
    const [expired, revoked, gone] = [
      await share(trace_id, { expires_in_days: 90 }),
      await share(trace_id),
      await share(trace_id),
    ];
    change('UPDATE share_links SET expires_at = 1 WHERE id = ?', expired.id);
    await ask('DELETE', `${project}/share-links/${revoked.id}`, undefined, 204);
    for (const { url } of [expired, revoked]) expect(await statuses(url, child)).to.deep.equal([404, 404, 404]);
    expect(await statuses(gone.url, child)).to.deep.equal([200, 200, 200]);
    expect(await statuses(`${server.url}/s/${'x'.repeat(43)}`, child)).to.deep.equal([404, 404, 404]);
    expect((await ask('GET', `${project}/share-links?trace_id=${trace_id}`)).length).to.equal(3);
    await ask('DELETE', `/traces/${trace_id}`, undefined, 204);
    expect(await statuses(gone.url, child)).to.deep.equal([404, 404, 404]);
    const page = await open(gone.url);
    expect(page.text).to.include('This link does not work').and.include('deleted');
    expect(page.headers.get('content-security-policy')).to.include("default-src 'none'");
    expect(await ask('GET', `${project}/share-links?trace_id=${trace_id}`)).to.deep.equal([]);
    await share(trace_id, {}, 404);
    for (const body of [{ expires_in_days: 91 }, { expires_in_days: 0 }, { left_out: ['names'] }])
      await share(trace_id, body, 422);
  });

  it('are made by members, of their own project, unless an admin switched them off', async () => {
    const { trace_id, child } = await storeTrace(server);
    const path = `${project}/traces/${trace_id}/share-links`;
    const person = async (role: string) => {
      const { json } = await server.request('POST', `${project}/invites`, { body: { name: role, role } });
      return ConsoleBrowser.signedIn(server, { code: codeIn(json.url) });
    };
    const [member, annotator] = [await person('member'), await person('annotator')];
    expect(await annotator.status('POST', path, { body: {} })).to.equal(403);
    const { url } = (await member.request('POST', path, { body: {} })).json;
    expect(await member.status('PUT', `${project}/sharing`, { body: { allowed: false } })).to.equal(403);
    const other = makeProject(server.dataDir);
    const foreign = await server.request('POST', `/projects/${other.projectId}/traces/${trace_id}/share-links`, {
      ...{ key: other.key, body: {} },
    });
    expect(foreign.status).to.equal(404);
    await ask('PUT', `${project}/sharing`, { allowed: false });
    expect(await statuses(url, child)).to.deep.equal([404, 404, 404]);
    await share(trace_id, {}, 409);
    expect(await ask('GET', `${project}/sharing`)).to.deep.equal({ allowed: false });
    await ask('PUT', `${project}/sharing`, { allowed: true });
    expect(await statuses(url, child)).to.deep.equal([200, 200, 200]);
    const actions = (await ask('GET', '/audit?limit=3')).entries.map(({ action }: any) => action);
    expect(actions).to.deep.equal(['project.set_sharing', 'project.set_sharing', 'share_link.create']);
  });

  it('are told as revoked when their trace went while they were made', async () => {
    const { trace_id } = await storeTrace(server);
    const { keep } = BesideTraces.prototype;
    BesideTraces.prototype.keep = async (_place, store, undo) => {
      undo(store(0));
      throw new DomainError('not_found', 'There is no trace with this id');
    };
    try {
      await share(trace_id, {}, 404);
    } finally {
      BesideTraces.prototype.keep = keep;
    }
    expect(await ask('GET', `${project}/share-links?trace_id=${trace_id}`)).to.deep.equal([]);
    const [revoked, created] = (await ask('GET', '/audit?limit=2')).entries;
    expect([revoked.action, created.action]).to.deep.equal(['share_link.revoke', 'share_link.create']);
    expect(revoked.object_id).to.equal(created.object_id);
  });

  it('are limited, each by itself', async () => {
    const { trace_id, child } = await storeTrace(server);
    const [busy, quiet] = [await share(trace_id), await share(trace_id)];
    const asked = [];
    for (let count = 0; count < 16; count += 1) asked.push((await open(busy.url, `/spans/${child}`)).status);
    expect(asked.slice(-2)).to.deep.equal([200, 429]);
    expect((await open(busy.url)).text).to.include('Too many requests');
    expect((await open(quiet.url)).status).to.equal(200);
  });
});
