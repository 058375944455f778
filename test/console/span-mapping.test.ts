import { expect } from 'chai';
import { mappingMistake, mappingOf, proposedMapping } from '../../src/console/model/span-mapping.js';

const columnsOf = (columns: readonly string[], roles: Readonly<Record<string, string>> = {}) =>
  mappingOf(proposedMapping({ roles, latest_version: columns.length === 0 ? null : { columns } }));

describe('columns of a dataset from spans', () => {
  it('are proposed by their roles, then by their names', () => {
    expect(columnsOf(['question', 'answer', 'id'])).to.deep.equal({
      question: 'input_data',
      answer: 'feedback.expected_output',
    });
    expect(columnsOf(['text', 'question', 'output'], { text: 'input', gold: 'expected' })).to.deep.equal({
      text: 'input_data',
      gold: 'feedback.expected_output',
      output: 'output_data',
    });
    const usual = { input: 'input_data', output: 'output_data', expected: 'feedback.expected_output' };
    expect(columnsOf([])).to.deep.equal(usual);
    expect(columnsOf(['difficulty'])).to.deep.equal(usual);
  });

  it('have names of their own', () => {
    const of = (...columns: readonly string[]) => columns.map((column) => ({ column, source: 'input_data' }));
    expect(mappingMistake(of('a', 'b', ''))).to.equal(null);
    expect(mappingMistake(of('a', ' a'))).to.include('name of its own');
    expect(mappingMistake(of('row_id'))).to.include('ID of its span');
    expect(mappingMistake([{ column: 'a', source: ' ' }])).to.equal('Enter a column and its source');
  });
});
