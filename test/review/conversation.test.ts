import { expect } from 'chai';
import { readConversation } from '../../src/features/review/conversation.js';

describe('a conversation as a person reads it', () => {
  it('is indented while it is short, and never many times as large as what was sent', () => {
    expect(readConversation('{"a":[1]}')).to.deep.equal({ kind: 'data', text: '{\n  "a": [\n    1\n  ]\n}' });
    const hostile = `${'['.repeat(39)}${'1,'.repeat(2_000_000)}1${']'.repeat(39)}`;
    const shown = readConversation(hostile);
    expect(shown.kind === 'text' && shown.text.length).to.equal(hostile.length);
  });

  it('tells a text to read from JSON, also from JSON that is written into a JSON string', () => {
    expect(readConversation('plain {"a":1}')).to.deep.equal({ kind: 'text', text: 'plain {"a":1}' });
    expect(readConversation('"said"')).to.deep.equal({ kind: 'text', text: 'said' });
    expect(readConversation('{"text":"[1] is where it stands"}')).to.deep.equal({
      kind: 'text',
      text: '[1] is where it stands',
    });
    expect(readConversation(JSON.stringify('[1]'))).to.deep.equal({ kind: 'data', text: '[\n  1\n]' });
    const inString = readConversation(JSON.stringify(JSON.stringify([{ role: 'user', content: 'Hi' }])));
    expect(inString.kind === 'messages' && inString.messages[0]?.role).to.equal('user');
  });

  it('keeps the shape of JSON that a tool answers, in every form of a result', () => {
    const answer = '{"a":1}';
    const block = { type: 'text', text: answer };
    const results = [
      { role: 'tool', tool_call_id: 'c', content: answer },
      { role: 'tool', tool_call_id: 'c', content: [block, { type: 'text', text: 'and text' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: answer }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [block] }] },
      { type: 'function_call_output', call_id: 'c', output: answer },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c', response: answer }] },
    ];
    for (const result of results) {
      const read = readConversation(JSON.stringify([result]));
      const [part, ...more] = read.kind === 'messages' ? (read.messages[0]?.parts ?? []) : [];
      expect(part, JSON.stringify(result)).to.include({ kind: 'data', purpose: 'result', text: '{\n  "a": 1\n}' });
      expect(more.map(({ kind }) => kind)).to.deep.equal(more.length === 0 ? [] : ['text']);
    }
  });
});
