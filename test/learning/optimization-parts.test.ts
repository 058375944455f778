import { expect } from 'chai';
import { trainingExamplesOf, splitTrainingExamples } from '../../src/features/optimization/training-examples.js';
import { misfit, placeholdersOf, valuesIn } from '../../src/features/optimization/placeholders.js';
import { proposalsIn } from '../../src/features/optimization/proposal.js';
import { messagesWith, replayOf } from '../../src/features/optimization/replay.js';
import type { StoredFeedback } from '../../src/features/feedback/feedback.js';
import { isHeldOut } from '../../src/features/trials/held-out.js';

describe('placeholders of a prompt', () => {
  it('are found, each once, in their order', () => {
    expect(placeholdersOf('{{b}} {{ a.x }} {{b}} {{}} {c} {{1}}')).to.deep.equal(['b', 'a.x']);
  });

  it('give their values back from a filled text', () => {
    const filled = 'Help customers of Lampen & Co.\nQuestion: where is it? {{really}}';
    const values = valuesIn('Help customers of {{shop}}.\nQuestion: {{question}}', filled);
    expect([...(values ?? [])]).to.deep.equal([
      ['shop', 'Lampen & Co'],
      ['question', 'where is it? {{really}}'],
    ]);
    expect(valuesIn('Same {{a}} and {{a}}', 'Same x and y')).to.equal(null);
    expect(valuesIn('Same {{a}} and {{a}}', 'Same x and x')?.get('a')).to.equal('x');
    expect(valuesIn('{{a}}{{b}}', 'xy')).to.equal(null);
    expect(valuesIn('no placeholder', 'no placeholder')?.size).to.equal(0);
    expect(valuesIn('no placeholder', 'no placeholder, but more')).to.equal(null);
  });

  it('must be those of the current prompt', () => {
    expect(misfit('a {{x}} {{y}}', 'b {{y}}')).to.equal('it lacks {{x}}');
    expect(misfit('a', 'b {{y}}')).to.include('{{y}}');
    expect(misfit('a {{x}}', '{{ x }} b')).to.equal(null);
    expect(misfit('a', ' \n')).to.equal('it is empty');
  });
});

describe('a completion made again', () => {
  const span = (input: unknown, attributes: Record<string, unknown> = {}) => {
    const text = typeof input === 'string' ? input : JSON.stringify(input);
    return { input: { text, length: text.length }, attributes };
  };
  const current = 'You help customers of {{shop}}.';

  it('puts the new prompt where the old one was filled in, with the same values', () => {
    const replay = replayOf(
      span([
        { role: 'system', content: 'Safety first.' },
        { role: 'developer', content: 'You help customers of Lampen.' },
        { role: 'user', content: [{ type: 'text', text: 'Where is my lamp?' }] },
      ]),
      [current],
    )!;
    expect(messagesWith('Be kind to all of {{shop}}!', replay)).to.deep.equal([
      { role: 'system', content: 'Safety first.' },
      { role: 'system', content: 'Be kind to all of Lampen!' },
      { role: 'user', content: 'Where is my lamp?' },
    ]);
  });

  it('recognizes an older version, and takes values from the attributes first', () => {
    const replay = replayOf(span('Old text for Lampen', { zeroeval: { variables: { shop: 'Lampen & Co' } } }), [
      current,
      'Old text for {{shop}}',
    ])!;
    expect(messagesWith('New for {{shop}}', replay)).to.deep.equal([{ role: 'user', content: 'New for Lampen & Co' }]);
  });

  it('replaces the system message when nothing is recognized, and comes first when there is none', () => {
    const other = replayOf(
      span({ model: 'm', messages: [{ role: 'system', content: 'x' }, { role: 'user', content: 'q' }] }), // prettier-ignore
      [current],
    )!;
    expect(messagesWith('P {{shop}}', other)).to.deep.equal([
      { role: 'system', content: 'P {{shop}}' },
      { role: 'user', content: 'q' },
    ]);
    expect(messagesWith('P', replayOf(span('a question'), [current])!)).to.deep.equal([
      { role: 'system', content: 'P' },
      { role: 'user', content: 'a question' },
    ]);
    // JSON that is no conversation is a text like any other.
    expect(messagesWith('P', replayOf(span('[1, 2]'), ['{{all}}'])!)[1]).to.deep.equal({
      role: 'user',
      content: '[1, 2]',
    });
    expect(replayOf({ input: null, attributes: {} }, [current])).to.equal(null);
  });
});

describe('candidates in the answer of a model', () => {
  const answer = (contents: readonly unknown[]) =>
    JSON.stringify({ candidates: contents.map((content) => ({ content, rationale: 'r' })) });

  it('are taken when they fit, and the rest is named', () => {
    const { proposals, problem } = proposalsIn(answer(['new {{a}}', 'no placeholder', 'old {{a}}', 7]), 'old {{a}}', 4);
    expect(proposals).to.deep.equal([{ content: 'new {{a}}', rationale: 'r' }]);
    expect(problem)
      .to.include('candidate 2')
      .and.include('{{a}}')
      .and.include('candidate 3')
      .and.include('candidate 4');
    expect(proposalsIn('```json\n' + answer(['x']) + '\n```', 'old', 1).problem).to.equal(null);
    expect(proposalsIn(answer(['x', 'x', 'y']), 'old', 2).proposals).to.have.length(1);
    for (const broken of ['', 'null', '[]', '{"candidates": 3}', 'sure! here they are'])
      expect(proposalsIn(broken, 'old', 1).problem, broken).to.include('JSON');
    expect(proposalsIn(answer([]), 'old', 2).problem).to.equal('there are 0 candidates instead of 2');
  });
});

describe('examples from feedback', () => {
  const feedback = (completion_id: string, more: Partial<StoredFeedback>) =>
    ({ completion_id, thumbs_up: false, reason: null, expected_output: null, ...more }) as StoredFeedback;

  it('put together what was said of a completion, the newest first', () => {
    const examples = trainingExamplesOf([
      feedback('a', { reason: 'newest', thumbs_up: true }),
      feedback('b', { reason: '  ' }),
      feedback('a', { reason: 'older', expected_output: 'right' }),
    ]);
    expect(examples).to.deep.equal([
      { span_id: 'a', thumbs_up: true, expected_output: 'right', reasons: ['newest', 'older'] },
      { span_id: 'b', thumbs_up: false, expected_output: null, reasons: [] },
    ]);
  });

  it('are on one side for ever, about half on each; bare thumbs down teach nothing', () => {
    const ids = Array.from({ length: 2000 }, (_, index) => `${index}`);
    const { training, held_out } = splitTrainingExamples(
      trainingExamplesOf(ids.map((id) => feedback(id, { reason: 'why' }))),
      'judge',
    );
    expect(training.length + held_out.length).to.equal(2000);
    expect(held_out.length).to.be.within(900, 1100);
    expect(held_out.every(({ span_id }) => isHeldOut(span_id))).to.equal(true);
    expect(isHeldOut('AB')).to.equal(isHeldOut('ab'));
    const bare = splitTrainingExamples(trainingExamplesOf(ids.map((id) => feedback(id, {}))), 'judge');
    expect(bare).to.deep.equal({ training: [], held_out: [] });
  });

  it('are measured by without a judge only when they hold an expected output', () => {
    const ids = Array.from({ length: 300 }, (_, index) => `${index}`);
    const expects = (id: string) => Number(id) % 3 === 0;
    const given = ids.map((id) => feedback(id, expects(id) ? { expected_output: 'x' } : { reason: 'why' }));
    const [judged, compared] = (['judge', 'model'] as const).map((by) =>
      splitTrainingExamples(trainingExamplesOf(given), by),
    );
    expect(compared!.held_out).to.deep.equal(judged!.held_out.filter(({ span_id }) => expects(span_id)));
    expect(compared!.training).to.deep.equal(judged!.training);
    expect(compared!.held_out.length).to.be.greaterThan(0);
  });
});
