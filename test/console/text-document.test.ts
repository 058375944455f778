import { expect } from 'chai';
import { FOLDED_FROM, TextDocument } from '../../src/console/model/text-document.js';

const said = (document: TextDocument) =>
  document
    .conversation(['input', 'output'])
    .map(({ role, parts }) => [role, ...parts.map(({ text, result }) => [text.head, result?.head ?? null])]);

describe('a document of texts', () => {
  it('joins calls with their results, also across input and output, as libraries name them', () => {
    const openAi = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'c9', content: 'of no call' },
    ];
    expect(said(new TextDocument({ input: JSON.stringify(openAi), output: 'It is sunny.' }))).to.deep.equal([
      ['user', ['Weather?', null]],
      ['assistant', ['{}', 'sunny']],
      ['tool', ['of no call', null]],
      ['', ['It is sunny.', null]],
    ]);
    const anthropic = [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm' },
          { type: 'tool_use', id: 't', name: 'look', input: 1 },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'rain' }] },
    ];
    const messages = new TextDocument({ input: JSON.stringify(anthropic) }).conversation(['input']);
    expect(messages).to.have.length(1);
    expect(messages[0]?.parts.map(({ purpose, label, result }) => [purpose, label, result?.head])).to.deep.equal([
      ['reasoning', null, undefined],
      ['call', 'calls look', 'rain'],
    ]);
    const responses = [
      { type: 'function_call', call_id: 'f', name: 'look', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'f', output: 'snow' },
    ];
    expect(said(new TextDocument({ input: JSON.stringify(responses) }))).to.deep.equal([
      ['assistant', ['{\n  "a": 1\n}', 'snow']],
    ]);
  });

  it('hands out the beginning of long texts, and the rest when asked', () => {
    const long = 'x'.repeat(FOLDED_FROM) + 'the end';
    const document = new TextDocument({ input: JSON.stringify([{ role: 'user', content: long }]), output: long });
    const [input, output] = document.conversation(['input', 'output']).map(({ parts }) => parts[0]?.text);
    for (const text of [input, output]) {
      expect(text).to.include({ length: long.length });
      expect(text?.head.length).to.be.below(FOLDED_FROM);
      expect(document.slice(text?.name ?? '', FOLDED_FROM, long.length)).to.equal('the end');
    }
  });

  it('shows JSON that is no conversation as data, not as prose', () => {
    const document = new TextDocument({
      input: '{"city":"Paris"}',
      output: JSON.stringify('{"a":[1]}'),
      text: 'prose',
    });
    const parts = document.conversation(['input', 'output', 'text']).map(({ parts: [part] }) => part);
    expect(parts.map((part) => [part?.kind, part?.label, part?.text.head])).to.deep.equal([
      ['data', 'JSON', '{\n  "city": "Paris"\n}'],
      ['data', 'JSON', '{\n  "a": [\n    1\n  ]\n}'],
      ['text', null, 'prose'],
    ]);
    expect(document.jsonRows('output', 0, 9).rows.map(({ key }) => key)).to.deep.equal([null, 'a', '0']);
    expect(document.json('text')).to.equal(false);
  });

  it('reads an answer of the API, and the JSON in its texts', () => {
    const answer = JSON.stringify([{ input_data: '{"a":[1,2]}', output_data: 'no JSON', attributes: { b: 'c' } }]);
    const document = TextDocument.ofAnswer(new TextEncoder().encode(answer).buffer);
    expect(document.json('output_data')).to.equal(false);
    expect(document.json('nothing')).to.equal(false);
    const keys = (name: string) => document.jsonRows(name, 0, 99).rows.map(({ key }) => key);
    expect(keys('input_data')).to.deep.equal([null, 'a', '0', '1']);
    expect(keys('attributes')).to.deep.equal([null, 'b']);
    document.toggle('input_data', 1);
    expect(document.jsonRows('input_data', 0, 1)).to.have.property('count', 2);
    expect(document.jsonValue('input_data', 1)).to.have.property('path', '.a');
    expect(document.text('raw')?.head).to.equal(answer);
    expect(document.json('deep')).to.equal(false);
    expect(new TextDocument({ deep: '['.repeat(100_000) }).json('deep')).to.equal(false);
  });
});
