import { expect } from 'chai';
import {
  bodyOf,
  configText,
  draftOfVersion,
  isSameContent,
  moved,
  namesIn,
  PLACE,
  refusalOf,
  versionOfDraft,
  versionText,
} from '../../src/console/model/prompt-version.js';
import { writeMessages } from '../../src/features/prompts/prompt-messages.js';

const messages = [
  { role: 'system', content: 'One {{a}}\r\nTwo' },
  { type: 'placeholder' as const, name: 'history' },
];
const chat = { content: writeMessages(messages), messages, config: { b: 1, a: [2] } };

describe('a draft of a version of a prompt', () => {
  it('is the version that it was begun from until it is changed', () => {
    for (const version of [chat, { content: 'One\r\nTwo' }, { content: 'One\nTwo', config: { a: 1 } }]) {
      const draft = draftOfVersion(version);
      expect(versionOfDraft(draft, version)).to.deep.equal(version);
      expect(isSameContent(versionOfDraft({ ...draft, config: '{"z": 1}' }, version), version)).to.equal(false);
    }
    expect(isSameContent(chat, { ...chat, config: { a: [2], b: 1 } })).to.equal(true);
    expect(isSameContent(chat, { content: chat.content, config: chat.config })).to.equal(false);
    expect(draftOfVersion({ content: 'One' }).messages).to.deep.equal([{ role: 'system', content: 'One' }]);
  });

  it('is sent as a text or as messages, and refused where it can be neither', () => {
    expect(bodyOf(chat)).to.deep.equal({ messages, config: chat.config });
    expect(bodyOf({ content: 'x' })).to.deep.equal({ content: 'x' });
    const draft = draftOfVersion(chat);
    expect(refusalOf(draft)).to.equal(null);
    expect(refusalOf({ ...draft, config: '[]' })).to.include('config');
    expect(refusalOf({ ...draft, messages: [...draft.messages, { role: 'user', content: '' }] })).to.include('3');
    expect(refusalOf({ ...draft, messages: [{ role: PLACE, content: 'a b' }] })).to.include('name');
    expect(refusalOf({ ...draft, isChat: false })).to.equal('Enter a text');
  });

  it('is compared message by message, and its config by lines whatever the order of members', () => {
    expect(versionText(chat)).to.equal('── system ──\nOne {{a}}\r\nTwo\n\n── placeholder ──\nhistory');
    expect(configText(chat)).to.equal('{\n  "a": [\n    2\n  ],\n  "b": 1\n}');
    expect(namesIn(chat)).to.deep.equal({ variables: ['a'], places: ['history'] });
    expect(moved(['a', 'b', 'c'], 2, -1)).to.deep.equal(['a', 'c', 'b']);
    expect(moved(['a', 'b', 'c'], 0, 1)).to.deep.equal(['b', 'a', 'c']);
  });
});
