import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { startProgress } from '../../scripts/progress.js';
import { exportProject } from '../../scripts/transfer/export.js';
import { importProject } from '../../scripts/transfer/import.js';
import { Remote } from '../../scripts/transfer/remote.js';
import { base64, images } from '../attachments/images.js';
import { keptExample } from '../../src/features/calibration/kept-example.js';
import { SqliteCorrectionStore } from '../../src/features/calibration/store/correction-store.js';
import { SqlitePinStore } from '../../src/features/judges/store/pin-store.js';
import { evaluationTraces } from '../../src/features/judges/store/judged-traces.js';
import { feedbackApi, withDatabase } from '../feedback/feedback-api.js';
import { uuid } from '../harness/checked-api.js';
import { bootServer, type BootOptions, type TestServer } from '../harness/server.js';
import { LearningApi } from '../learning/learning-api.js';
import { LinkedPrompt, Visitor } from '../review/linked-prompt.js';

const TARGET = {
  SPANHOUSE_INIT_PROJECT_ID: '0197f3a0-0000-7000-8000-00000000000b',
  SPANHOUSE_INIT_API_KEY: 'sk_sh_key_of_where_it_goes',
};

export const bootTarget = (options: BootOptions = {}) => bootServer({ ...options, env: { ...TARGET, ...options.env } });
export const remoteOf = ({ url, key }: Pick<TestServer, 'url' | 'key'>) => new Remote(url, key);

/** A folder for files that come and go. */
export async function inFolder(work: (file: (name: string) => string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'spanhouse-transfer-'));
  try {
    await work((name) => join(folder, name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Progress that nobody looks at. */
export const quiet: typeof startProgress = () => ({ update: () => undefined, stop: () => undefined });

export const exported = (server: TestServer, file: string) =>
  exportProject(remoteOf(server), server.projectId, file, quiet);
export const imported = (server: TestServer, file: string) => importProject(remoteOf(server), undefined, file, quiet);

/** The lines of a file but for the first and the last one, sorted. */
export async function recordsOf(file: string): Promise<string[]> {
  const bytes = await readFile(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  return text.trimEnd().split('\n').slice(1, -1).sort();
}

/** Fills a project with something of every kind. @returns the ids of a judge and of spans that show an image */
export async function fill(server: TestServer) {
  const api = new LearningApi(server);
  const slug = '/v1/tasks/answer/prompt/versions/ensure';
  for (const content of ['one', 'two', 'three', 'four'])
    await api.expect(200, 'POST', slug, {
      content: `Say ${content}: {{what}}`,
      metadata: { content, deep: { a: [1] } },
    });
  await api.expect(200, 'POST', '/v1/tasks/chat/prompt/versions/ensure', {
    messages: [
      { role: 'system', content: 'Say {{what}}' },
      { type: 'placeholder', name: 'history' },
    ],
    config: { temperature: 0 },
  });
  const prompt = `${api.project}/prompts/answer`;
  await api.expect(200, 'POST', `${prompt}/tags/production:pin`, { version: 1 });
  await api.expect(200, 'POST', `${prompt}/tags/production:pin`, { version: 3 });
  await api.expect(200, 'POST', `${prompt}/tags/old:pin`, { version: 1 });
  await api.expect(204, 'DELETE', `${prompt}/tags/old`);
  await api.expect(204, 'DELETE', `${prompt}/versions/4`);
  await api.expect(200, 'PATCH', `${prompt}/versions/2`, { model_id: 'openai/gpt-4o' });
  await api.expect(201, 'PUT', `${api.project}/model-prices/acme/tiny`, {
    input_per_million: 2,
    output_per_million: 4,
  });
  await shown(api);
  await spans(api);
  await commented(api);
  await scored(api);
  await collected(api);
  await tried(api);
  const judge = await judged(api);
  await reviewed(server);
  return { judge: judge.id as string, shown: [uuid(8), uuid(9), uuid(10)] };
}

async function commented(api: LearningApi): Promise<void> {
  const comments = `${api.project}/traces/${uuid(50)}/comments`;
  const { id } = await api.expect(201, 'POST', comments, { text: 'so' });
  await api.expect(200, 'PATCH', `${api.project}/comments/${id}`, { text: 'not so' });
  await api.expect(201, 'POST', comments, { text: 'this one', span_id: uuid(1) });
}

/** What people want to see again. */
async function shown(api: LearningApi): Promise<void> {
  const view = { name: 'ä "', list: 'spans', query: 'models=tiny&started_after=7d', columns: ['name', 'tags.a,b'] };
  await api.expect(201, 'POST', `${api.project}/saved-views`, view);
  await api.expect(201, 'POST', `${api.project}/saved-views`, { name: 'all', list: 'traces' });
  const chart = { title: 'Cost', list: 'traces', measures: ['cost'], group_by: 'tags.a', kind: 'lines' };
  const { id } = await api.expect(201, 'POST', `${api.project}/dashboards`, { name: 'Costs', charts: [chart] });
  await api.expect(200, 'PATCH', `${api.project}/dashboards/${id}`, { window: '30d' });
}

async function spans(api: LearningApi): Promise<void> {
  const call = { provider: 'acme', model: 'tiny', inputTokens: 1000, outputTokens: 10, task: 'answer' };
  const attachments = [{ type: 'image', label: 'shot', base64: base64(images.png) }];
  const tags = { trace_tags: { step: 'first' }, session_tags: { plan: 'free' } };
  const session = { session_id: uuid(100), session_name: 'Talk' };
  await api.spans([
    {
      id: uuid(1),
      trace_id: uuid(50),
      ...session,
      ...tags,
      attributes: call,
      input_data: 'q "\u2028\n',
      output_data: 'ä',
    },
    { id: uuid(2), trace_id: uuid(50), parent_span_id: uuid(1), kind: 'tool', error_message: 'no', duration_ms: 1.5 },
    { id: uuid(3), trace_id: uuid(51), ...session, cost: 0.000000000001, status: 'ok', code_lineno: 7 },
    { id: uuid(4), trace_id: uuid(52), name: 'goes' },
  ]);
  // Written later: what traces and sessions are called by is a matter of order.
  await api.spans([
    { id: uuid(3), trace_id: uuid(51), session_id: uuid(101), cost: 0.5, trace_tags: { step: 'again' } },
  ]);
  await api.spans([
    { id: uuid(5), trace_id: uuid(50), trace_tags: { step: 'second' }, session_tags: { plan: 'paid' } },
  ]);
  await api.spans([{ id: uuid(8), attributes: { attachments } }]);
  await api.spans([
    { id: uuid(9), attributes: { attachments }, output_data: JSON.stringify([{ base64: base64(images.gif) }]) },
  ]);
  // The first one that showed an image shows it no more.
  await api.spans([{ id: uuid(7), attributes: { attachments: [{ type: 'image', base64: base64(images.webp) }] } }]);
  await api.spans([{ id: uuid(10), attributes: { attachments: [{ type: 'image', base64: base64(images.webp) }] } }]);
  await api.spans([{ id: uuid(7) }]);
  await api.expect(204, 'DELETE', `/spans/${uuid(4)}`);
  const started_at = '2026-01-31T09:00:00Z';
  const traces = [{ id: uuid(60), session_id: uuid(102), name: 'stated', started_at, cost: 3, tags: { a: 'b' } }];
  await api.expect(200, 'POST', '/traces', traces);
  await api.expect(200, 'POST', '/traces', [{ ...traces[0], id: uuid(51), name: 'renamed' }]);
  const sessions = [{ id: uuid(103), project_id: api.server.projectId, name: 'Posted', attributes: { x: 1 } }];
  await api.expect(200, 'POST', '/sessions', sessions);
}

async function scored(api: LearningApi): Promise<void> {
  const of = (entity_type: string, id: number, name: string, value: unknown) => ({
    ...{ entity_type, entity_id: uuid(id), name, value },
  });
  await api.expect(200, 'POST', '/scores', [
    { ...of('span', 1, 'level', 0.1), comment: 'ä "\u2028', metadata: { a: [1] }, author: 'grader', source: 'code' },
    { ...of('trace', 50, 'good', true), source: 'human' },
    of('session', 100, 'mood', 'calm'),
    of('span', 3, 'note', 'two\nlines'),
    of('span', 5, 'level', 7),
  ]);
  await api.expect(200, 'PUT', `${api.project}/score-definitions/mood`, {
    ...{ kind: 'categorical', categories: ['calm', 'cross'], description: 'How it went.' },
  });
  const [{ id }] = await api.expect(200, 'GET', `/scores?entity_id=${uuid(5)}`);
  await api.expect(204, 'DELETE', `/scores/${id}`);
}

async function collected(api: LearningApi): Promise<void> {
  await api.expect(201, 'POST', '/v1/datasets', { name: 'folder/set', description: 'moves', roles: { q: 'input' } });
  const path = '/v1/datasets/folder/set';
  await api.expect(200, 'POST', `${path}/versions`, {
    rows: [
      { id: 'a', q: 'ä "\u2028' },
      { id: 'b', q: { deep: [1] } },
    ],
  });
  await api.expect(200, 'POST', `${path}/rows:from_spans`, { span_ids: [uuid(1)], mapping: { q: 'input_data' } });
  await api.expect(200, 'POST', `${path}/versions`, {
    mode: 'merge',
    rows: [{ id: 'b', q: 'edited' }],
    remove: ['a'],
    message: 'second',
  });
  await api.expect(200, 'POST', `${path}/tags/ci:pin`, { version_number: 2 });
  await api.expect(200, 'POST', `${path}/tags/old:pin`, { version_number: 1 });
  await api.expect(204, 'DELETE', `${path}/tags/old`);
  await api.expect(201, 'POST', '/v1/datasets', { name: 'empty' });
}

async function tried(api: LearningApi): Promise<void> {
  const path = `${api.project}/experiments`;
  const create = (body: object) => api.expect(201, 'POST', path, { dataset: 'folder/set', ...body });
  const before = await create({ name: 'before' });
  await api.expect(200, 'POST', `${path}/${before.id}/results`, {
    row_id: 'b',
    output_data: 'x',
    scores: { level: 0.25 },
  });
  await api.expect(200, 'POST', `${path}/${before.id}:finish`);
  const one = await create({ name: 'one', subject: { commit: 'abc', branch: 'main' }, repetitions: 2 });
  const two = await create({ name: 'two', dataset_version: 1, parameters: { t: 0 } });
  await api.expect(200, 'POST', `${path}/${one.id}/results`, [
    { row_id: 'b', output_data: { a: 1 }, scores: { level: 0.5 } },
    { row_id: 'b', repetition: 2, error: 'No' },
  ]);
  await api.expect(200, 'POST', `${path}/${two.id}/results`, { row_id: 'a', output_data: 'x', trace_id: uuid(1) });
  for (const { id } of [one, two]) await api.expect(200, 'POST', `${path}/${id}/tags/baseline:pin`);
  await api.expect(200, 'POST', `${path}/${one.id}:finish`);
  await api.expect(200, 'POST', `/v1/evals/${one.id}/scorers`, { name: 'scorer', outputs: ['level'] });
  await api.expect(200, 'POST', `/v1/evals/${one.id}/eval-metrics`, { metric_name: 'm', results: { m: 1 } });
  const metrics = [{ name: 'level', rule: 'report' }];
  const compared = { candidate: one.id, baseline: before.id, metrics, slices: ['data.q'] };
  await api.expect(201, 'POST', `${api.project}/comparisons`, compared);
}

async function judged(api: LearningApi) {
  const scale = {
    evaluation_type: 'scored',
    score_min: 0,
    score_max: 10,
    pass_threshold: 5,
    criteria: [{ key: 'tone' }],
  };
  const judge = await api.judge({ ...scale, enabled: false, filters: { kinds: ['llm'], tags: { a: 'b' } } });
  const path = `${api.project}/judges/${judge.id}`;
  for (const [span, score] of [
    [uuid(1), 3],
    [uuid(3), 8],
    [uuid(1), 4],
  ] as const)
    await api.expect(201, 'POST', `${path}/evaluations`, {
      span_id: span,
      score,
      evaluation_reason: 'so',
      criteria_scores: { tone: { score, reason: 'tone' } },
    });
  const criteria_feedback = { tone: { expected_score: 9 } };
  await api.review(judge, uuid(1), {
    thumbs_up: false,
    expected_score: 9,
    score_direction: 'too_low',
    criteria_feedback,
  });
  await api.review(judge, uuid(3), { thumbs_up: true });
  await pinned(api, judge);
  await judgedWhole(api);
  const gone = await api.judge({ name: 'gone' });
  await api.expect(204, 'DELETE', `${api.project}/judges/${gone.id}`);
  return judge;
}

/** Versions of a judge that show a correction, kept for results of an experiment. */
async function pinned(api: LearningApi, { id: judge_id }: { id: string }): Promise<void> {
  const { experiments } = await api.expect(200, 'GET', `${api.project}/experiments?name=one`);
  withDatabase(api.server, (database) => {
    const pins = new SqlitePinStore(database);
    const [correction] = new SqliteCorrectionStore(database).examples(judge_id, 0, 1);
    if (correction === undefined) throw new Error('The judge has no correction');
    const entry = { correction, input: 'q', output: 'a', truth: { passed: true, score: null } };
    for (const prompt_version_id of [uuid(300), uuid(301)]) {
      const version = { prompt_version_id, judge_version: `${prompt_version_id}/examples-1`, revision: 1 };
      const of = { judge_id, project_id: api.server.projectId, created_at: Date.now() * 1000 };
      const pin = pins.keep({ ...version, ...of, corrections: [keptExample(entry)] });
      pins.ask(experiments[0].id, pin?.seq ?? 0, of.created_at);
    }
  });
}

/** A judge of traces, and what it said of one. */
async function judgedWhole(api: LearningApi): Promise<void> {
  const quiet = { quiet_seconds: 60, context_tokens: 500, context_kinds: ['tool'] };
  const judge = await api.judge({ name: 'whole', subject: 'trace', enabled: false, ...quiet });
  await api.expect(201, 'POST', `${api.project}/judges/${judge.id}/evaluations`, {
    span_id: uuid(3),
    evaluation_result: true,
  });
  withDatabase(api.server, (database) => {
    const ids = { subject: uuid(3), other: uuid(4) };
    database
      .prepare('UPDATE evaluations SET subject_id = @subject, subject_upto = created_at WHERE judge_id = @id')
      .run({
        ...ids,
        id: judge.id,
      });
    const { id } = database.prepare('SELECT id FROM evaluations WHERE judge_id = ?').get(judge.id) as { id: string };
    evaluationTraces(database)({ projectId: api.server.projectId, runId: id, traceIds: Object.values(ids) });
  });
}

/** Feedback by the key, and by somebody without one. */
async function reviewed(server: TestServer): Promise<void> {
  const api = feedbackApi(server);
  await api.give('answer', uuid(1), { thumbs_up: false, expected_output: 'better', metadata: { from: 'here' } });
  const span_id = uuid(2);
  const path = `/projects/${server.projectId}/spans/${span_id}/feedback`;
  expect((await api.request('POST', path, { body: { thumbs_up: true, reason: 'no prompt' } })).json.prompt_id).to.equal(
    null,
  );
  const ofSpans = (await api.link({ span_ids: [span_id, uuid(1)] })).json;
  await new Visitor(ofSpans.url).postJson({ completion_id: span_id, thumbs_up: false, reviewer_name: 'Ben' });
  const prompt = await LinkedPrompt.make(api);
  const [span] = await prompt.complete(1);
  const { url } = await prompt.link();
  const review = { completion_id: span?.['id'], thumbs_up: true, reason: 'fine', reviewer_name: 'Ann' };
  expect((await new Visitor(url).postJson(review)).status).to.equal(200);
}
