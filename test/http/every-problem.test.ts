import { expect } from 'chai';
import { uuid } from '../harness/checked-api.js';
import { JudgeApi, type Json } from '../judges/judge-api.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';

describe('every problem of a request is listed, those that no schema knows too', () => {
  let server: TestServer;
  let api: JudgeApi;
  let scored: Json;

  before(async () => {
    server = await sharedServer();
    api = new JudgeApi(server);
    await api.expect(200, 'POST', '/v1/tasks/p/prompt/versions/ensure', { content: 'Say hello.' });
    scored = await api.createScored({ criteria: [{ key: 'tone' }], enabled: false });
  });
  after(() => server.dispose());

  it('of a judge', async () => {
    const judge = {
      name: '',
      evaluation_type: 'scored',
      score_min: 2,
      score_max: 1,
      sample_rate: 7,
      criteria: [{ key: 'a' }, { key: 'a' }],
      task_slug: 'none',
      prompt: 'x',
    };
    expect(await api.refused('POST', 'judges', judge)).to.deep.equal({
      '/name': 'must have 1 to 200 characters without control characters',
      '/sample_rate': 'must be at most 1',
      '/task_slug': 'there is no prompt with this slug',
      '/score_max': 'must be greater than score_min',
      '/pass_threshold': 'is required for a scored judge',
      '/criteria/1/key': 'must be unique within the judge',
    });
    const bad = {
      name: 'x',
      evaluation_type: 'scored',
      score_min: 'low',
      criteria: [{ key: 'a' }, { key: 'a' }],
      prompt: 7,
    };
    expect(await api.refused('POST', 'judges', bad)).to.deep.equal({
      '/score_min': 'must be a number or null',
      '/prompt': 'must be a string or null',
      '/criteria/1/key': 'must be unique within the judge',
    });
  });

  it('of an evaluation', async () => {
    const evaluation = { span_id: 'x', score: 11, criteria_scores: { tone: { score: 12 }, none: { score: 1 } } };
    expect(await api.refused('POST', `judges/${scored['id']}/evaluations`, evaluation)).to.deep.equal({
      '/span_id': 'must be a UUID',
      '/score': 'must be from 0 to 10',
      '/criteria_scores/tone/score': 'must be from 0 to 10',
      '/criteria_scores/none': 'is not a criterion of this judge; it has tone',
    });
    expect(await api.refused('POST', `judges/${scored['id']}/evaluations`, { score: 'high' })).to.deep.equal({
      '/span_id': 'is required',
      '/score': 'must be a number or null',
    });
  });

  it('of a run', async () => {
    const run = { span_ids: ['x'], backfill: 0 };
    expect(await api.refused('POST', `judges/${scored['id']}:run`, run)).to.deep.equal({
      '/span_ids/0': 'must be a UUID',
      '/backfill': 'must be at least 1',
      '': 'must have one of span_ids, trace_ids, session_ids, backfill, experiment_id',
    });
  });

  it('of feedback', async () => {
    const feedback = {
      thumbs_up: 'yes',
      judge_id: scored['id'],
      expected_score: 11,
      metadata: { a: 'x'.repeat(300_000) },
    };
    const path = `/v1/prompts/p/completions/${uuid(1)}/feedback`;
    expect(await api.refused('POST', path, feedback)).to.deep.equal({
      '/thumbs_up': 'must be true or false or null',
      '{prompt_slug}': `must be the task_slug of the judge: ${scored['task_slug']}`,
      '/expected_score': 'must be between 0 and 10',
      '/metadata': 'must have at most 262144 characters as JSON',
    });
  });

  it('of a version of a prompt', async () => {
    const version = { content: 'x', content_hash: '0'.repeat(64), model_id: '', metadata: { a: 'x'.repeat(300_000) } };
    expect(await api.refused('POST', '/v1/tasks/q/prompt/versions/ensure', version)).to.deep.equal({
      '/model_id': 'must have 1 to 512 characters without control characters',
      '/content_hash': 'must be the SHA-256 of the content',
      '/metadata': 'must have at most 262144 characters as JSON',
    });
  });

  it('of a recalculation', async () => {
    const scope = { started_after: '2026-02-30', started_before: '2026-01-01', provider: '' };
    expect(await api.refused('POST', 'model-prices:reprice', scope)).to.have.all.keys('/started_after', '/provider');
  });

  it('of a path and its query', async () => {
    expect(await api.refused('GET', 'judges/x/evaluations?limit=0&zebra=1')).to.deep.equal({
      '{judge_id}': 'must be a UUID',
      '?zebra':
        'is unknown; supported: limit, offset, start_date, end_date, evaluation_result, feedback_state, agreement, judge_version, experiment_id, sort_by, sort_order',
      '?limit': 'must be at least 1',
    });
  });

  it('of a judge that has more than a hundred, of which the first are told', async () => {
    const names = Array.from({ length: 200 }, () => '');
    const { errors } = await api.expect(422, 'POST', 'judges', { filters: { names }, criteria: 5, prompt: 5 });
    expect(errors).to.have.length(100);
  });
});
