import { expect } from 'chai';
import { base64, png } from '../attachments/images.js';
import { feedbackApi } from '../feedback/feedback-api.js';
import { uuid } from '../harness/checked-api.js';
import type { TestServer } from '../harness/server.js';
import { LearningApi } from '../learning/learning-api.js';
import { LinkedPrompt, Visitor } from '../review/linked-prompt.js';

type Members = Readonly<Record<string, unknown>>;

/** A text of so many characters, each of them two of JavaScript's and four bytes. */
const wide = (length: number) => '😀'.repeat(length);
export const plain = (length: number) => 'x'.repeat(length);
/** Metadata that have so many characters as JSON. */
export const metadataOf = (length: number) => ({ a: plain(length - '{"a":""}'.length) });
/** So many objects, each in the one before, as JSON. */
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
export const named = <T>(count: number, name: (index: number) => string, value: T) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), value]));

/** Longest lengths and largest counts that calls take, as users know them. */
export const MOST = {
  content: 4 * 1024 * 1024,
  metadata: 262_144,
  promptTags: 1_000,
  model: 512,
  price: 256,
  rate: 1e9,
  row: 1024 * 1024,
  judgeName: 200,
  criteria: 50,
  label: 200,
  about: 4_000,
  key: 64,
  filtered: 200,
  filter: 1_000,
  filterTags: 50,
  tagKey: 1_024,
  tags: 1_000,
  verdict: 100_000,
  reason: 32_768,
  output: 1_048_576,
  reviewer: 100,
  depth: 200,
  images: 5,
} as const;

const keyOf = (index: number) => `${index}`.padEnd(MOST.key, 'k');

/** Fills a project with the longest and largest of everything that calls take. */
export async function fillToBounds(server: TestServer): Promise<void> {
  const api = new LearningApi(server);
  const slug = 's'.repeat(128);
  const ensure = (body: unknown) => api.expect(200, 'POST', `/v1/tasks/${slug}/prompt/versions/ensure`, body);
  const longest = {
    content: plain(MOST.content),
    model_id: wide(MOST.model),
    metadata: metadataOf(MOST.metadata),
    config: metadataOf(MOST.metadata),
  };
  await ensure(longest);
  const deepest = nested(MOST.depth - 1);
  await ensure(`{"content":"deep","metadata":${deepest},"config":${deepest}}`);
  for (let tag = 0; tag < MOST.promptTags; tag += 1)
    await api.expect(200, 'POST', `${api.project}/prompts/${slug}/tags/${`${tag}`.padEnd(64, 't')}:pin`, {
      version: 1,
    });
  const rate = { input_per_million: MOST.rate, output_per_million: MOST.rate, cache_read_per_million: MOST.rate };
  const name = encodeURIComponent(wide(MOST.price));
  await api.expect(201, 'PUT', `${api.project}/model-prices/${name}/${name}`, rate);
  await dashboards(api);
  await spans(api, slug);
  await judged(api, slug);
  const set = `${'d'.repeat(127)}s`;
  await api.expect(201, 'POST', '/v1/datasets', { name: set, description: wide(10_000), roles: { q: 'input' } });
  await api.expect(200, 'POST', `/v1/datasets/${set}/versions`, {
    rows: [
      { row_id: wide(100), [wide(100)]: plain(MOST.row - Buffer.byteLength(JSON.stringify({ [wide(100)]: '' }))) },
    ],
    message: wide(10_000),
  });
  await api.expect(
    200,
    'POST',
    `/v1/datasets/${set}/versions`,
    `{"rows":[{"id":"deep","q":${nested(MOST.depth - 3)}}]}`,
  );
  await api.expect(200, 'POST', `/v1/datasets/${set}/tags/${'t'.repeat(64)}:pin`, { version_number: 1 });
  await experiments(api, set);
  await compared(api, set);
  const score = { entity_type: 'span', entity_id: uuid(1), name: wide(64), author: wide(100), comment: wide(5_000) };
  await api.expect(200, 'POST', '/scores', { ...score, value: wide(5_000), metadata: metadataOf(MOST.metadata) });
  const prompt = await LinkedPrompt.make(feedbackApi(server));
  const [span] = await prompt.complete(1);
  const { url } = await prompt.link();
  // A letter that is three once it is composed.
  const review = { completion_id: span?.['id'], thumbs_up: true, reviewer_name: '\ufb2c'.repeat(MOST.reviewer) };
  const { status, text } = await new Visitor(url).postJson(review);
  expect(status, text).to.equal(200);
}

/** Views and dashboards with the longest names, queries and charts. */
async function dashboards(api: LearningApi): Promise<void> {
  const name = wide(200);
  const columns = Array.from({ length: 50 }, (_none, index) => `tags.${index}`.padEnd(79, 'c'));
  const query = `names=${plain(4_000 - 'names='.length)}`;
  await api.expect(201, 'POST', `${api.project}/saved-views`, { name, list: 'spans', query, columns });
  const chart = { title: name, list: 'spans', group_by: 'name', bucket: '3600s', kind: 'table' };
  const measures = [
    'count',
    'cost',
    ...Array.from({ length: 13 }, (_none, index) => `scores.${index}`.padEnd(60, 's')),
  ];
  const charts = Array.from({ length: 30 }, (_none, index) => ({ ...chart, measures, title: `${index}` }));
  const one = { ...chart, measures, query, group_by: `tags.${plain(1_095)}` };
  await api.expect(201, 'POST', `${api.project}/dashboards`, { name, window: '4w', charts: [one, ...charts.slice(1)] });
}

async function experiments(api: LearningApi, set: string): Promise<void> {
  const path = `${api.project}/experiments`;
  const { id, dataset } = await api.expect(201, 'POST', path, {
    ...{ name: wide(100), dataset: set, dataset_version: 1, description: wide(5_000), repetitions: 32 },
    ...{ subject: { note: plain(14_000), commit: wide(500) }, parameters: metadataOf(MOST.metadata) },
  });
  await api.expect(200, 'POST', `${path}/${id}/results`, {
    ...{
      row_id: wide(100),
      repetition: 32,
      output_data: wide(5_000),
      error: wide(5_000),
      scores: { [`${wide(63)}xx`]: 1 },
    },
  });
  await api.expect(200, 'POST', `${path}/${id}/tags/${'t'.repeat(64)}:pin`);
  const outputs = Array.from({ length: 64 }, (_none, index) => `${index}`.padEnd(200, 'x'));
  await api.expect(200, 'POST', `/v1/evals/${id}/scorers`, {
    ...{ name: wide(100), code: plain(262_144), description: wide(5_000), outputs },
    output_formats: Object.fromEntries(outputs.map((name) => [name, plain(64)])),
  });
  const metric = { metric_name: wide(100), results: { x: plain(65_000) } };
  await api.expect(200, 'POST', `/v1/evals/${id}/eval-metrics`, metric);
  await api.expect(200, 'POST', `/v1/evals/${id}/column-metrics`, { ...metric, run_number: 32 });
  await api.expect(200, 'GET', `/v1/evals?dataset_id=${dataset.id}`);
}

/** Two experiments with long names, compared by many metrics with long names. */
async function compared(api: LearningApi, set: string): Promise<void> {
  const names = Array.from({ length: 64 }, (_none, index) => `${index}`.padEnd(64, 'x'));
  const finished = async () => {
    const path = `${api.project}/experiments`;
    const { id } = await api.expect(201, 'POST', path, { name: wide(100), dataset: set, dataset_version: 1 });
    const scores = Object.fromEntries(names.map((name) => [name, 'c'.repeat(200)]));
    await api.expect(200, 'POST', `${path}/${id}/results`, { row_id: wide(100), output_data: '', scores });
    await api.expect(200, 'POST', `${path}/${id}:finish`);
    return id;
  };
  const experiments = { candidate: await finished(), baseline: await finished() };
  const metrics = names.map((name) => ({ name, rule: 'report' }));
  const slices = Array.from({ length: 5 }, (_none, index) => `${index}`.padEnd(200, 's'));
  await api.expect(201, 'POST', `${api.project}/comparisons`, { ...experiments, metrics, slices });
}

async function spans(api: LearningApi, slug: string): Promise<void> {
  const attachments = Array.from({ length: MOST.images }, () => ({ type: 'image', base64: base64(png(2)) }));
  const ofSession = (by: string) => named(MOST.tags, (index) => `${by} ${index}`, 'x');
  const session = { id: uuid(100), name: wide(4096), tags: ofSession('a') };
  await api.spans([
    {
      id: uuid(1),
      session,
      session_tags: ofSession('b'),
      tags: named(MOST.tags, (index) => `${index}`.padEnd(MOST.tagKey / 8, 'k'), 'x'),
      attributes: { task: slug, provider: wide(2_000), model: wide(2_000), attachments },
    },
  ]);
  const deep = `"name":"deep","started_at":"2026-01-31T10:00:00Z","more":${nested(MOST.depth - 2)}`;
  await api.expect(200, 'POST', '/spans', `[{"id":"${uuid(2)}","trace_id":"${uuid(2)}",${deep}}]`);
}

async function judged(api: LearningApi, slug: string): Promise<void> {
  const criterion = { label: wide(MOST.label), description: wide(MOST.about) };
  const judge = await api.judge({
    name: wide(MOST.judgeName),
    prompt: undefined,
    task_slug: slug,
    evaluation_type: 'scored',
    ...{ score_min: 0, score_max: 10, pass_threshold: 5, temperature: 2, enabled: false, model: wide(MOST.model) },
    criteria: Array.from({ length: MOST.criteria }, (_, index) => ({ ...criterion, key: keyOf(index) })),
    filters: {
      names: Array.from({ length: MOST.filtered }, (_, index) => `${index}`.padEnd(MOST.filter, 'n')),
      tags: named(MOST.filterTags, (index) => `${index}`.padEnd(MOST.tagKey, 't'), wide(MOST.filter)),
      prompt_slug: slug,
    },
  });
  const byCriterion = <T extends Members>(first: T, other: T) => ({
    ...named(MOST.criteria, keyOf, other),
    [keyOf(0)]: first,
  });
  await api.expect(201, 'POST', `${api.project}/judges/${judge.id}/evaluations`, {
    span_id: uuid(1),
    score: 3,
    evaluation_reason: wide(MOST.verdict),
    criteria_scores: byCriterion({ score: 1, reason: wide(MOST.verdict) }, { score: 1, reason: 'x' }),
    model_used: wide(MOST.model),
  });
  await api.review(judge, uuid(1), {
    thumbs_up: false,
    reason: wide(MOST.reason),
    expected_output: wide(MOST.output),
    criteria_feedback: byCriterion({ reason: wide(MOST.reason) }, { reason: 'x' }),
    metadata: metadataOf(MOST.metadata),
  });
}
