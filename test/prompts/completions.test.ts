import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { wilson } from '../../src/engine/statistics/intervals.js';
import { keyOfAnotherUser } from '../feedback/feedback-api.js';
import { ApiDocument } from '../harness/api-document.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { JudgeApi, type Json } from '../judges/judge-api.js';
import { secondProject } from './prompt-api.js';

const SLUG = 'shop/support';
const COUNT = 24;
const at = (index: number) => new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString();

describe('completions of a prompt', () => {
  let server: TestServer;
  let api: JudgeApi;
  let document: ApiDocument;
  let versions: Json[];
  let judges: Json[];
  let spans: Json[];

  const path = `prompts/${encodeURIComponent(SLUG)}`;
  async function get(what: string): Promise<Json> {
    const response = await api.call('GET', `${path}/${what}`);
    expect(response.status, response.text.slice(0, 500)).to.equal(200);
    document.check('GET', `/projects/${server.projectId}/${path}/${what}`, response);
    return response.json as Json;
  }
  const indexes = ({ completions }: Json) =>
    completions.map(({ id }: Json) => spans.findIndex((span) => span['id'] === id)) as number[];
  const completions = async (query: string) => {
    const page = await get(`completions?limit=500&sort_order=asc&${query}`);
    expect(page['total'], query).to.equal(page['completions'].length);
    return indexes(page);
  };
  const some = (wanted: (index: number) => boolean) =>
    Array.from({ length: COUNT }, (_, index) => index).filter(wanted);

  // By index: version 1, version 2 (in upper case, after a version of nobody), or only the prompt's name.
  const versionOf = (index: number) => [1, 2, null][index % 3] ?? null;
  const isUp = (index: number) => index % 4 === 1;
  const isDown = (index: number) => index % 8 === 1 || index % 4 === 2;
  const passes = (judge: number, index: number) => (judge === 0 ? index % 5 !== 0 : index % 2 === 0);
  const isEvaluated = (judge: number, index: number) => (judge === 0 ? index < 12 : index % 6 === 0);
  const failed = (index: number) => [0, 1].some((judge) => isEvaluated(judge, index) && !passes(judge, index));
  const evaluated = (index: number) => [0, 1].some((judge) => isEvaluated(judge, index));

  function attributesOf(index: number): Json {
    const usage = { provider: 'openai', model: 'gpt-4o-mini', inputTokens: 1000 * index, outputTokens: 10 };
    const version = versionOf(index);
    if (version === null) return { ...usage, task: SLUG };
    const id = versions[version - 1]?.['id'] as string;
    if (version === 1) return { ...usage, 'zeroeval.prompt_version_id': id };
    return {
      ...usage,
      zeroeval: { prompt_slug: SLUG, prompt_version_id: randomUUID() },
      prompt_version_id: id.toUpperCase(),
    };
  }

  before(async () => {
    server = await sharedServer();
    api = new JudgeApi(server);
    document = await ApiDocument.of(server);
    const ensure = (slug: string, content: string) =>
      api.expect(200, 'POST', `/v1/tasks/${encodeURIComponent(slug)}/prompt/versions/ensure`, { content });
    versions = [await ensure(SLUG, 'one'), await ensure(SLUG, 'two'), await ensure(SLUG, 'three')];
    await ensure('other', 'x');
    judges = [await api.create({ name: 'First' }), await api.createScored({ name: 'Second' })];
    spans = await api.post(
      ...Array.from({ length: COUNT }, (_, index) => ({
        trace_id: randomUUID(),
        name: `answer ${index % 2}`,
        kind: 'llm',
        started_at: at(index),
        duration_ms: index === 3 ? null : 10 * index,
        input_data: 'q'.repeat(3_000),
        output_data: 'a',
        ...(index % 7 === 0 ? { error_code: 'E' } : {}),
        attributes: attributesOf(index),
      })),
      { trace_id: randomUUID(), name: 'other', started_at: at(1), attributes: { task: 'other', about: SLUG } },
    );
    await api.post(spans[0] as Json);
    const key = keyOfAnotherUser(server, 'Another');
    for (const index of some(() => true)) {
      const id = spans[index]?.['id'] as string;
      const give = (thumbs_up: boolean, options: Json = {}) =>
        server.request('POST', `/v1/prompts/${encodeURIComponent(SLUG)}/completions/${id}/feedback`, {
          body: { thumbs_up },
          ...options,
        });
      if (isUp(index)) expect((await give(true)).status).to.equal(200);
      if (isDown(index)) expect((await give(false, { key })).status).to.equal(200);
      for (const judge of [0, 1]) {
        const record = (good: boolean) =>
          api.expect(201, 'POST', `judges/${judges[judge]?.['id']}/evaluations`, {
            span_id: id,
            ...(judge === 0 ? { evaluation_result: good } : { score: good ? 8 : 2 }),
          });
        // The latest counts.
        if (isEvaluated(judge, index)) for (const good of [index % 3 === 0, passes(judge, index)]) await record(good);
      }
    }
    // Of another prompt, or of the judge's evaluation: no thumb on these completions.
    await api.expect(200, 'POST', `/v1/prompts/other/completions/${spans[0]?.['id']}/feedback`, { thumbs_up: true });
    await api.expect(200, 'POST', `/v1/prompts/${judges[0]?.['task_slug']}/completions/${spans[0]?.['id']}/feedback`, {
      thumbs_up: true,
      judge_id: judges[0]?.['id'],
    });
  });
  after(() => server.dispose());

  it('are listed with their version, their figures, thumbs and verdicts', async () => {
    const page = await get('completions?limit=3&offset=22');
    expect([page['total'], page['limit'], page['offset'], indexes(page)]).to.deep.equal([COUNT, 3, 22, [1, 0]]);
    const [one, zero] = page['completions'];
    const { id, trace_id, name, started_at, has_error, duration_ms, cost } = spans[1] as Json;
    expect(one).to.deep.include({ id, trace_id, name, started_at, has_error, duration_ms, cost, output: 'a' });
    expect(one).to.include({ prompt_version: 2, thumbs_up: 1, thumbs_down: 1, output_data: 'a' });
    expect(one.input_data).to.equal(one.input);
    expect(one.input).to.match(/^q+\n\[… 1000 characters left out here …\]\nq+$/);
    expect(zero).to.include({ prompt_version: 1, thumbs_up: 0, thumbs_down: 0, has_error: true });
    expect(
      zero.verdicts.map(({ judge_name, evaluation_result, score }: Json) => [judge_name, evaluation_result, score]),
    ).to.deep.equal([
      ['First', false, null],
      ['Second', true, 8],
    ]);
  });

  it('are summed up in the list of prompts as the lists of spans and feedback have them', async () => {
    const since = at(3);
    const listed = (query: string) => api.call('GET', `prompts?${query}`);
    const { json: figured, ...response } = await listed(`include=figures&count=true&figures_since=${since}`);
    document.check('GET', `/projects/${server.projectId}/prompts`, { ...response, json: figured });
    expect(response.headers.get('x-total-count')).to.equal(String(figured.length));
    expect(figured.map(({ slug }: Json) => slug)).to.include.members([SLUG, 'other']);
    for (const { slug, figures } of figured) {
      const named = `prompt_slug=${encodeURIComponent(slug)}&started_after=${since}`;
      const { totals } = await api.expect(200, 'GET', `/spans:stats?measures=count,errors,cost&${named}`);
      const { total } = await api.expect(200, 'GET', `prompts/${encodeURIComponent(slug)}/feedback?limit=1`);
      const { count: calls, error_count: errors, cost } = totals;
      expect(figures, slug).to.deep.equal({ calls, errors, cost: figures.calls === 0 ? 0 : cost, feedback: total });
    }
    const [{ figures: lately }] = (await listed('include=figures&q=SUPPORT')).json;
    expect(lately).to.include({ calls: 0, errors: 0, cost: 0 });
    expect((await listed('include=figures&q=none')).json).to.deep.equal([]);
    const plain = await listed('limit=1&q=shop%2F');
    expect([plain.json.length, plain.json[0].figures, plain.headers.get('x-total-count')]).to.deep.equal([
      1,
      undefined,
      null,
    ]);
    expect(await api.refused('GET', 'prompts?include=figures&limit=101')).to.deep.equal({
      '?limit': 'must be at most 100 with include=figures',
    });
    expect(await api.refused('GET', 'prompts?figures_since=1d')).to.deep.equal({
      '?figures_since': 'must not be given without include=figures',
    });
  });

  const queries: [query: string, wanted: (index: number) => boolean][] = [
    ['', () => true],
    ['version=1', (index) => versionOf(index) === 1],
    ['version=2', (index) => versionOf(index) === 2],
    ['version=3', () => false],
    ['version=none', (index) => versionOf(index) === null],
    ['feedback=up', isUp],
    ['feedback=down', isDown],
    ['feedback=none', (index) => !isUp(index) && !isDown(index)],
    ['verdict=failed', failed],
    ['verdict=passed', (index) => evaluated(index) && !failed(index)],
    ['verdict=none', (index) => !evaluated(index)],
    ['feedback=up&verdict=failed&version=2', (index) => isUp(index) && failed(index) && versionOf(index) === 2],
    [
      `started_after=${at(5)}&started_before=${at(9)}&feedback=none`,
      (index) => index >= 5 && index <= 9 && !isUp(index) && !isDown(index),
    ],
  ];
  for (const [query, wanted] of queries)
    it(`are found by ${query || 'nothing'}`, async () => {
      expect(await completions(query)).to.deep.equal(some(wanted));
    });

  it('are found by the verdict of one judge, and paged with their total', async () => {
    const query = `verdict=passed&judge_id=${judges[1]?.['id']}`;
    expect(await completions(query)).to.deep.equal(some((index) => isEvaluated(1, index) && passes(1, index)));
    const all = some((index) => !isUp(index) && !isDown(index)).reverse();
    const page = await get('completions?feedback=none&limit=4&offset=3');
    expect([indexes(page), page['total']]).to.deep.equal([all.slice(3, 7), all.length]);
    expect(
      (await get(`completions?judge_id=${judges[1]?.['id']}&limit=1&offset=17`))['completions'][0].verdicts,
    ).to.have.length(1);
  });

  it('sum up by version to what the list counts', async () => {
    const statistics = await get('versions:stats');
    expect(statistics['looked_up']).to.deep.equal({ completions: COUNT, of: COUNT });
    expect(statistics['versions'].map(({ version }: Json) => version)).to.deep.equal([2, 1, null]);
    for (const figures of statistics['versions']) {
      const of = some((index) => versionOf(index) === figures.version);
      const count = async (query: string) =>
        (await completions(`version=${figures.version ?? 'none'}&${query}`)).length;
      const durations = of.filter((index) => index !== 3).map((index) => 10 * index);
      expect(figures).to.deep.include({
        calls: await count(''),
        errors: of.filter((index) => index % 7 === 0).length,
        input_tokens: of.reduce((sum, index) => sum + 1000 * index, 0),
        output_tokens: 10 * of.length,
      });
      expect(figures.cost).to.be.closeTo(
        of.reduce((sum, index) => sum + (spans[index]?.['cost'] as number), 0),
        1e-12,
      );
      expect(figures.duration_ms.p50).to.be.oneOf(durations);
      expect(figures.duration_ms.p95).to.equal(Math.max(...durations));
      const [up, down] = [await count('feedback=up'), await count('feedback=down')];
      expect(figures.thumbs).to.deep.equal({
        up,
        down,
        rate: up + down === 0 ? null : up / (up + down),
        rate_interval: wilson(up, up + down),
      });
      for (const [number, judge] of judges.entries()) {
        const mine = of.filter((index) => isEvaluated(number, index));
        const passed = await count(`verdict=passed&judge_id=${judge['id']}`);
        expect(figures.judges.find(({ judge_id }: Json) => judge_id === judge['id'])).to.deep.equal(
          mine.length === 0
            ? undefined
            : {
                judge_id: judge['id'],
                judge_name: judge['name'],
                evaluated: mine.length,
                passed,
                rate: passed / mine.length,
                rate_interval: wilson(passed, mine.length),
              },
        );
      }
    }
    const bounded = await get(`versions:stats?started_after=${at(22)}`);
    expect(bounded['versions'].map(({ calls }: Json) => calls)).to.deep.equal([1, 1]);
    expect(await get('versions:stats?started_after=1h')).to.deep.equal({
      versions: [],
      looked_up: { completions: 0, of: 0 },
    });
  });

  it('refuse what is not there, and show nothing to another project', async () => {
    const refused = await api.refused(
      'GET',
      `${path}/completions?version=0&feedback=left&verdict=yes&judge_id=x&limit=501&started_after=x`,
    );
    expect(refused).to.have.keys('?version', '?feedback', '?verdict', '?judge_id', '?limit', '?started_after');
    expect(
      await api.refused('GET', `${path}/completions?started_after=2026-01-02&started_before=2026-01-01T00:00:00Z`),
    ).to.have.keys('?started_before');
    for (const what of ['completions', 'versions:stats']) await api.expect(404, 'GET', `prompts/none/${what}`);
    await api.expect(404, 'GET', `${path}/completions?version=4`);
    const other = secondProject(server);
    const request = (method: string, url: string, body?: Json) =>
      server.request(method, url, { key: other.key, ...(body === undefined ? {} : { body }) });
    expect((await request('GET', `/projects/${server.projectId}/${path}/completions`)).status).to.equal(403);
    const mine = `/projects/${other.projectId}/${path}`;
    expect((await request('GET', `${mine}/versions:stats`)).status).to.equal(404);
    await request('POST', `/v1/tasks/${encodeURIComponent(SLUG)}/prompt/versions/ensure`, { content: 'one' });
    expect((await request('GET', `${mine}/completions`)).json).to.include({ total: 0 });
    expect((await request('GET', `${mine}/versions:stats`)).json.versions).to.deep.equal([]);
  });
});
