import { expect } from 'chai';
import { parseListQuery } from '../../src/http/list-query.js';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';
import { answerJson } from '../../src/features/judges/answer-json.js';
import { InvalidAnswer } from '../../src/features/judges/answer-form.js';
import { readVerdict, type AnswerShape } from '../../src/features/judges/verdict.js';
import { proposalsIn } from '../../src/features/optimization/proposal.js';
import { unhurried } from '../harness/program.js';

const MEGABYTE = 1024 * 1024;
/** Looking at each character once takes some milliseconds; twice as long a text made it eight times as long before. */
const BOUND_MS = 1_000;

const binary: AnswerShape = {
  evaluation_type: 'binary',
  score_min: null,
  score_max: null,
  pass_threshold: null,
  criteria: [],
};

const hostile: [what: string, answer: string][] = [
  ['blanks after a fence', '```' + ' '.repeat(MEGABYTE)],
  ['blanks after a fence that is named', '```json' + '\n'.repeat(MEGABYTE) + 'x'],
  ['blanks, then a fence, then blanks', ' '.repeat(MEGABYTE / 2) + '```' + ' '.repeat(MEGABYTE / 2)],
  ['nothing but fences', '```'.repeat(MEGABYTE / 3)],
  ['fences with blanks between', '``` \n'.repeat(MEGABYTE / 5) + '.'],
  ['lists in lists', '['.repeat(MEGABYTE)],
  ['placeholders', JSON.stringify({ candidates: [{ content: '{{a'.repeat(MEGABYTE / 3), rationale: '' }] })],
  [
    'placeholders that are wide',
    JSON.stringify({ candidates: [{ content: '{{a' + ' '.repeat(MEGABYTE), rationale: '' }] }),
  ],
  [
    'placeholders nobody knows',
    JSON.stringify({
      candidates: [{ content: Array.from({ length: 80_000 }, (_, index) => `{{v${index}}}`).join(' '), rationale: '' }],
    }),
  ],
];

describe('answers of a model of a megabyte', () => {
  for (const [what, answer] of hostile)
    it(`are read at once: ${what}`, () => {
      const started = performance.now();
      expect(() => readVerdict(binary, answer)).to.throw(InvalidAnswer);
      const { proposals, problem } = proposalsIn(answer, 'Be kind to {{name}}.', 3);
      expect(performance.now() - started).to.be.lessThan(unhurried(BOUND_MS));
      expect(proposals).to.deep.equal([]);
      expect(problem?.length, 'what is said of it').to.be.within(1, 5_000);
    });

  it('are complained of in few words', () => {
    const answer = JSON.stringify({ ['x'.repeat(MEGABYTE)]: 1, reason: 'r', passed: true, confidence: 1 });
    expect(() => readVerdict(binary, answer))
      .to.throw(InvalidAnswer)
      .with.property('message')
      .with.length.below(2_000);
  });

  it('are unwrapped wherever a fence stands', () => {
    for (const wrapped of ['{"a":1}', ' {"a":1}\n', '```json\n{"a":1}\n```', '\n```\n{"a":1}```\n\n'])
      expect(answerJson(wrapped)).to.deep.equal({ a: 1 });
    for (const broken of ['```json', '``````', '```', '```yaml\na: 1\n```', ''])
      expect(() => answerJson(broken), broken).to.throw(SyntaxError);
  });
});

describe('numbers in a query', () => {
  it('are read at once, however many digits there are', () => {
    const digits = `${'1'.repeat(200_000)}x`;
    const started = performance.now();
    expect(() => parseListQuery(spanList, new URLSearchParams({ cost_min: digits }))).to.throw();
    expect(performance.now() - started).to.be.lessThan(unhurried(BOUND_MS));
  });
});
