import { expect } from 'chai';
import { scoreText } from '../../src/console/model/format.js';
import { kindsOf, optionsOf, rulesOf, valueIn } from '../../src/console/model/score-draft.js';
import { givenBy, newestByName, opinionsOf, timeOf } from '../../src/console/model/scores.js';
import type { ScoreRead } from '../../src/features/scores/schema.js';
import type { UnifiedItemRead } from '../../src/features/feedback/unified-schema.js';

const definition = {
  name: 'quality',
  kind: 'numeric',
  ...{ min: null, max: null, categories: null, direction: null, description: null },
  ...{ created_at: '', updated_at: '' },
} as const;

describe('a score that is entered', () => {
  it('under a new name is what its value looks like, or what somebody means by it', () => {
    expect(kindsOf('0.5')).to.deep.equal(['numeric', 'categorical']);
    expect(kindsOf('1')).to.deep.equal(['numeric', 'boolean', 'categorical']);
    expect(kindsOf('Yes')).to.deep.equal(['boolean', 'categorical']);
    expect(kindsOf('calm')).to.deep.equal(['categorical']);
    expect(kindsOf('two\nlines')).to.deep.equal(['text']);
    expect(kindsOf('x'.repeat(201))).to.deep.equal(['text']);
    expect(kindsOf('  ')).to.deep.equal([]);
  });

  it('is sent as its kind, or as it is where it cannot be that, so that the server says why', () => {
    expect([valueIn(' 0.5 ', 'numeric'), valueIn('-1e3', 'numeric'), valueIn('high', 'numeric')]).to.deep.equal([
      0.5,
      -1000,
      'high',
    ]);
    expect([valueIn('yes', 'boolean'), valueIn('0', 'boolean'), valueIn('maybe', 'boolean')]).to.deep.equal([
      true,
      false,
      'maybe',
    ]);
    expect([valueIn('4', 'categorical'), valueIn('Infinity', 'numeric')]).to.deep.equal(['4', 'Infinity']);
  });

  it('is chosen where its definition has few values, and says what they are', () => {
    expect(optionsOf(definition)).to.equal(null);
    expect(optionsOf({ kind: 'boolean', categories: null })).to.deep.equal(['yes', 'no']);
    expect(optionsOf({ kind: 'categorical', categories: ['a', 'b'] })).to.deep.equal(['a', 'b']);
    expect(rulesOf(definition)).to.equal('number');
    expect(rulesOf({ ...definition, min: 0, max: 1, direction: 'higher' })).to.equal('0 to 1, higher is better');
    expect(rulesOf({ ...definition, min: 0 })).to.equal('at least 0');
  });
});

describe('what is said of a trace', () => {
  const score = (id: string, name: string, created_at: string, more: Partial<ScoreRead> = {}): ScoreRead => ({
    ...{ id, entity_type: 'trace', entity_id: 't', name, kind: 'numeric', value: 1, source: 'sdk', author: null },
    ...{ comment: null, metadata: {}, created_at, ...more },
  });

  it('stands in one order, whoever said it', () => {
    const said = { kind: 'human_feedback', id: 'f', updated_at: '2026-01-02T00:00:00.000000Z' } as UnifiedItemRead;
    const scores = [score('b', 'x', '2026-01-03T00:00:00.000000Z'), score('a', 'x', '2026-01-01T00:00:00.000000Z')];
    expect(opinionsOf(scores, [said]).map(timeOf)).to.deep.equal([
      '2026-01-03T00:00:00.000000Z',
      '2026-01-02T00:00:00.000000Z',
      '2026-01-01T00:00:00.000000Z',
    ]);
    const all = [score('b', 'x', '', { value: 2 }), score('a', 'x', ''), score('c', 'a', '', { value: 'calm' })];
    expect(newestByName(all)).to.deep.equal([
      ['a', 'calm'],
      ['x', 2],
    ]);
  });

  it('is written as people read it', () => {
    expect([scoreText(true), scoreText(false), scoreText(0.876543), scoreText('calm')]).to.deep.equal([
      'yes',
      'no',
      '0.8765',
      'calm',
    ]);
    expect(givenBy({ author: null, source: 'code' })).to.equal('code');
    expect(givenBy({ author: 'Ann', source: 'human' })).to.equal('Ann');
    expect(givenBy({ author: 'v3', source: 'judge' })).to.equal('v3 (judge)');
  });
});
