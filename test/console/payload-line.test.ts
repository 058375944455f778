import { expect } from 'chai';
import { payloadLine } from '../../src/console/model/payload-line.js';
import { TEXT_LIMIT } from '../../src/console/model/list-query.js';

/** A text as a list answers it. */
function excerpt(text: string): string {
  const [head, tail] = [Math.ceil((TEXT_LIMIT * 2) / 3), Math.floor(TEXT_LIMIT / 3)];
  if (text.length <= TEXT_LIMIT) return text;
  const left = text.length - head - tail;
  return `${text.slice(0, head)}\n[… ${left} characters left out here …]\n${text.slice(-tail)}`;
}

const messages = (...said: [role: string, content: unknown][]) =>
  JSON.stringify(said.map(([role, content]) => ({ role, content })));
const LONG = 'Be kind. '.repeat(200);

describe('an input or output in one line', () => {
  it('is the text itself, where it is one', () => {
    expect(payloadLine('How are you?', 'input')).to.equal('How are you?');
    expect(payloadLine('"Fine"', 'output')).to.equal('Fine');
    expect(payloadLine('[draft] Dear all', 'output')).to.equal('[draft] Dear all');
    expect(payloadLine(excerpt('ask '.repeat(1000)), 'input')).to.include('3400 characters left out');
  });

  it('is what the user said last, or what was answered', () => {
    const input = messages(
      ['system', LONG.slice(0, 90)],
      ['user', 'Hi'],
      ['assistant', 'Yes?'],
      ['user', 'A “refund”'],
    );
    expect(payloadLine(input, 'input')).to.equal('A “refund”');
    expect(payloadLine(messages(['user', 'Weather?'], ['tool', '{"sky":"blue"}']), 'input')).to.equal('Weather?');
    expect(payloadLine(messages(['system', 'Be kind']), 'input')).to.equal('Be kind');
    expect(payloadLine(messages(['assistant', [{ type: 'text', text: 'It is blue.' }]]), 'output')).to.equal(
      'It is blue.',
    );
  });

  it('names calls where there is no text, and passes over reasoning', () => {
    const call = { id: '1', function: { name: 'search', arguments: '{"q":"refund"}' } };
    const calls = JSON.stringify([{ role: 'assistant', content: null, tool_calls: [call] }]);
    expect(payloadLine(calls, 'output')).to.match(/^calls search: \{\s*"q": "refund"/);
    const thought = [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Blue.' },
    ];
    expect(payloadLine(messages(['assistant', thought]), 'output')).to.equal('Blue.');
  });

  it('reads of cut messages the end of an input and the beginning of an output', () => {
    const asked = excerpt(messages(['system', LONG], ['user', 'What is a "gap"?\nTell me.']));
    expect(asked).to.include('left out');
    expect(payloadLine(asked, 'input')).to.equal('What is a "gap"?\nTell me.');
    const parts = excerpt(messages(['system', LONG], ['user', [{ type: 'text', text: 'Why?' }]], ['tool', '42']));
    expect(payloadLine(parts, 'input')).to.equal('Why?');
    const question = excerpt(messages(['system', LONG], ['user', `${LONG}Is that so?`]));
    expect(payloadLine(question, 'input')).to.match(/^… .*Be kind\. Is that so\?$/);
    for (const old of ['Old?', LONG]) {
      const history = excerpt(messages(['user', old], ['assistant', LONG], ['user', LONG], ['tool', '42']));
      expect(payloadLine(history, 'input'), 'of what can be read the last').to.equal('42');
    }
    const alone = excerpt(messages(['user', `Is it so? ${LONG}`]));
    expect(payloadLine(alone, 'input')).to.match(/^Is it so\? Be kind\. /);
    const answer = excerpt(messages(['assistant', `First line\n${LONG}`]));
    expect(payloadLine(answer, 'output'))
      .to.match(/^First line\nBe kind\. /)
      .and.not.include('content');
  });

  it('is cut within an escape without harm, and shows JSON of no messages as it is', () => {
    for (let length = 380; length < 400; length += 1) {
      const line = payloadLine(
        excerpt(messages(['assistant', `${'x'.repeat(length - 32)}${'\u0001'.repeat(600)}`])),
        'output',
      );
      expect(line)
        .to.match(/^x{300}/)
        .and.not.include('\\');
    }
    const whole = messages(['user', `\n[… 3 characters left out here …]\n${LONG}`]);
    expect(payloadLine(whole, 'input')).to.match(/^\[… 3 characters/);
    const json = excerpt(JSON.stringify({ order: 'x'.repeat(2000), total: 3 }));
    expect(payloadLine(json, 'output')).to.equal(json);
    expect(payloadLine('{"order": 3}', 'output').replace(/\s/g, '')).to.equal('{"order":3}');
  });
});
