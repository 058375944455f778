import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { bootServer, send } from '../harness/server.js';
import { completion, withDatabase } from '../feedback/feedback-api.js';
import { feedbackLinks, formValue, shown, Visitor } from './linked-prompt.js';

feedbackLinks((on) => {
  describe('take feedback', () => {
    it('by form, from completion to completion, and thank with what was given', async () => {
      const spans = await on.prompt.complete(3);
      const link = await on.prompt.link();
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
      const location = new URL(answered.headers.get('location') ?? '', on.server.url);
      expect(location.search).to.equal(`?c=${spans[1]!.id}`);
      page = await visitor.get(location.search);
      expect(page.text).to.include('2 of 3').and.to.include('Ann Lee').and.to.not.include('name="reviewer_name"');
      for (const span of [spans[1]!, spans[0]!]) {
        const fields = { completion_id: span.id, thumbs_up: 'true', expected_output: '<b>Better</b>' };
        page = await visitor.post({ ...fields, form: formValue(page) });
        expect(page.status).to.equal(303);
        page = await visitor.get(new URL(page.headers.get('location') ?? '', on.server.url).search);
      }
      expect(page.text).to.include('Thank you').and.to.include('3 of 3').and.to.include('Too short\nby far');
      expect(page.text).to.include('&lt;b&gt;Better&lt;/b&gt;').and.to.not.include('<b>Better');
      const { json } = await on.api.unified('span', spans[2]!.id);
      expect(json.items[0]).to.deep.include({ thumbs_up: false, reason: 'Too short\nby far', source_type: 'human' });
      expect(json.items[0]).to.not.have.property('expected_output');
      expect(json.items[0].created_by).to.deep.include({ name: 'Ann Lee', email: null });
    });

    it('by JSON, as the record; the same name on the same link is the same guest', async () => {
      const [span] = await on.prompt.complete(1);
      const link = await on.prompt.link();
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
      const others = [await give('Bob', true), await give('Ann', true, (await on.prompt.link()).url)];
      const { json } = await on.api.unified('span', span!.id);
      expect(json.summary.human_feedback_count).to.equal(3);
      expect(new Set([first, ...others].map((answer) => answer.json.id)).size).to.equal(3);
    });

    it('of one name sent 30 times at once as one guest and one record', async () => {
      const [span] = await on.prompt.complete(1);
      const { url } = await on.prompt.link();
      const answers = await Promise.all(
        Array.from({ length: 30 }, () =>
          new Visitor(url).postJson({ completion_id: span!.id, thumbs_up: true, reviewer_name: 'Cleo' }),
        ),
      );
      expect(new Set(answers.map(({ status, json }) => `${status} ${json.id}`)).size).to.equal(1);
      const guests = withDatabase(on.server, (db) =>
        db.prepare(`SELECT count(*) FROM users WHERE name = 'Cleo'`).pluck().get(),
      );
      expect(guests).to.equal(1);
    });

    it('of this prompt only', async () => {
      const [span] = await on.prompt.complete(1);
      const another = `other-${randomUUID()}`;
      await on.api.ensure(another);
      const foreign = completion(another, { output_data: 'Foreign output' });
      await on.api.spans([foreign]);
      const { url, id } = await on.prompt.link();
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
      expect((await on.api.unified('span', foreign.id)).json.summary.total).to.equal(0);
      const guests = withDatabase(on.server, (db) =>
        db.prepare('SELECT count(*) FROM feedback_guests WHERE link_id = ?').pluck().get(id),
      );
      expect(guests, 'a refused review leaves no guest').to.equal(0);
    });

    it('not with anything missing or wrong; a form comes back as it was filled in', async () => {
      const [span] = await on.prompt.complete(1);
      const { url } = await on.prompt.link();
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
      expect((await on.api.unified('span', id)).json.summary.total).to.equal(0);
    });

    it('not from another site, and rely on a remembered name only for a form of ours', async () => {
      const spans = await on.prompt.complete(2);
      const { url } = await on.prompt.link();
      const visitor = new Visitor(url);
      const fields = { completion_id: spans[1]!.id, thumbs_up: 'true', reviewer_name: 'Ann' };
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.example' },
      ])
        expect((await visitor.post(fields, headers)).status, JSON.stringify(headers)).to.equal(403);
      for (const headers of [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, { origin: on.server.url }, {}])
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
      const [span] = await on.prompt.complete(1);
      const { url } = await on.prompt.link();
      const count = async (name: string) => {
        const { text } = await on.api.request('GET', '/metrics', { key: null });
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
      await new Visitor(`${on.server.url}/f/x`).get();
      const after = await Promise.all(names.map(count));
      expect(after.map((value, index) => value - before[index]!)).to.deep.equal([1, 1, 1, 1, 1, 1]);
    });
  });
  // Whose metrics count the reviews of these tests alone.
}, bootServer);
