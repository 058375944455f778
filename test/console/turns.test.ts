import { expect } from 'chai';
import { TextDocument } from '../../src/console/model/text-document.js';
import { repeated, saidWith } from '../../src/console/model/turns.js';

const messages = (...texts: readonly string[]) =>
  new TextDocument({ input: JSON.stringify(texts.map((content) => ({ role: 'user', content }))) }).conversation([
    'input',
  ]);

describe('turns of a session', () => {
  const first = saidWith(new Set(), messages('system', 'hello', 'hi'));

  it('know what was said before, up to the first message that was not', () => {
    expect(repeated(new Set(), messages('system', 'hello'))).to.equal(0);
    expect(repeated(first, messages('system', 'hello', 'hi', 'and now?'))).to.equal(3);
    expect(repeated(first, messages('system', 'new', 'hi'))).to.equal(1);
  });

  it('show the last message of a turn that says nothing new', () => {
    expect(repeated(first, messages('system', 'hello'))).to.equal(1);
    expect(repeated(first, [])).to.equal(0);
  });
});
