import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { bootServer, send, type TestResponse, type TestServer } from '../harness.js';
import { secondProject } from '../prompts/prompt-api.js';
import { completion, feedbackApi, withDatabase } from './feedback-api.js';

const DAY_MS = 24 * 3600 * 1000;

/** What a browser keeps of a page's answers. */
class Visitor {
  readonly #url: string;
  cookie = '';

  constructor(url: string) {
    this.#url = url;
  }

  async #send(method: string, url: string, request: Parameters<typeof send>[2]): Promise<TestResponse> {
    const response = await send(url, method, {
      ...request,
      key: null,
      headers: { ...(this.cookie === '' ? {} : { cookie: this.cookie }), ...request.headers },
    });
    this.cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.cookie;
    return response;
  }

  get(query = '', headers: Record<string, string> = {}): Promise<TestResponse> {
    return this.#send('GET', this.#url + query, { headers });
  }

  post(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<TestResponse> {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.#send('POST', `${this.#url}/feedback`, {
      body: new URLSearchParams(fields).toString(),
      headers: { ...form, ...headers },
    });
  }

  postJson(body: unknown, headers: Record<string, string> = {}): Promise<TestResponse> {
    return this.#send('POST', `${this.#url}/feedback`, { body, headers });
  }
}

describe('feedback links', () => {
  let server: TestServer;
  let api: ReturnType<typeof feedbackApi>;
  let slug: string;

  before(async () => {
    server = await bootServer();
    api = feedbackApi(server);
  });
  after(() => server.dispose());
  beforeEach(async () => {
    slug = `prompt-${randomUUID()}`;
    await api.ensure(slug);
  });

  const newLink = async (more: Record<string, unknown> = {}) => {
    const { json, status } = await api.link({ prompt_slug: slug, link_type: 'prompt_completion', ...more });
    expect(status).to.equal(200);
    return json as { id: string; url: string; created_at: string; expires_at: string };
  };
  /** Completions with rising times: the last is the newest. */
  const complete = async (count: number, more: (index: number) => Record<string, unknown> = () => ({})) => {
    const spans = Array.from({ length: count }, (_, index) =>
      completion(slug, {
        started_at: new Date(Date.UTC(2026, 2, 1) + index * 1000).toISOString(),
        output_data: `Output ${index} of ${slug}`,
        ...more(index),
      }),
    );
    await api.spans(spans);
    return spans;
  };
  const shown = (page: TestResponse) => /name="completion_id" value="([0-9a-f-]{36})"/.exec(page.text)?.[1];
  const formValue = (page: TestResponse) => /name="form" value="([^"]+)"/.exec(page.text)?.[1] ?? '';

  describe('as records', () => {
    it('are answered once with their URL, listed without it, and kept only as a hash', async () => {
      const { status, json } = await api.link({ prompt_slug: slug, link_type: 'prompt_completion' });
      expect(status).to.equal(200);
      expect(json).to.have.all.keys('id', 'url', 'prompt_slug', 'link_type', 'created_at', 'expires_at', 'revoked_at');
      expect(json).to.include({ prompt_slug: slug, link_type: 'prompt_completion', revoked_at: null });
      expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).to.equal(30 * DAY_MS);
      const token = new URL(json.url).pathname.split('/').pop() ?? '';
      expect(json.url).to.equal(`${server.url}/f/${token}`);
      expect(Buffer.from(token, 'base64url')).to.have.length(32);
      const listed = (await api.links()).json.find(({ id }: any) => id === json.id);
      expect(listed).to.deep.equal({ ...json, url: null });
      const stored = withDatabase(server, (db) => db.prepare('SELECT * FROM feedback_links WHERE id = ?').get(json.id));
      expect((stored as any).token_hash).to.deep.equal(createHash('sha256').update(token).digest());
      expect(JSON.stringify(stored)).to.not.include(token);
    });

    it('expire when asked to, from 1 to 365 days', async () => {
      for (const days of [1, 365]) {
        const link = await newLink({ expires_in_days: days });
        expect(Date.parse(link.expires_at) - Date.parse(link.created_at)).to.equal(days * DAY_MS);
      }
      for (const days of [0, 366, 1.5, '7'])
        expect((await api.link({ prompt_slug: slug, expires_in_days: days })).status, String(days)).to.equal(422);
    });

    it('are refused for another type, an unknown prompt or no prompt', async () => {
      expect((await api.link({ prompt_slug: slug, link_type: 'session' })).status).to.equal(422);
      expect((await api.link({ prompt_slug: 'nowhere', link_type: 'prompt_completion' })).status).to.equal(404);
      expect((await api.link({ link_type: 'prompt_completion' })).status).to.equal(422);
      expect((await api.request('POST', '/feedback-links', { key: null, body: {} })).status).to.equal(401);
    });

    it('are revoked for good, listed newest first, and belong to their project', async () => {
      const [first, second] = [await newLink(), await newLink()];
      const other = feedbackApi(server, secondProject(server).key);
      expect((await other.revoke(first.id)).status).to.equal(404);
      expect((await other.links()).json).to.deep.equal([]);
      expect((await api.revoke(first.id)).status).to.equal(204);
      const { revoked_at } = (await api.links()).json.find(({ id }: any) => id === first.id);
      expect((await api.revoke(first.id.toUpperCase())).status).to.equal(204);
      const listed: any[] = (await api.links('?limit=2')).json;
      expect(listed.map(({ id }) => id)).to.deep.equal([second.id, first.id]);
      expect(listed[1].revoked_at).to.equal(revoked_at);
      expect((await api.revoke(randomUUID())).status).to.equal(404);
    });
  });

  describe('to a page', () => {
    it('that is no one else’s to read, keep, frame or index', async () => {
      await complete(1);
      const { headers, status } = await new Visitor((await newLink()).url).get();
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
      await complete(1);
      const [revoked, expired, good] = [await newLink(), await newLink(), await newLink()];
      await api.revoke(revoked.id);
      withDatabase(server, (db) => db.prepare('UPDATE feedback_links SET expires_at = 1 WHERE id = ?').run(expired.id));
      const wrong = `${server.url}/f/${'A'.repeat(43)}`;
      const pages: string[] = [];
      for (const url of [wrong, revoked.url, expired.url, `${good.url}x`, `${server.url}/f/x`]) {
        const page = await new Visitor(url).get();
        expect(page.status, url).to.equal(404);
        expect(page.headers.get('set-cookie')).to.equal(null);
        expect(page.text).to.not.include(slug).and.to.not.include('Output');
        pages.push(page.text);
        const posted = await new Visitor(url).post({ completion_id: randomUUID(), thumbs_up: 'true' });
        expect(posted.status, url).to.equal(404);
        const json = await new Visitor(url).postJson({});
        expect([json.status, json.headers.get('content-type')]).to.deep.equal([404, 'application/problem+json']);
      }
      expect(new Set(pages).size).to.equal(1);
    });

    it('that shows the newest 20 of this prompt, one by one, newest first', async () => {
      const spans = await complete(23);
      const other = `other-${randomUUID()}`;
      await api.ensure(other);
      await api.spans([completion(other, { started_at: '2026-03-02T00:00:00Z', output_data: 'Foreign' })]);
      const visitor = new Visitor((await newLink()).url);
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
      const { json: version } = await api.ensure(slug, 'another content');
      const named = [
        { task: slug },
        { prompt_slug: version.prompt_id.toUpperCase() },
        { 'zeroeval.task': slug },
        { zeroeval: { prompt_version_id: version.id } },
        { 'zeroeval.prompt_version_id': version.id.toUpperCase() },
      ];
      const spans = await complete(8, (index) => ({ attributes: named[index] ?? { task: `${slug}2`, note: slug } }));
      await api.request('DELETE', `/spans/${spans[0]!.id}`);
      await api.spans([
        { ...spans[1], attributes: {} },
        { ...spans[7], attributes: { task: slug } },
      ]);
      const visitor = new Visitor((await newLink()).url);
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
      for (let index = 0; index < 320; index += 1) ids.push((await api.ensure(slug, `version ${index}`)).json.id);
      const spans = await complete(30, (index) => ({
        attributes: { prompt_version_id: index % 2 === 0 ? ids[index * 10] : randomUUID() },
      }));
      const page = await new Visitor((await newLink()).url).get();
      expect(page.text).to.include('1 of 15');
      expect(shown(page)).to.equal(spans[28]!.id);
    });

    it('that says so when there is nothing yet, and has it at once when there is', async () => {
      const visitor = new Visitor((await newLink()).url);
      expect((await visitor.get()).text).to.include('Nothing to review yet');
      await complete(1);
      expect((await visitor.get()).text).to.include('1 of 1');
    });

    it('that keeps its round while new completions arrive, and takes them up when opened anew', async () => {
      const spans = await complete(3);
      const visitor = new Visitor((await newLink()).url);
      await visitor.get();
      const [newer] = await complete(1, () => ({ started_at: '2026-04-01T00:00:00Z' }));
      const second = await visitor.get(`?c=${spans[1]!.id}`);
      expect(second.text).to.include('2 of 3');
      const anew = await visitor.get();
      expect(anew.text).to.include('1 of 4');
      expect(shown(anew)).to.equal(newer!.id);
    });
  });

  describe('take feedback', () => {
    it('by form, from completion to completion, and thank with what was given', async () => {
      const spans = await complete(3);
      const link = await newLink();
      const visitor = new Visitor(link.url);
      let page = await visitor.get();
      expect(page.text).to.include('name="reviewer_name"');
      const answered = await visitor.post({
        completion_id: shown(page) ?? '',
        thumbs_up: 'false',
        reason: 'Too short\r\nby far',
        expected_output: '',
        reviewer_name: ' Ann  Lee ',
      });
      expect(answered.status).to.equal(303);
      const location = new URL(answered.headers.get('location') ?? '', server.url);
      expect(location.search).to.equal(`?c=${spans[1]!.id}`);
      page = await visitor.get(location.search);
      expect(page.text).to.include('2 of 3').and.to.include('Ann Lee').and.to.not.include('name="reviewer_name"');
      for (const span of [spans[1]!, spans[0]!]) {
        const fields = { completion_id: span.id, thumbs_up: 'true', expected_output: '<b>Better</b>' };
        page = await visitor.post({ ...fields, form: formValue(page) });
        expect(page.status).to.equal(303);
        page = await visitor.get(new URL(page.headers.get('location') ?? '', server.url).search);
      }
      expect(page.text).to.include('Thank you').and.to.include('3 of 3').and.to.include('Too short\nby far');
      expect(page.text).to.include('&lt;b&gt;Better&lt;/b&gt;').and.to.not.include('<b>Better');
      const { json } = await api.unified('span', spans[2]!.id);
      expect(json.items[0]).to.deep.include({ thumbs_up: false, reason: 'Too short\nby far', source_type: 'human' });
      expect(json.items[0]).to.not.have.property('expected_output');
      expect(json.items[0].created_by).to.deep.include({ name: 'Ann Lee', email: null });
    });

    it('by JSON, as the record; the same name on the same link is the same guest', async () => {
      const [span] = await complete(1);
      const link = await newLink();
      const give = (name: string, thumbs_up: boolean, url = link.url) =>
        new Visitor(url).postJson({
          completion_id: span!.id.toUpperCase(),
          thumbs_up,
          reviewer_name: name,
          reason: 'r',
        });
      const first = await give('Ann', true);
      expect(first.status).to.equal(200);
      expect(first.json).to.include({ completion_id: span!.id, thumbs_up: true, reason: 'r', judge_id: null });
      const again = await give(' ann ', false);
      expect(again.json).to.include({ id: first.json.id, created_at: first.json.created_at, thumbs_up: false });
      const others = [await give('Bob', true), await give('Ann', true, (await newLink()).url)];
      const { json } = await api.unified('span', span!.id);
      expect(json.summary.human_feedback_count).to.equal(3);
      expect(new Set([first, ...others].map((answer) => answer.json.id)).size).to.equal(3);
    });

    it('of one name sent 30 times at once as one guest and one record', async () => {
      const [span] = await complete(1);
      const { url } = await newLink();
      const answers = await Promise.all(
        Array.from({ length: 30 }, () =>
          new Visitor(url).postJson({ completion_id: span!.id, thumbs_up: true, reviewer_name: 'Cleo' }),
        ),
      );
      expect(new Set(answers.map(({ status, json }) => `${status} ${json.id}`)).size).to.equal(1);
      const guests = withDatabase(server, (db) =>
        db.prepare(`SELECT count(*) FROM users WHERE name = 'Cleo'`).pluck().get(),
      );
      expect(guests).to.equal(1);
    });

    it('of this prompt only', async () => {
      const [span] = await complete(1);
      const another = `other-${randomUUID()}`;
      await api.ensure(another);
      const foreign = completion(another, { output_data: 'Foreign output' });
      await api.spans([foreign]);
      const { url, id } = await newLink();
      for (const other of [foreign.id, randomUUID()]) {
        const body = { completion_id: other, thumbs_up: true, reviewer_name: 'Ann' };
        const json = await new Visitor(url).postJson(body);
        expect(json.status).to.equal(422);
        expect(json.json.errors[0].pointer).to.equal('/completion_id');
        const form = await new Visitor(url).post({ ...body, thumbs_up: 'true' });
        expect(form.status).to.equal(422);
        expect(form.text).to.not.include('Foreign');
        const page = await new Visitor(url).get(`?c=${other}`);
        expect(shown(page)).to.equal(span!.id);
      }
      expect((await api.unified('span', foreign.id)).json.summary.total).to.equal(0);
      const guests = withDatabase(server, (db) =>
        db.prepare('SELECT count(*) FROM feedback_guests WHERE link_id = ?').pluck().get(id),
      );
      expect(guests, 'a refused review leaves no guest').to.equal(0);
    });

    it('not with anything missing or wrong; a form comes back as it was filled in', async () => {
      const [span] = await complete(1);
      const { url } = await newLink();
      const id = span!.id;
      const bad: [Record<string, unknown>, string][] = [
        [{ completion_id: id, reviewer_name: 'Ann' }, '/thumbs_up'],
        [{ completion_id: id, reviewer_name: 'Ann', thumbs_up: 'maybe' }, '/thumbs_up'],
        [{ completion_id: id, thumbs_up: true }, '/reviewer_name'],
        [{ completion_id: id, thumbs_up: true, reviewer_name: ' \u200b ' }, '/reviewer_name'],
        [{ completion_id: id, thumbs_up: true, reviewer_name: 'x'.repeat(101) }, '/reviewer_name'],
        [{ completion_id: 'x', thumbs_up: true, reviewer_name: 'Ann' }, '/completion_id'],
        [{ thumbs_up: true, reviewer_name: 'Ann' }, '/completion_id'],
        [{ completion_id: id, thumbs_up: true, reviewer_name: 'Ann', reason: 'x'.repeat(32_769) }, '/reason'],
      ];
      for (const [body, pointer] of bad) {
        const { status, json } = await new Visitor(url).postJson(body);
        expect(status, JSON.stringify(body).slice(0, 100)).to.equal(422);
        expect(json.errors.map((issue: any) => issue.pointer)).to.include(pointer);
      }
      const page = await new Visitor(url).post({ completion_id: id, reason: 'Kept </textarea>', reviewer_name: 'Ann' });
      expect(page.status).to.equal(422);
      expect(page.text)
        .to.include('Kept &lt;/textarea&gt;')
        .and.to.include('value="Ann"')
        .and.to.include('role="alert"');
      expect(shown(page)).to.equal(id);
      for (const [type, body] of [
        ['application/json', '{'],
        ['application/json', '[]'],
        ['text/plain', 'x'],
      ] as const) {
        const { status } = await send(`${url}/feedback`, 'POST', {
          key: null,
          body,
          headers: { 'content-type': type },
        });
        expect(status).to.equal(type === 'text/plain' ? 415 : 400);
      }
      expect(
        (
          await send(`${url}/feedback`, 'POST', {
            key: null,
            body: Buffer.alloc(17 * 1024 * 1024),
            headers: { 'content-type': 'application/json' },
          })
        ).status,
      ).to.equal(413);
      expect((await api.unified('span', id)).json.summary.total).to.equal(0);
    });

    it('not from another site, and rely on a remembered name only for a form of ours', async () => {
      const spans = await complete(2);
      const { url } = await newLink();
      const visitor = new Visitor(url);
      const fields = { completion_id: spans[1]!.id, thumbs_up: 'true', reviewer_name: 'Ann' };
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.example' },
      ])
        expect((await visitor.post(fields, headers)).status, JSON.stringify(headers)).to.equal(403);
      for (const headers of [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, { origin: server.url }, {}])
        expect((await visitor.post(fields, headers)).status, JSON.stringify(headers)).to.equal(303);
      const nameless = { completion_id: spans[0]!.id, thumbs_up: 'true' };
      // A browser that sends no referrer and says nothing of where it comes from may be on any page.
      const silent = { origin: 'null' };
      expect((await visitor.post(nameless, silent)).status).to.equal(422);
      expect(
        (await visitor.post({ ...nameless, form: formValue(await visitor.get(`?c=${spans[1]!.id}`)) }, silent)).status,
      ).to.equal(422);
      const page = await visitor.get(`?c=${spans[0]!.id}`);
      expect((await visitor.post({ ...nameless, form: formValue(page) }, silent)).status).to.equal(303);
      expect((await visitor.post(nameless)).status).to.equal(303);
      expect((await new Visitor(url).post(nameless)).status).to.equal(422);
      const forged = new Visitor(url);
      forged.cookie = visitor.cookie.replace(/=./, '=X');
      expect((await forged.get()).text).to.include('name="reviewer_name"');
    });

    it('count by result and thumb', async () => {
      const [span] = await complete(1);
      const { url } = await newLink();
      const count = async (name: string) => {
        const { text } = await api.request('GET', '/metrics', { key: null });
        const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
        return Number(line?.split(' ')[1] ?? 0);
      };
      const names = [
        'spanhouse_feedback_accepted_total{source="link",thumb="down"}',
        ...['shown', 'saved', 'invalid', 'not_found', 'forbidden'].map(
          (result) => `spanhouse_feedback_page_requests_total{result="${result}"}`,
        ),
      ];
      const before = await Promise.all(names.map(count));
      const visitor = new Visitor(url);
      await visitor.get();
      await visitor.post({ completion_id: span!.id, thumbs_up: 'false', reviewer_name: 'Ann' });
      await visitor.post({ completion_id: span!.id, reviewer_name: 'Ann' });
      await visitor.post({}, { 'sec-fetch-site': 'cross-site' });
      await new Visitor(`${server.url}/f/x`).get();
      const after = await Promise.all(names.map(count));
      expect(after.map((value, index) => value - before[index]!)).to.deep.equal([1, 1, 1, 1, 1, 1]);
    });
  });

  describe('show foreign content', () => {
    it('as text, whatever it holds', async () => {
      const hostile =
        '<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) "quoted" \'single\'';
      const [span] = await complete(1, () => ({
        name: hostile,
        input_data: JSON.stringify([{ role: hostile, content: `${hostile}\u202Egnp.exe\u202C\u0000` }]),
        output_data: `${hostile}${'\u{e0041}'.repeat(3)}\u200b end`,
      }));
      const page = await new Visitor((await newLink()).url).get();
      expect(shown(page)).to.equal(span!.id);
      expect(page.text).to.include('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(page.text.match(/<script/g)).to.have.length(1);
      expect(page.text).to.not.match(/<img src=x|href="javascript/i);
      expect(page.text)
        .to.include('>U+202E<')
        .and.to.include('>U+0000<')
        .and.to.include('>U+E0041 ×3<')
        .and.to.include('>U+200B<');
      expect(page.text).to.not.match(/[\u202a-\u202e\u2066-\u2069\u200b\u0000]|[\u{e0000}-\u{e007f}]/u);
    });

    it('as messages of many shapes', async () => {
      const text = (value: unknown) => JSON.stringify(value);
      const shapes: [string, string[]][] = [
        [
          text([
            { role: 'system', content: 'Be brief' },
            { role: 'user', content: [{ type: 'text', text: 'Hello there' }] },
          ]),
          ['Instructions', 'Be brief', 'User', 'Hello there'],
        ],
        [
          text({
            system: 'Be kind',
            messages: [
              { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', text: 'Sunny' }] }] },
            ],
          }),
          ['Be kind', 'result', 'Sunny'],
        ],
        [
          text([
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: '1', function: { name: 'search', arguments: '{"q":"cats"}' } }],
            },
          ]),
          ['Assistant', 'calls search', '&quot;q&quot;: &quot;cats&quot;'],
        ],
        [
          text([
            {
              role: 'user',
              parts: [
                { type: 'text', content: 'From GenAI' },
                { type: 'tool_call', name: 'look', arguments: { a: 1 } },
              ],
            },
          ]),
          ['From GenAI', 'calls look'],
        ],
        [
          text({
            contents: [{ role: 'model', parts: [{ text: 'From Gemini' }] }],
            systemInstruction: { parts: [{ text: 'Rules' }] },
          }),
          ['Rules', 'From Gemini'],
        ],
        [
          text({ choices: [{ index: 0, message: { role: 'assistant', content: 'A choice' } }] }),
          ['Assistant', 'A choice'],
        ],
        [text([{ 'message.role': 'user', 'message.content': 'OpenInference' }]), ['User', 'OpenInference']],
        [
          text([
            {
              role: 'user',
              content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(5000)}` } }],
            },
          ]),
          ['image url', '5022 characters'],
        ],
        [text({ question: 'Which?', n: 1 }), ['&quot;question&quot;: &quot;Which?&quot;']],
        [text([{ role: 'user' }, 'odd']), ['odd']],
        [text('A JSON string'), ['A JSON string']],
        ['{"broken', ['{&quot;broken']],
        ['[', ['[']],
        ['Plain text', ['Plain text']],
      ];
      const spans = await complete(shapes.length, (index) => ({ input_data: shapes[index]![0] }));
      const visitor = new Visitor((await newLink()).url);
      await visitor.get();
      for (const [index, [input, expected]] of shapes.entries()) {
        const page = await visitor.get(`?c=${spans[index]!.id}`);
        for (const part of expected) expect(page.text, input).to.include(part);
        expect(page.text.length, input).to.be.lessThan(20_000);
      }
    });

    it('that was made to break it, within bounds and in time', async function () {
      this.timeout(60_000);
      const deep = 100_000;
      const inputs = [
        JSON.stringify([
          { role: 'constructor', content: 'a' },
          { role: '__proto__', content: [{ type: 'toString' }] },
        ]),
        '['.repeat(deep) + ']'.repeat(deep),
        '{"message":'.repeat(deep) + '1' + '}'.repeat(deep),
        '{"a":'.repeat(5000) + '1' + '}'.repeat(5000),
        `[{"role":"user","content":${'['.repeat(deep)}${']'.repeat(deep)}}]`,
        JSON.stringify([
          { role: 'user', content: Array.from({ length: 20_000 }, () => ({ type: 'text', text: 'part' })) },
        ]),
        JSON.stringify([{ role: 'user', content: '\u202e\u202d'.repeat(500_000) }]),
        '\u202e\u202d'.repeat(500_000),
        JSON.stringify([{ role: 'x'.repeat(1e6), content: [null, 1, true, [], {}, { type: 7 }, { text: {} }] }]),
        JSON.stringify({ messages: [{ role: 'user', content: 'x', tool_calls: 'none', function_call: [] }] }),
        JSON.stringify([{ message: { message: { role: 'user', content: 'inner' } } }]),
      ];
      const spans = await complete(inputs.length, (index) => ({ input_data: inputs[index] }));
      const visitor = new Visitor((await newLink()).url);
      await visitor.get();
      for (const [index, input] of inputs.entries()) {
        for (const [query, limit] of [
          ['', 150_000],
          ['&all=1', 12_000_000],
        ] as const) {
          const started = performance.now();
          const page = await visitor.get(`?c=${spans[index]!.id}${query}`);
          expect(page.status, input.slice(0, 60)).to.equal(200);
          expect(shown(page)).to.equal(spans[index]!.id);
          expect(page.text.length, input.slice(0, 60)).to.be.lessThan(limit);
          expect(performance.now() - started, input.slice(0, 60)).to.be.lessThan(3000);
        }
      }
    });

    it('in part when it is long, and in full when asked for, quickly', async function () {
      this.timeout(20_000);
      const long = `${'x'.repeat(1_000_000)} the end`;
      const [span] = await complete(1, () => ({
        input_data: JSON.stringify(Array.from({ length: 200 }, (_, n) => ({ role: 'user', content: `message ${n}.` }))),
        output_data: long,
      }));
      const visitor = new Visitor((await newLink()).url);
      const page = await visitor.get();
      expect(page.text.length).to.be.lessThan(20_000);
      expect(page.text).to.include('Show all 1,000,008 characters').and.to.include('Show 188 earlier messages');
      expect(page.text).to.include('message 0.').and.to.include('message 199.').and.to.not.include('message 100.');
      const started = performance.now();
      const full = await visitor.get(`?c=${span!.id}&all=1`);
      expect(performance.now() - started).to.be.lessThan(3000);
      expect(full.text).to.include('the end').and.to.include('message 100.');
    });

    it('with the images that are kept here, and names those elsewhere', async () => {
      const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
      await complete(1, () => ({
        attributes: {
          task: slug,
          attachments: [
            { type: 'image', label: 'Our "image"', base64: png },
            { type: 'image', label: 'Theirs', url: 'https://elsewhere.example/x.png' },
          ],
        },
      }));
      const page = await new Visitor((await newLink()).url).get();
      const [, src] = /<img src="(\/attachments\/[^"]+)"\s+alt="Our &quot;image&quot;"/.exec(page.text) ?? [];
      const image = await send(server.url + (src ?? '').replaceAll('&amp;', '&'), 'GET', { key: null });
      expect([image.status, image.headers.get('content-type')]).to.deep.equal([200, 'image/png']);
      expect(page.text).to.include('https://elsewhere.example/x.png').and.to.not.include('src="https://');
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
