import { NONE_LEFT_OUT } from '../../src/features/comparisons/comparison.js';
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { hashOf } from '../../src/features/prompts/version-rules.js';
import type { MetadataPart } from '../../src/features/transfer/parts.js';
import { send, type TestResponse } from '../harness/server.js';

export type Members = Record<string, unknown>;

export interface Importing {
  readonly url: string;
  readonly projectId: string;
  readonly key: string;
}

const AT = '2026-01-31T09:00:00.000000Z';
const SAID = {
  thumbs_up: false,
  reason: 'so',
  expected_output: null,
  expected_score: null,
  score_direction: null,
  criteria_feedback: null,
};

/** Ids of what the records below belong to. */
export interface Named {
  readonly prompt: string;
  readonly judge: string;
  readonly dataset: string;
  readonly experiment: string;
  readonly link: string;
  readonly evaluation: string;
  readonly feedback: string;
  readonly span: string;
}

export function freshIds(uuid: () => string = randomUUID): Named {
  return {
    prompt: uuid(),
    judge: uuid(),
    dataset: uuid(),
    experiment: uuid(),
    link: uuid(),
    evaluation: uuid(),
    feedback: uuid(),
    span: uuid(),
  };
}

/** A correction of a span as a kept version of a judge shows it. */
function shownExample(span_id: string) {
  const scale = { score: null, score_min: null, score_max: null, pass_threshold: null };
  return {
    correction: {
      ...{ span_id, revision: 1, thumbs_up: true, expected_score: null, score_direction: null, reason: null },
      ...{ expected_output: null, criteria_feedback: null, given_at: 1 },
      evaluation: { ...scale, evaluation_result: true, judge_version: null, evaluation_reason: '' },
    },
    ...{ step: { input: 'q', output: 'a' }, line: '{}' },
  };
}

/** A record of each part beside spans, made by one person, that belongs to those before it. */
export function madeRecords(
  ids: Named,
  person: Members,
  uuid: () => string = randomUUID,
): Record<MetadataPart, Members> {
  const content = `Say ${ids.prompt}`;
  const example = uuid();
  return {
    prompts: { id: ids.prompt, slug: `task-${ids.prompt}`, last_version: 1, created_at: AT },
    prompt_versions: {
      ...{ id: uuid(), prompt_id: ids.prompt, version: 1, content, content_hash: hashOf(content) },
      ...{ model_id: null, metadata: {}, created_at: AT, created_by: person, updated_at: AT },
    },
    tag_moves: { prompt_id: ids.prompt, tag: 'production', version: 1, pinned_at: AT, pinned_by: person },
    prices: {
      ...{ provider: 'acme', model: ids.prompt, input_per_million: 1, output_per_million: 1 },
      ...{ cache_read_per_million: null, created_at: AT, updated_at: AT },
    },
    score_definitions: {
      ...{ name: ids.prompt, kind: 'categorical', min: null, max: null, categories: ['a', 'b'], direction: null },
      ...{ description: 'made', created_at: AT, updated_at: AT },
    },
    saved_views: {
      ...{
        id: uuid(),
        name: `view ${ids.prompt}`,
        list: 'spans',
        query: 'status=error&sort_by=cost',
        columns: ['name'],
      },
      ...{ created_at: AT, created_by: person, updated_at: AT },
    },
    dashboards: {
      ...{ id: uuid(), name: `board ${ids.prompt}`, window: '7d', version: 2 },
      charts: [
        {
          ...{ title: 'made', list: 'spans', query: 'span_kind=llm', measures: ['cost'], group_by: 'model' },
          ...{ bucket: '1d', kind: 'bars' },
        },
      ],
      ...{ created_at: AT, created_by: person, updated_at: AT },
    },
    datasets: {
      ...{ id: ids.dataset, name: `set ${ids.dataset.slice(24)}`, description: 'made', roles: { q: 'input' } },
      ...{ created_at: AT, created_by: person, updated_at: AT },
    },
    dataset_versions: {
      ...{ id: uuid(), dataset_id: ids.dataset, number: 1, message: 'made', columns: ['q'], row_count: 1 },
      ...{ added: 1, changed: 0, removed: 0, created_at: AT, created_by: person },
    },
    dataset_rows: {
      ...{ dataset_id: ids.dataset, row_id: 'row', position: 1, from_version: 1, to_version: null },
      ...{ content: { q: 'What?' }, trace_id: null, span_id: null },
    },
    dataset_tag_moves: { dataset_id: ids.dataset, tag: 'ci', number: 1, moved_at: AT, moved_by: person },
    experiments: {
      ...{ id: ids.experiment, name: 'made', description: 'made', dataset_id: ids.dataset, dataset_name: 'made' },
      ...{ dataset_version: 1, row_count: 1, repetitions: 1, status: 'finished', phase: null, active_at: AT },
      ...{ subject: { commit: 'abc' }, parameters: {}, created_at: AT, created_by: person, finished_at: AT },
    },
    experiment_scorers: {
      ...{ id: uuid(), experiment_id: ids.experiment, name: 'made', mode: 'row', code: '', description: '' },
      ...{ outputs: ['made'], output_formats: { made: 'number' }, created_at: AT },
    },
    experiment_metrics: {
      ...{ experiment_id: ids.experiment, scope: 'run', name: 'made', repetition: 0, results: { made: 1 } },
      ...{ output_formats: {}, created_at: AT },
    },
    experiment_tag_moves: {
      ...{ dataset_id: ids.dataset, tag: 'ci', experiment_id: ids.experiment, moved_at: AT, moved_by: person },
    },
    comparisons: {
      ...{ id: uuid(), dataset_id: ids.dataset, dataset_name: 'made', verdict: 'incomparable' },
      ...{ candidate_id: ids.experiment, candidate_name: 'made', candidate_version: 1 },
      ...{ baseline_id: ids.experiment, baseline_name: 'made', baseline_version: 1 },
      request: { metrics: [{ name: 'made', rule: 'report' }], confidence: 0.95, slices: [], errors: 'leave_out' },
      found: { because: ['made'], rows: 0, left_out: NONE_LEFT_OUT, metrics: [] },
      ...{ created_at: AT, created_by: person },
    },
    feedback_links: {
      ...{ id: ids.link, prompt_id: ids.prompt, link_type: 'prompt_completion', created_at: AT, created_by: person },
      span_ids: null,
      ...{ expires_at: AT, revoked_at: null },
    },
    judges: {
      ...{
        id: ids.judge,
        name: 'judge',
        task_slug: 'judge',
        evaluation_type: 'binary',
        score_min: null,
        score_max: null,
      },
      ...{ pass_threshold: null, criteria: [], model: null, temperature: null, sample_rate: 1, enabled: false },
      ...{ filters: { kinds: ['llm'], names: [], tags: {}, prompt_slug: null }, created_at: AT, created_by: person },
      ...{ updated_at: AT, deleted_at: null, corrections_revision: 0, corrections_last_removal: 0 },
    },
    pinned_examples: { ...{ id: example, judge_id: ids.judge, span_id: ids.span }, example: shownExample(ids.span) },
    pinned_versions: {
      ...{ judge_id: ids.judge, judge_version: 'made', prompt_version_id: ids.prompt, revision: 1 },
      ...{ created_at: AT, lost_at: null, examples: [example] },
    },
    experiment_judges: {
      ...{ experiment_id: ids.experiment, judge_id: ids.judge, judge_version: 'made', asked_at: AT },
    },
    evaluations: {
      ...{ id: ids.evaluation, judge_id: ids.judge, span_id: ids.span, trace_id: null, evaluation_result: true },
      ...{ evaluation_reason: 'fine', confidence_score: null, score: null, score_min: null, score_max: null },
      ...{
        pass_threshold: null,
        criteria_scores: null,
        evaluation_type: 'binary',
        model_used: null,
        origin: 'external',
      },
      ...{ evaluation_duration_ms: null, judge_version: 'v1', prompt_version_id: null, created_at: AT },
    },
    feedback: {
      ...{ id: ids.feedback, prompt_id: ids.prompt, completion_id: ids.span, judge_id: ids.judge, ...SAID },
      ...{ metadata: {}, created_at: AT, updated_at: AT, created_by: person, feedback_link_id: ids.link },
    },
    span_feedback: {
      ...{ id: uuid(), completion_id: uuid(), ...SAID, metadata: {}, created_at: AT, updated_at: AT },
      ...{ created_by: person, feedback_link_id: ids.link },
    },
    comments: {
      ...{ id: uuid(), trace_id: uuid(), span_id: null, text: 'made', created_at: AT, edited_at: null },
      created_by: person,
    },
    corrections: {
      ...{ feedback_id: ids.feedback, evaluation_id: ids.evaluation, revision: 1, ...SAID, given_at: AT },
    },
  };
}

export function importInto({ url, projectId, key }: Importing, part: string, records: unknown): Promise<TestResponse> {
  return send(`${url}/projects/${projectId}/import/${part}`, 'POST', { body: records, key });
}

/** Imports records, which are all to be new. */
export async function importNew(target: Importing, part: string, records: readonly Members[]): Promise<void> {
  const { status, json, text } = await importInto(target, part, records);
  expect(status, `${part}: ${text}`).to.equal(200);
  expect(json, part).to.deep.equal({ stored: records.length, unchanged: 0 });
}
