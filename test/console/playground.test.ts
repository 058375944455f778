import { expect } from 'chai';
import {
  draftOfSpan,
  draftOfVersion,
  draftText,
  EMPTY_DRAFT,
  filledMessages,
  inputOf,
  readDraft,
  sourceIn,
  variablesOf,
  variantParameters,
  variantsIn,
  type Draft,
} from '../../src/console/model/playground.js';
import { changed } from '../../src/console/model/place.js';

const NO_SOURCE = { prompt: null, version: null, span: null };

describe('what is written in the playground', () => {
  it('begins with a version of a prompt, whose variables are filled in one pass', () => {
    const draft: Draft = {
      ...draftOfVersion({ content: 'Help {{name}} of {{shop}}, {{name}}. {{__proto__}}' }),
      values: new Map([
        ['name', '{{shop}}'],
        ['shop', ''],
      ]),
    };
    expect(variablesOf(draft)).to.deep.equal(['name', 'shop', '__proto__']);
    expect(filledMessages(draft), 'messages without a text are not sent').to.deep.equal([
      { role: 'system', content: 'Help {{shop}} of {{shop}}, {{shop}}. {{__proto__}}' },
    ]);
  });

  it('begins with the input of a span, with its prompt as it was before it was filled', () => {
    const input_data = JSON.stringify([
      { role: 'system', content: 'Help Ann.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ]);
    const recorded = draftOfSpan({ input_data, attributes: {} }, null);
    expect(recorded.messages).to.deep.equal([
      { role: 'system', content: 'Help Ann.' },
      { role: 'user', content: 'Hi' },
    ]);
    const draft = draftOfSpan({ input_data, attributes: {} }, { content: 'Help {{name}}.' });
    expect([draft.messages[0]?.content, [...draft.values], draft.promptAt]).to.deep.equal([
      'Help {{name}}.',
      [['name', 'Ann']],
      0,
    ]);
    expect(filledMessages(draft)).to.deep.equal(recorded.messages);
    expect(draftOfSpan({ input_data: null, attributes: {} }, null)).to.deep.equal(EMPTY_DRAFT);
    expect(draftOfSpan({ input_data: 'plain', attributes: {} }, null).messages).to.deep.equal([
      { role: 'user', content: 'plain' },
    ]);
  });

  it('is kept by the address as it is, and nothing else is taken for it', () => {
    const draft: Draft = {
      messages: [{ role: 'user', content: 'a\u202e"{{__proto__}}' }],
      values: new Map([['__proto__', 'x']]),
      promptAt: 0,
    };
    expect(readDraft(draftText(draft))).to.deep.equal(draft);
    for (const text of [
      '',
      '{',
      '[]',
      '{}',
      'null',
      '[[],[],null]',
      '[[["tool","a"]],[],0]',
      '[[["user",1]],[],0]',
      '7',
    ])
      expect(readDraft(text), text).to.equal(null);
    expect(readDraft('[[["user","a"]],[],9]')?.promptAt).to.equal(null);
  });

  it('of a chat version has its messages, and puts others where it says', () => {
    const messages = [
      { role: 'developer', content: 'Help {{shop}}.' },
      { type: 'placeholder' as const, name: 'history' },
    ];
    const draft = draftOfVersion({ content: JSON.stringify(messages), messages });
    expect(readDraft(draftText(draft))).to.deep.equal(draft);
    expect(variablesOf(draft)).to.deep.equal(['shop', 'history']);
    expect(filledMessages(draft)).to.deep.equal([{ role: 'system', content: 'Help {{shop}}.' }]);
    const history = (text: string) => filledMessages({ ...draft, values: new Map([['history', text]]) }).slice(1);
    expect(history('Hi')).to.deep.equal([{ role: 'user', content: 'Hi' }]);
    expect(history('[{"role":"ai","content":"{{shop}}"}]')).to.deep.equal([{ role: 'assistant', content: '{{shop}}' }]);
  });

  it('is sent with the settings and the source that the address names', () => {
    const query = new URLSearchParams('prompt=a%20b&version=3&span=s&model=x&temperature=0.5&model=&temperature=');
    expect(variantsIn(query)).to.deep.equal([
      { model: 'x', temperature: '0.5' },
      { model: '', temperature: '' },
    ]);
    const draft: Draft = { ...EMPTY_DRAFT, messages: [{ role: 'user', content: 'a' }] };
    expect(variantsIn(query).map((variant) => inputOf(draft, variant, sourceIn(query)))).to.deep.equal([
      {
        messages: draft.messages,
        model: 'x',
        temperature: 0.5,
        source: { prompt_slug: 'a b', version: 3, span_id: 's' },
      },
      { messages: draft.messages, source: { prompt_slug: 'a b', version: 3, span_id: 's' } },
    ]);
    expect(sourceIn(new URLSearchParams('version=3'))).to.deep.equal(NO_SOURCE);
    expect(sourceIn(new URLSearchParams('prompt=a&version=x')).version).to.equal(null);
    const plain = [{ model: '', temperature: '' }];
    expect(changed(query, variantParameters(plain)).toString()).to.equal('prompt=a+b&version=3&span=s');
    const five = new URLSearchParams(Array.from({ length: 5 }, (): [string, string] => ['model', 'm']));
    expect(variantsIn(five)).to.have.length(4);
    expect(variantsIn(new URLSearchParams())).to.deep.equal(plain);
  });
});
