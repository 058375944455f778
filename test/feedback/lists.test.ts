import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { Visitor } from '../review/linked-prompt.js';
import { completion, feedbackApi, keyOfAnotherUser, storeJudge, withDatabase } from './feedback-api.js';

// Answers are looked into; a wrong guess at their shape fails an assertion.
type Json = any;

describe('lists of collected feedback', () => {
  let server: TestServer;
  let document: ApiDocument;
  let api: ReturnType<typeof feedbackApi>;
  let slugs = 0;

  before(async () => {
    server = await bootServer();
    document = await ApiDocument.of(server);
    api = feedbackApi(server);
  });
  after(() => server.dispose());

  const get = async (path: string, status = 200): Promise<Json> => {
    const response = await api.request('GET', path);
    document.check('GET', path, response);
    expect(response.status, `${path}: ${response.text.slice(0, 500)}`).to.equal(status);
    return response.json;
  };
  const pathOf = (slug: string, query = '') =>
    `/projects/${server.projectId}/prompts/${encodeURIComponent(slug)}/feedback${query}`;
  const list = (slug: string, query = '') => get(pathOf(slug, query));
  const idsIn = ({ feedback }: Json): string[] => feedback.map(({ completion_id }: Json) => completion_id);
  const newSlug = async () => {
    const slug = `listed/${(slugs += 1)}`;
    await api.ensure(slug);
    return slug;
  };
  const give = async (slug: string, id: string, body: Json) => {
    const { status, json, text } = await api.give(slug, id, body);
    expect(status, text).to.equal(200);
    return json;
  };

  it('answer the record, who gave it, and the version and completion when the span is there', async () => {
    const slug = await newSlug();
    const { json: version } = await api.ensure(slug, 'second');
    const span = completion(slug, { attributes: { prompt_version_id: version.id.toUpperCase() } });
    const given = await give(slug, span.id, { thumbs_up: false, reason: 'r', metadata: { a: 1 } });
    const item = { ...given, created_by: { email: null, name: 'Owner' }, link_id: null };
    const of = (json: Json) => {
      const { id, ...created_by } = json.feedback[0].created_by;
      expect(id).to.be.a('string');
      return { ...json, feedback: [{ ...json.feedback[0], created_by }] };
    };
    const page = { total: 1, limit: 100, offset: 0 };
    // Feedback may come before its span.
    expect(of(await list(slug, '?include=completion'))).to.deep.equal({
      ...page,
      feedback: [{ ...item, prompt_version: null, completion: null }],
    });
    await api.spans([span]);
    expect(of(await list(slug))).to.deep.equal({ ...page, feedback: [{ ...item, prompt_version: 2 }] });
    expect(of(await list(slug, '?include=completion')).feedback[0].completion).to.deep.equal({
      name: 'answer',
      trace_id: span.trace_id,
      started_at: span.started_at,
      input_data: span.input_data,
      output_data: 'On its way.',
    });
    await api.request('DELETE', `/spans/${span.id}`);
    expect(await list(slug), 'what is said of a deleted span is deleted').to.deep.equal({
      ...page,
      total: 0,
      feedback: [],
    });
  });

  it('are paged newest first, or the other way round, with the number of all', async () => {
    const slug = await newSlug();
    const ids = Array.from({ length: 7 }, () => randomUUID());
    for (const [index, id] of ids.entries()) {
      await give(slug, id, { thumbs_up: index % 3 === 0 });
      // Bounds of time tell apart what is not of one millisecond.
      await setTimeout(2);
    }
    const newest = [...ids].reverse();
    expect(idsIn(await list(slug))).to.deep.equal(newest);
    expect(idsIn(await list(slug, '?sort_order=asc'))).to.deep.equal(ids);
    const second = await list(slug, '?limit=3&offset=3');
    expect(second).to.include({ total: 7, limit: 3, offset: 3 });
    expect(idsIn(second)).to.deep.equal(newest.slice(3, 6));
    expect(await list(slug, '?offset=7')).to.deep.include({ total: 7, feedback: [] });
    expect(idsIn(await list(slug, '?thumbs_up=true&sort_order=asc'))).to.deep.equal([ids[0], ids[3], ids[6]]);
    expect(await list(slug, '?thumbs_up=false&limit=1')).to.include({ total: 4 });
    // Given again it changes, and keeps its place.
    await give(slug, ids[0]!, { thumbs_up: false });
    expect(idsIn(await list(slug))).to.deep.equal(newest);
    expect((await list(slug, '?thumbs_up=true')).total).to.equal(2);
    const { created_at } = (await list(slug, '?limit=1&offset=3')).feedback[0];
    expect(idsIn(await list(slug, `?start_date=${created_at}`))).to.deep.equal(newest.slice(0, 4));
    expect(idsIn(await list(slug, `?end_date=${created_at}`))).to.deep.equal(newest.slice(3));
    expect(idsIn(await list(slug, `?start_date=${created_at}&end_date=${created_at}`))).to.deep.equal([newest[3]]);
  });

  it('tell feedback on completions from feedback on judges', async () => {
    const task = await newSlug();
    const [one, other] = [storeJudge(server, { task_slug: task }), storeJudge(server, { task_slug: task })];
    const [plain, right, wrong] = [randomUUID(), randomUUID(), randomUUID()];
    await give(task, plain, { thumbs_up: true });
    await give(task, right, { judge_was_right: true, judge_id: one });
    await give(task, wrong, { judge_was_right: false, judge_id: other });
    const seen = async (query: string) =>
      (await list(task, query)).feedback.map(({ completion_id, judge_id, thumbs_up, judge_was_right }: Json) => [
        completion_id,
        judge_id,
        thumbs_up,
        judge_was_right,
      ]);
    expect(await seen('?source_type=human')).to.deep.equal([[plain, null, true, null]]);
    expect(await seen('?source_type=judge')).to.deep.equal([
      [wrong, other, false, false],
      [right, one, true, true],
    ]);
    expect(await seen(`?judge_id=${one.toUpperCase()}`)).to.deep.equal([[right, one, true, true]]);
    expect(await seen(`?source_type=judge&judge_id=${other}&thumbs_up=true`)).to.deep.equal([]);
  });

  it('find what a reviewer and a link brought, also when the link is revoked', async () => {
    const slug = await newSlug();
    const spans = [completion(slug), completion(slug)];
    await api.spans(spans);
    const links: Json[] = [];
    for (const _ of spans) links.push((await api.link({ prompt_slug: slug, link_type: 'prompt_completion' })).json);
    const review = async (link: Json, span: Json, reviewer_name: string) => {
      const { status, text } = await new Visitor(link.url).postJson({
        completion_id: span.id,
        thumbs_up: true,
        reviewer_name,
      });
      expect(status, text).to.equal(200);
    };
    await review(links[0], spans[0], 'Ann Lee');
    await review(links[0], spans[1], 'Bob');
    await review(links[1], spans[1], 'Ann Lee');
    await give(slug, spans[0]!.id, { thumbs_up: false });
    await feedbackApi(server, keyOfAnotherUser(server, 'Cleo')).give(slug, spans[1]!.id, { thumbs_up: false });
    const seen = ({ feedback }: Json) =>
      feedback.map(({ completion_id, link_id, created_by }: Json) => [created_by.name, completion_id, link_id]);
    const [a, b] = [spans[0]!.id, spans[1]!.id];
    expect(seen(await list(slug))).to.deep.equal([
      ['Cleo', b, null],
      ['Owner', a, null],
      ['Ann Lee', b, links[1].id],
      ['Bob', b, links[0].id],
      ['Ann Lee', a, links[0].id],
    ]);
    expect(seen(await list(slug, '?reviewer=Ann%20Lee')).map(([, , link]: Json) => link)).to.deep.equal([
      links[1].id,
      links[0].id,
    ]);
    expect(seen(await list(slug, '?reviewer=Cleo'))).to.deep.equal([['Cleo', b, null]]);
    expect((await list(slug, '?reviewer=Nobody')).total).to.equal(0);
    const first = seen(await list(slug, `?link_id=${links[0].id}`));
    expect(first).to.deep.equal([
      ['Bob', b, links[0].id],
      ['Ann Lee', a, links[0].id],
    ]);
    await api.revoke(links[0].id);
    const byLink = await get(`/feedback-links/${links[0].id}/feedback?include=completion`);
    expect(byLink).to.include({ total: 2, limit: 100, offset: 0 });
    expect(seen(byLink)).to.deep.equal(first);
    expect(byLink.feedback[0].completion.output_data).to.equal('On its way.');
    expect((await get(`/feedback-links/${links[0].id}/feedback?reviewer=Bob&thumbs_up=true`)).total).to.equal(1);
    const { detail } = await get(`/feedback-links/${randomUUID()}/feedback`, 404);
    expect(detail).to.equal('There is no feedback link with this id');
    const foreign = feedbackApi(server, secondProject(server).key);
    expect((await foreign.request('GET', `/feedback-links/${links[0].id}/feedback`)).status).to.equal(404);
  });

  it('find the feedback on one version, however its spans name it and whenever they come', async () => {
    const slug = await newSlug();
    const other = await newSlug();
    const [first, second] = [(await api.ensure(slug)).json, (await api.ensure(slug, 'second')).json];
    const foreign = (await api.ensure(other)).json;
    const named = (attributes: Json) => completion(slug, { attributes });
    const spans = [
      named({ zeroeval: { prompt_version_id: first.id } }),
      named({ 'zeroeval.prompt_version_id': first.id.toUpperCase() }),
      named({ prompt_version_id: second.id, task: slug }),
      named({ task: slug }),
      named({ prompt_version_id: foreign.id, task: slug }),
      // The first that is a version of this prompt counts.
      named({ zeroeval: { prompt_version_id: foreign.id }, prompt_version_id: second.id }),
      // Half of a surrogate pair, which ClickHouse cannot read.
      named({ prompt_version_id: second.id, odd: '\ud800' }),
    ];
    for (const { id } of spans) await give(slug, id, { thumbs_up: true });
    const never = randomUUID();
    await give(slug, never, { thumbs_up: true });
    expect(await list(slug, '?version=1')).to.deep.include({ total: 0, feedback: [] });
    await api.spans(spans);
    const id = (index: number) => spans[index]!.id;
    expect(idsIn(await list(slug, '?version=1'))).to.deep.equal([id(1), id(0)]);
    expect(idsIn(await list(slug, '?version=2&sort_order=asc'))).to.deep.equal([id(2), id(5), id(6)]);
    const versions = (await list(slug, '?sort_order=asc')).feedback.map(({ prompt_version }: Json) => prompt_version);
    expect(versions).to.deep.equal([1, 1, 2, null, null, 2, 2, null]);
    const page = await list(slug, '?version=2&limit=1&offset=1&thumbs_up=true&include=completion');
    expect(page).to.include({ total: 3, limit: 1, offset: 1 });
    expect(idsIn(page)).to.deep.equal([id(5)]);
    expect(page.feedback[0].completion.trace_id).to.equal(spans[5]!.trace_id);
    // A span that is sent again with another version counts for that one.
    await api.spans([{ ...spans[0], attributes: { prompt_version_id: second.id } }]);
    expect(idsIn(await list(slug, '?version=1'))).to.deep.equal([id(1)]);
    const { detail } = await get(pathOf(slug, '?version=3'), 404);
    expect(detail).to.equal('The prompt has no version 3');
  });

  it('of one version are exact over many thousand records, page by page', async function () {
    this.timeout(60_000);
    const slug = await newSlug();
    const { json: version } = await api.ensure(slug);
    const ids = Array.from({ length: 5_000 }, () => randomUUID());
    await give(slug, ids[0]!, { thumbs_up: true });
    // Stored as they would be had they been sent; several at one moment.
    withDatabase(server, (db) => {
      const copy = db.prepare(
        `INSERT INTO feedback (id, project_id, prompt_id, completion_id, user_id, thumbs_up, metadata, created_at, updated_at)
         SELECT ?, project_id, prompt_id, ?, user_id, 1, '{}', created_at + ?, updated_at FROM feedback WHERE completion_id = ?`,
      );
      db.transaction(() => {
        for (const [index, id] of ids.entries())
          if (index > 0) copy.run(randomUUID(), id, Math.floor(index / 3), ids[0]);
      })();
    });
    const made = ids.filter((_, index) => index % 7 === 0);
    await api.spans(made.map((id) => completion(slug, { id, attributes: { prompt_version_id: version.id } })));
    const found: string[] = [];
    for (let offset = 0; ; offset += 500) {
      const page = await list(slug, `?version=1&limit=500&offset=${offset}`);
      expect(page.total).to.equal(made.length);
      found.push(...idsIn(page));
      if (page.feedback.length < 500) break;
    }
    expect(new Set(found).size).to.equal(found.length);
    expect([...found].sort()).to.deep.equal([...made].sort());
  });

  it('of one version look through a hundred thousand records, and ask for a range of time beyond', async function () {
    this.timeout(60_000);
    const slug = await newSlug();
    const span = completion(slug, { attributes: { prompt_version_id: (await api.ensure(slug)).json.id } });
    const { created_at } = await give(slug, span.id, { thumbs_up: true });
    await api.spans([span]);
    const newId = "lower(hex(randomblob(4)) || '-1111-4111-8111-' || hex(randomblob(6)))";
    const add = (count: number) =>
      withDatabase(server, (db) =>
        db
          .prepare(
            `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
             INSERT INTO feedback (id, project_id, prompt_id, completion_id, user_id, thumbs_up, metadata, created_at, updated_at)
             SELECT ${newId}, project_id, prompt_id, ${newId}, user_id, 1, '{}', created_at + 1, updated_at
             FROM n, feedback WHERE completion_id = ?`,
          )
          .run(count, span.id),
      );
    add(99_999);
    const whole = await list(slug, '?version=1');
    expect(whole.total).to.equal(1);
    expect(idsIn(whole)).to.deep.equal([span.id]);
    add(1);
    const { errors } = await get(pathOf(slug, '?version=1'), 422);
    expect(errors).to.deep.equal([
      { pointer: '?version', detail: 'covers at most 100000 records: narrow start_date and end_date' },
    ]);
    expect(idsIn(await list(slug, `?version=1&end_date=${created_at}`))).to.deep.equal([span.id]);
    expect((await list(slug, '?limit=1')).total).to.equal(100_001);
  });

  it('hold long texts in full up to a million characters, and say what is left out beyond', async () => {
    const slug = await newSlug();
    const long = 'ä'.repeat(1_000_001);
    const span = completion(slug, { input_data: long.slice(1), output_data: long });
    await api.spans([span]);
    await give(slug, span.id, { thumbs_up: true });
    const [{ completion: found }] = (await list(slug, '?include=completion')).feedback;
    expect(found.input_data === long.slice(1)).to.equal(true);
    expect(found.output_data).to.include('[… 1 characters left out here …]');
  });

  it('refuse what they do not know, with the rule', async () => {
    const slug = await newSlug();
    const refused: [query: string, pointer: string, rule: string][] = [
      ['limit=0', '?limit', 'must be at least 1'],
      ['limit=501', '?limit', 'must be at most 500'],
      ['limit=101&include=completion', '?limit', 'must be at most 100 with include=completion'],
      ['include=everything', '?include', 'must be one of completion'],
      ['thumbs_up=maybe', '?thumbs_up', ''],
      ['version=0', '?version', ''],
      ['reviewer=', '?reviewer', ''],
      ['judge_id=x', '?judge_id', ''],
      [`judge_id=${randomUUID()}&source_type=human`, '?judge_id', 'must not be given with source_type=human'],
      ['start_date=2026-02-01&end_date=2026-01-01', '?end_date', 'must not be before start_date'],
      ['sort_order=up', '?sort_order', ''],
    ];
    for (const [query, pointer, rule] of refused) {
      const { errors } = await get(pathOf(slug, `?${query}`), 422);
      expect(errors[0].pointer, query).to.equal(pointer);
      expect(errors[0].detail, query).to.include(rule);
    }
    expect((await get(pathOf('no-such-prompt'), 404)).detail).to.equal('There is no prompt with this slug');
  });
});
