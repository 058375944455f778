import { expect } from 'chai';
import { readConversation } from '../../src/features/review/conversation.js';

describe('a conversation as a person reads it', () => {
  it('is indented while it is short, and never many times as large as what was sent', () => {
    expect(readConversation('{"a":[1]}')).to.deep.equal({ kind: 'text', text: '{\n  "a": [\n    1\n  ]\n}' });
    const hostile = `${'['.repeat(39)}${'1,'.repeat(2_000_000)}1${']'.repeat(39)}`;
    const shown = readConversation(hostile);
    expect(shown.kind === 'text' && shown.text.length).to.equal(hostile.length);
  });
});
