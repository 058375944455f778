import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { bootServer, send } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { completion, feedbackApi, withDatabase } from '../feedback/feedback-api.js';
import { feedbackLinks, shown, Visitor } from './linked-prompt.js';

const DAY_MS = 24 * 3600 * 1000;

feedbackLinks((on) => {
  describe('as records', () => {
    it('are answered once with their URL, listed without it, and kept only as a hash', async () => {
      const { status, json } = await on.api.link({ prompt_slug: on.prompt.slug, link_type: 'prompt_completion' });
      expect(status).to.equal(200);
      const record = ['id', 'url', 'prompt_slug', 'span_ids', 'link_type', 'created_at', 'expires_at', 'revoked_at'];
      // The address of the test's server is one that no other machine can open.
      expect(json).to.have.all.keys(...record, 'note');
      expect(json).to.include({ prompt_slug: on.prompt.slug, link_type: 'prompt_completion', revoked_at: null });
      expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).to.equal(30 * DAY_MS);
      const token = new URL(json.url).pathname.split('/').pop() ?? '';
      expect(json.url).to.equal(`${on.server.url}/f/${token}`);
      expect(Buffer.from(token, 'base64url')).to.have.length(32);
      const listed = (await on.api.links()).json.find(({ id }: any) => id === json.id);
      const { note, ...kept } = json;
      expect(note).to.match(/PUBLIC_URL/);
      const { json: me } = await on.api.request('GET', '/whoami');
      expect(listed).to.deep.equal({ ...kept, url: null, created_by: me.user, reviewer_count: 0 });
      expect((await on.api.request('GET', `/feedback-links/${json.id}`)).json).to.deep.equal(listed);
      const stored = withDatabase(on.server, (db) =>
        db.prepare<[string], { token_hash: Buffer }>('SELECT * FROM feedback_links WHERE id = ?').get(json.id),
      );
      expect(stored?.token_hash).to.deep.equal(createHash('sha256').update(token).digest());
      expect(JSON.stringify(stored)).to.not.include(token);
    });

    it('expire when asked to, from 1 to 365 days', async () => {
      for (const days of [1, 365]) {
        const link = await on.prompt.link({ expires_in_days: days });
        expect(Date.parse(link.expires_at) - Date.parse(link.created_at)).to.equal(days * DAY_MS);
      }
      for (const days of [0, 366, 1.5, '7'])
        expect(
          (await on.api.link({ prompt_slug: on.prompt.slug, expires_in_days: days })).status,
          String(days),
        ).to.equal(422);
    });

    it('expire at another time when told so, even if they have expired, but not once revoked', async () => {
      const link = await on.prompt.link({ expires_in_days: 365 });
      const before = Date.now();
      const { status, json } = await on.api.changeLink(link.id.toUpperCase(), { expires_in_days: 2 });
      expect(status).to.equal(200);
      expect(Date.parse(json.expires_at) - 2 * DAY_MS).to.be.within(before, Date.now());
      expect((await on.api.request('GET', `/feedback-links/${link.id}`)).json).to.deep.equal(json);
      const page = new Visitor(link.url);
      withDatabase(on.server, (db) => db.prepare('UPDATE feedback_links SET expires_at = 1 WHERE id = ?').run(link.id));
      expect((await page.get()).status).to.equal(404);
      expect((await on.api.changeLink(link.id, { expires_in_days: 1 })).status).to.equal(200);
      expect((await page.get()).status).to.equal(200);
      for (const body of [{}, { expires_in_days: 366 }, { expires_in_days: null }, { expires_in_days: 1, url: 'x' }])
        expect((await on.api.changeLink(link.id, body)).status, JSON.stringify(body)).to.equal(422);
      expect((await on.api.changeLink(randomUUID(), { expires_in_days: 1 })).status).to.equal(404);
      const other = feedbackApi(on.server, secondProject(on.server).key);
      expect((await other.changeLink(link.id, { expires_in_days: 1 })).status).to.equal(404);
      await on.api.revoke(link.id);
      const refused = await on.api.changeLink(link.id, { expires_in_days: 1 });
      expect([refused.status, refused.json.detail]).to.deep.equal([
        409,
        'The link is permanently revoked: create a new one',
      ]);
      expect((await page.get()).status).to.equal(404);
    });

    it('are refused for another type, an unknown prompt or no prompt', async () => {
      expect((await on.api.link({ prompt_slug: on.prompt.slug, link_type: 'session' })).status).to.equal(422);
      expect((await on.api.link({ prompt_slug: 'nowhere', link_type: 'prompt_completion' })).status).to.equal(404);
      expect((await on.api.link({ link_type: 'prompt_completion' })).status).to.equal(422);
      expect((await on.api.request('POST', '/feedback-links', { key: null, body: {} })).status).to.equal(401);
    });

    it('are revoked for good, listed newest first, and belong to their project', async () => {
      const [first, second] = [await on.prompt.link(), await on.prompt.link()];
      const other = feedbackApi(on.server, secondProject(on.server).key);
      expect((await other.revoke(first.id)).status).to.equal(404);
      expect((await other.links()).json).to.deep.equal([]);
      expect((await on.api.revoke(first.id)).status).to.equal(204);
      const { revoked_at } = (await on.api.links()).json.find(({ id }: any) => id === first.id);
      expect((await on.api.revoke(first.id.toUpperCase())).status).to.equal(204);
      const listed: any[] = (await on.api.links('?limit=2')).json;
      expect(listed.map(({ id }) => id)).to.deep.equal([second.id, first.id]);
      expect(listed[1].revoked_at).to.equal(revoked_at);
      expect((await on.api.revoke(randomUUID())).status).to.equal(404);
    });
  });

  describe('to a page', () => {
    it('that is no one else’s to read, keep, frame or index', async () => {
      await on.prompt.complete(1);
      const { headers, status } = await new Visitor((await on.prompt.link()).url).get();
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('x-robots-tag')).to.include('noindex');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).to.include("default-src 'none'").and.to.include("frame-ancestors 'none'");
      expect(policy).to.not.match(/unsafe|https?:|\*|data:/);
      expect(headers.get('set-cookie')).to.match(/; Path=\/f\/[\w-]{43}; .*HttpOnly; SameSite=Lax$/);
    });

    it('that answers 404, alike, to a token that is wrong, expired or revoked', async () => {
      await on.prompt.complete(1);
      const [revoked, expired, good] = [await on.prompt.link(), await on.prompt.link(), await on.prompt.link()];
      await on.api.revoke(revoked.id);
      withDatabase(on.server, (db) =>
        db.prepare('UPDATE feedback_links SET expires_at = 1 WHERE id = ?').run(expired.id),
      );
      const wrong = `${on.server.url}/f/${'A'.repeat(43)}`;
      const pages: string[] = [];
      for (const url of [wrong, revoked.url, expired.url, `${good.url}x`, `${on.server.url}/f/x`]) {
        const page = await new Visitor(url).get();
        expect(page.status, url).to.equal(404);
        expect(page.headers.get('set-cookie')).to.equal(null);
        expect(page.text).to.not.include(on.prompt.slug).and.to.not.include('Output');
        pages.push(page.text);
        const posted = await new Visitor(url).post({ completion_id: randomUUID(), thumbs_up: 'true' });
        expect(posted.status, url).to.equal(404);
        const json = await new Visitor(url).postJson({});
        expect([json.status, json.headers.get('content-type')]).to.deep.equal([404, 'application/problem+json']);
      }
      expect(new Set(pages).size).to.equal(1);
    });

    it('that shows the newest 20 of this prompt, one by one, newest first', async () => {
      const spans = await on.prompt.complete(23);
      const other = `other-${randomUUID()}`;
      await on.api.ensure(other);
      await on.api.spans([completion(other, { started_at: '2026-03-02T00:00:00Z', output_data: 'Foreign' })]);
      const visitor = new Visitor((await on.prompt.link()).url);
      let page = await visitor.get();
      const seen: string[] = [];
      for (;;) {
        seen.push(shown(page) ?? '');
        expect(page.text).to.include(`${seen.length} of 20`);
        expect(page.text).to.not.include('Foreign');
        const next = /<a class="button quiet" rel="next" href="[^"?]*(\?c=[0-9a-f-]{36})"/.exec(page.text)?.[1];
        if (next === undefined) break;
        page = await visitor.get(next);
      }
      expect(seen).to.deep.equal(
        spans
          .slice(3)
          .map(({ id }) => id)
          .reverse(),
      );
    });

    it('that finds completions by every name that a prompt goes by, and no deleted or replaced ones', async () => {
      const { json: version } = await on.api.ensure(on.prompt.slug, 'another content');
      const named = [
        { task: on.prompt.slug },
        { prompt_slug: version.prompt_id.toUpperCase() },
        { 'zeroeval.task': on.prompt.slug },
        { zeroeval: { prompt_version_id: version.id } },
        { 'zeroeval.prompt_version_id': version.id.toUpperCase() },
      ];
      const spans = await on.prompt.complete(8, (index) => ({
        attributes: named[index] ?? { task: `${on.prompt.slug}2`, note: on.prompt.slug },
      }));
      await on.api.request('DELETE', `/spans/${spans[0]!.id}`);
      await on.api.spans([
        { ...spans[1], attributes: {} },
        { ...spans[7], attributes: { task: on.prompt.slug } },
      ]);
      const visitor = new Visitor((await on.prompt.link()).url);
      const found: string[] = [];
      let page = await visitor.get();
      for (let index = 0; index < 4; index += 1) {
        expect(page.text).to.include(`${index + 1} of 4`);
        found.push(shown(page) ?? '');
        page = await visitor.get(/rel="next" href="[^"?]*(\?c=[0-9a-f-]{36})"/.exec(page.text)?.[1] ?? '?done=1');
      }
      expect(found).to.deep.equal([7, 4, 3, 2].map((index) => spans[index]!.id));
    });

    it('that finds completions of a prompt with more versions than a statement names', async function () {
      this.timeout(60_000);
      const ids: string[] = [];
      for (let index = 0; index < 320; index += 1)
        ids.push((await on.api.ensure(on.prompt.slug, `version ${index}`)).json.id);
      const spans = await on.prompt.complete(30, (index) => ({
        attributes: { prompt_version_id: index % 2 === 0 ? ids[index * 10] : randomUUID() },
      }));
      const page = await new Visitor((await on.prompt.link()).url).get();
      expect(page.text).to.include('1 of 15');
      expect(shown(page)).to.equal(spans[28]!.id);
    });

    it('that says so when there is nothing yet, and has it at once when there is', async () => {
      const visitor = new Visitor((await on.prompt.link()).url);
      expect((await visitor.get()).text).to.include('Nothing to review yet');
      await on.prompt.complete(1);
      expect((await visitor.get()).text).to.include('1 of 1');
    });

    it('that keeps its round while new completions arrive, and takes them up when opened anew', async () => {
      const spans = await on.prompt.complete(3);
      const visitor = new Visitor((await on.prompt.link()).url);
      await visitor.get();
      const [newer] = await on.prompt.complete(1, () => ({ started_at: '2026-04-01T00:00:00Z' }));
      const second = await visitor.get(`?c=${spans[1]!.id}`);
      expect(second.text).to.include('2 of 3');
      const anew = await visitor.get();
      expect(anew.text).to.include('1 of 4');
      expect(shown(anew)).to.equal(newer!.id);
    });
  });
});

describe('the page of a feedback link', () => {
  it('is limited by address: 429 with Retry-After, as a page or a problem, and nothing else is', async () => {
    const server = await bootServer({ env: { TRUSTED_PROXIES: '1' } });
    try {
      const from = (address: string, accept = 'text/html') =>
        send(`${server.url}/f/x`, 'GET', { key: null, headers: { 'x-forwarded-for': `spoofed, ${address}`, accept } });
      const statuses = await Promise.all(Array.from({ length: 310 }, () => from('2001:db8:1:2::7')));
      expect(statuses.filter(({ status }) => status === 404)).to.have.length(300);
      const limited = await from('2001:db8:1:2:3::9');
      expect(limited.status).to.equal(429);
      expect(Number(limited.headers.get('retry-after'))).to.be.within(1, 60);
      expect(limited.text).to.include('Too many requests');
      const problem = await from('2001:db8:1:2::7', 'application/json');
      expect(problem.json.status).to.equal(429);
      expect((await from('2001:db8:1:3::7')).status).to.equal(404);
      expect((await from('192.0.2.1')).status).to.equal(404);
      expect((await server.request('GET', '/spans')).status).to.equal(200);
    } finally {
      await server.dispose();
    }
  });

  it('leaves no token in logs or metrics', async () => {
    const lines: string[] = [];
    const note = (message: string, fields?: unknown) => void lines.push(message + JSON.stringify(fields ?? {}));
    const logger: any = { error: note, warn: note, info: note, debug: note, child: () => logger };
    const server = await bootServer({ logger });
    try {
      const api = feedbackApi(server);
      await api.ensure('p');
      const span = completion('p');
      await api.spans([span]);
      const { url } = (await api.link({ prompt_slug: 'p' })).json;
      const visitor = new Visitor(url);
      await visitor.get();
      await visitor.post({ completion_id: span.id, thumbs_up: 'true', reviewer_name: 'Ann' });
      await visitor.post({});
      await visitor.get('?c=%ff');
      const token = url.split('/').pop() ?? '';
      const { text } = await api.request('GET', '/metrics', { key: null });
      expect(text).to.include('route="/f/{token}"').and.to.not.include(token);
      expect(lines.join('\n')).to.include('/f/{token}').and.to.not.include(token);
    } finally {
      await server.dispose();
    }
  });

  it('works below a path, and keeps its cookie to https', async () => {
    const server = await bootServer({ env: { PUBLIC_URL: 'https://house.example/deep/er/' } });
    try {
      const api = feedbackApi(server);
      await api.ensure('p');
      await api.spans([completion('p')]);
      const { url } = (await api.link({ prompt_slug: 'p' })).json;
      expect(url).to.match(/^https:\/\/house\.example\/deep\/er\/f\/[\w-]{43}$/);
      const path = new URL(url).pathname;
      const page = await send(server.url + path.replace('/deep/er', ''), 'GET', { key: null });
      expect(page.text)
        .to.include(`action="${path}/feedback"`)
        .and.to.include('href="/deep/er/feedback-page/review.css');
      expect(page.headers.get('set-cookie')).to.include(`; Path=${path};`).and.to.include('; Secure');
    } finally {
      await server.dispose();
    }
  });
});
