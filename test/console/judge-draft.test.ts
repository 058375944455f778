import { expect } from 'chai';
import type { JudgeRead } from '../../src/features/judges/schema.js';
import { bodyOf, draftOf, NEW_DRAFT, patchOf, previewOf, tagsOf } from '../../src/console/model/judge-draft.js';
import { wrongFields } from '../../src/console/model/wrong-fields.js';
import { feedbackOf, NO_OPINION, opinionsIn, said } from '../../src/console/model/review.js';
import { PLAIN_JUDGE } from '../judges/fixture.js';

describe('the form of a judge', () => {
  it('sends what was entered: numbers as numbers, and what is none as it is', () => {
    const scored = { ...NEW_DRAFT, evaluation_type: 'scored', score_max: 'ten', sample_rate: '12.5' } as const;
    expect(bodyOf(scored)).to.deep.include({ score_min: 0, score_max: 'ten', sample_rate: 0.125, temperature: null });
    expect(bodyOf(NEW_DRAFT)).not.to.have.any.keys('score_min', 'task_slug');
    expect(bodyOf({ ...NEW_DRAFT, instruction: 'prompt', task_slug: 'a' })).not.to.have.property('prompt');
    expect(tagsOf(['env=prod', 'a=b=c', '=none', 'none'])).to.deep.equal({ env: 'prod', a: 'b=c' });
  });

  it('changes the instruction only where its text was edited', () => {
    const filters = { ...PLAIN_JUDGE.filters, tags: { env: 'prod' } };
    const judge = {
      ...PLAIN_JUDGE,
      name: 'Polite',
      task_slug: 'polite',
      filters,
      sample_rate: 0.07,
    } as unknown as JudgeRead;
    const draft = draftOf(judge, 'Is it polite?');
    expect(draft).to.deep.include({ tags: ['env=prod'], sample_rate: '7' });
    expect(patchOf(draft, 'Is it polite?')).not.to.have.property('prompt');
    expect(patchOf({ ...draft, prompt: 'Is it?' }, 'Is it polite?')).to.include({ prompt: 'Is it?' });
    expect(previewOf(draft, judge, 'Is it polite?'))
      .to.include({ task_slug: 'polite' })
      .and.not.have.property('prompt');
    expect(previewOf({ ...NEW_DRAFT, name: ' ' }, null, '')).to.include({ name: 'Draft' });
  });

  it('says by field what is wrong', () => {
    const errors = [
      { pointer: '/name', detail: 'is required' },
      { pointer: '/criteria/0/key', detail: 'must be unique' },
      { pointer: '/criteria/1/key', detail: 'must be short' },
    ];
    expect(wrongFields(errors)).to.deep.equal({
      name: 'is required',
      criteria: '0, key: must be unique; 1, key: must be short',
    });
  });
});

describe('opinions of a review', () => {
  it('are to be sent again once they change', () => {
    const first = said({}, 'a', { good: true });
    const stored = said(first, 'a', { stored: true });
    expect(stored['a']).to.deep.equal({ ...NO_OPINION, good: true, stored: true });
    expect(said(stored, 'a', { reason: 'because' })['a']).to.include({ stored: false, reason: 'because' });
    const many = Array.from({ length: 600 }, (_, index) => `s${index}`).reduce(
      (all, id) => said(all, id, { good: true }),
      stored,
    );
    expect(Object.keys(many)).to.have.length(500).and.include('s599').and.not.include('a');
    expect(opinionsIn('null')).to.deep.equal({});
    expect(opinionsIn('{')).to.deep.equal({});
  });

  it('become what the API takes', () => {
    const opinion = { ...NO_OPINION, good: false, reason: ' ', expected: '7' };
    expect(feedbackOf(opinion, { judge: null })).to.deep.equal({ thumbs_up: false, expected_output: '7' });
    const judge = { id: 'j', evaluation_type: 'scored' } as const;
    expect(feedbackOf(opinion, { judge })).to.deep.equal({ judge_id: 'j', judge_was_right: false, expected_score: 7 });
    expect(feedbackOf({ ...opinion, expected: 'x' }, { judge })).to.include({ expected_score: 'x' });
    const criteria = {
      tone: { score: '2', reason: '' },
      facts: { score: '', reason: 'invented' },
      length: { score: ' ', reason: '' },
    };
    expect(feedbackOf({ ...opinion, criteria }, { judge })).to.deep.include({
      criteria_feedback: { tone: { expected_score: 2 }, facts: { reason: 'invented' } },
    });
    expect(feedbackOf({ ...opinion, criteria, good: true }, { judge })).not.to.have.property('criteria_feedback');
    const binary = { ...judge, evaluation_type: 'binary' } as const;
    expect(feedbackOf(opinion, { judge: binary })).not.to.have.property('expected_score');
  });
});
