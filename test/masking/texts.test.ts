import { expect } from 'chai';
import { Masker } from '../../src/features/masking/masker.js';
import { ruleIssues, rulesOf } from '../../src/features/masking/rule-issues.js';
import { PathMasker } from '../../src/features/masking/path-masker.js';
import { Paths } from '../../src/features/masking/paths.js';
import { textRuleOf } from '../../src/features/masking/patterns/patterns.js';
import { finish, TextMasker } from '../../src/features/masking/text-masker.js';
import type { MaskingRuleInput } from '../../src/features/masking/schema.js';

const maskerOf = (...rules: readonly MaskingRuleInput[]) =>
  new Masker({ version: 1, key: Buffer.alloc(32, 1), rules: rulesOf(rules) });
const path = (value: string, action: MaskingRuleInput['action'] = 'replace') =>
  ({ type: 'path', name: 'secret', path: value, action }) as const;

describe('masking', () => {
  it('leaves all else of JSON as it is, to the character', () => {
    const masker = maskerOf({ type: 'email' });
    const json = '{ "a" : 1.50, "b":"\\u00e9 x@y.io\\n", "big":12345678901234567890 , "x@y.io": [true,null] }';
    expect(masker.maskText(json)).to.equal(json.replace('\\u00e9 x@y.io\\n', 'é [email]\\n'));
    const lines = '{"a":"x@y.io"}\n{"a":"z@y.io"}';
    expect(masker.maskText(lines)).to.equal('{"a":"[email]"}\n{"a":"[email]"}');
    // No JSON, though it looks like it.
    expect(masker.maskText('[note] x@y.io "said" [end]')).to.equal('[note] [email] "said" [end]');
    expect(masker.maskText('{"a": "cut off x@y.io')).to.equal('{"a": "cut off [email]');
  });

  it('reads JSON in strings of JSON', () => {
    const json = (value: string) => JSON.stringify({ call: { arguments: JSON.stringify({ to: `\n${value}`, n: 1 }) } });
    expect(maskerOf({ type: 'email' }).maskText(json('x@y.io'))).to.equal(json('[email]'));
    const object = { input_data: json('x'), attributes: { call: json('y') } };
    const rules = ['$.input_data.call.arguments.to', '$.attributes.call..to'].map((each, n) => ({
      ...path(each),
      name: `p${n}`,
    }));
    const to = (label: string) => JSON.stringify({ call: { arguments: JSON.stringify({ to: label, n: 1 }) } });
    expect(maskerOf(...rules).mask(object)).to.deep.equal({ input_data: to('[p0]'), attributes: { call: to('[p1]') } });
  });

  it('leaves labels alone, so that what is read can be sent again', () => {
    const masker = maskerOf(
      { type: 'email', action: 'hash' },
      { type: 'expression', name: 'word', expression: '[a-z0-9]+' },
    );
    const once = masker.maskText('write x@y.io');
    expect(once).to.match(/^\[word\] \[email:[0-9a-f]{16}\]$/);
    expect(masker.maskText(once)).to.equal(once);
    const placed = maskerOf(path('$.attributes.a', 'hash'));
    const masked = placed.mask({ attributes: { a: { b: 1 }, c: 1 } });
    expect(masked.attributes.a).to.match(/^\[secret:/);
    expect(placed.mask(masked)).to.equal(masked);
  });

  it('masks what lies at a path, and what repeats it', () => {
    const input_data = '[ {"role":"user", "content": "x"}, {"role":"tool","content":{"a":[1,2]}, "n": 1.0} ]';
    const object = {
      input_data,
      output_data: 'said',
      attributes: { copy: input_data, user: { 'e.mail': 'x', age: 1 } },
    };
    const masked = maskerOf(
      { ...path('$.input_data[*].content'), name: 'content' },
      { ...path("$.attributes.user['e.mail']", 'drop'), name: 'mail' },
      { ...path('$.output_data'), name: 'output' },
    ).mask(object);
    const input = '[ {"role":"user", "content": "[content]"}, {"role":"tool","content":"[content]", "n": 1.0} ]';
    expect(masked).to.deep.equal({
      input_data: input,
      output_data: '[output]',
      attributes: { copy: input, user: { 'e.mail': null, age: 1 } },
    });
    expect(
      maskerOf(path('$..password')).mask({ attributes: { a: [{ password: 'x' }], password: null } }),
    ).to.deep.equal({
      attributes: { a: [{ password: '[secret]' }], password: null },
    });
  });

  it('changes nothing that figures are made of', () => {
    const attributes = {
      ...{
        model: 'gpt-4o',
        provider: 'openai',
        inputTokens: '12',
        task: 'support',
        zeroeval: { prompt_slug: 'a', x: 'word' },
      },
      ...{ 'spanhouse.experiment.row_id': 'row', spanhouse: { experiment: { id: 'word' }, other: 'word' } },
      ...{ 'spanhouse.parts': { first: 1, later: [[1, ['attributes.word']]] }, note: 'word', n: 4111111111111111 },
    };
    const tags = { keep: 'true', 'spanhouse.judge': 'word', user: 'word' };
    const all = maskerOf({ type: 'expression', name: 'x', expression: '.+' }, path('$..inputTokens'));
    expect(all.mask({ name: 'word', attributes, tags })).to.deep.equal({
      name: '[x]',
      attributes: {
        ...attributes,
        zeroeval: { prompt_slug: 'a', x: '[x]' },
        spanhouse: { experiment: { id: 'word' }, other: '[x]' },
        note: '[x]',
      },
      tags: { ...tags, user: '[x]' },
    });
    // Beside what marks are read from, names that look like theirs say what an application wants.
    const marks = {
      'langfuse.experiment.metadata': 'word',
      'langfuse.experiment.item': { id: 'row', expected_output: 'word' },
      langfuse: { experiment: { id: 'word', name: 'word', item: { root_observation_id: 'word', metadata: ['word'] } } },
      spanhouse: { 'experiment.id': { deep: 'word' }, 'experiment.trace_id': 'word' },
    };
    expect(all.mask({ attributes: marks }).attributes).to.deep.equal({
      'langfuse.experiment.metadata': '[x]',
      'langfuse.experiment.item': { id: 'row', expected_output: '[x]' },
      langfuse: { experiment: { id: 'word', name: '[x]', item: { root_observation_id: 'word', metadata: ['[x]'] } } },
      spanhouse: { 'experiment.id': { deep: '[x]' }, 'experiment.trace_id': 'word' },
    });
    expect(maskerOf({ type: 'expression', expression: '.+', action: 'drop' }).mask({ name: 'word' }).name).to.equal(
      '[masked]',
    );
  });

  it('masks names that spans are tagged with', () => {
    const tags = { 'x@y.io': 'true', 'z@y.io': 'true', plan: 'true', keep: 'true', 'at z@y.io': 'z@y.io' };
    const masked = { plan: 'true', keep: 'true', '[email]': 'true', 'at z@y.io': '[email]' };
    expect(maskerOf({ type: 'email' }).mask({ tags, session_tags: tags })).to.deep.equal({
      tags: masked,
      session_tags: masked,
    });
    const dropped = maskerOf({ type: 'email', action: 'drop' });
    expect(dropped.mask({ tags: { 'x@y.io': 'true', 'keep x@y.io': 'true' } }).tags).to.deep.equal({
      '[masked]': 'true',
      'keep ': 'true',
    });
  });

  it('goes through JSON once along paths, however deep it is, and gives others turns', async () => {
    const masker = maskerOf(path('$..a', 'hash'), { ...path('$..b.c'), name: 'c' });
    const deep = (key: string, value: string) => `{"${key}":`.repeat(150) + value + '}'.repeat(150);
    const long = JSON.stringify('x'.repeat(2_000_000));
    const [first] = await masker.maskEach([{ input_data: `[${deep('a', long)}, 1 ]` }]);
    expect(first?.input_data).to.match(/^\[\{"a":"\[secret:[0-9a-f]{16}\]"\}, 1 \]$/);
    expect(maskerOf(path('$..b.c')).mask({ input_data: deep('b', '{"c":[1,{"c":"}"}],"d":"]"}') }).input_data).to.equal(
      deep('b', '{"c":"[secret]","d":"]"}'),
    );
    // The first label is one already.
    const labels = '{"a": "[c]" , "b" : [ {"c": -1.5e3 }, { }, {"b":{"a":null,"c":[]}} ] } ';
    expect(masker.mask({ output_data: labels }).output_data).to.equal(labels.replace('[]', '"[c]"'));
    const steps = [
      { key: 'input_data', deep: false },
      { key: 'a', deep: true },
    ];
    const read: unknown[] = [];
    const replaces = (_path: number, value: unknown) => String(read.push(value));
    finish(new PathMasker(new Paths([steps]), replaces).field('input_data', deep('a', '1')));
    expect(read).to.deep.equal([JSON.parse(deep('a', '1').slice(5, -1))]);
    // However many paths wait for names below, members that none names lead to the same places.
    const many = new Paths([
      [...'pqrst'].map((key) => ({ key, deep: true })),
      [{ key: 'p', deep: true }, { deep: false }, { key: 1, deep: true }],
    ]);
    const below = [...'pqpr'].reduce((places, key) => many.next(places, key).places, many.start);
    expect(many.next(below, 'x')).to.equal(many.next(below, 7));
    expect(many.next(below, 's').places).to.equal(many.next(many.next(below, 's').places, 'x').places);
    expect(many.next(many.next(below, 's').places, 't').ends).to.equal(0);
    expect(many.next(many.next(below, 's').places, 1).ends).to.equal(1);
    let turns = 0;
    const work = new PathMasker(new Paths([steps]), replaces);
    const members = JSON.stringify(Array.from({ length: 5_000 }, (_, n) => ({ n })));
    for (const walk = work.field('input_data', members); walk.next().done !== true;) turns += 1;
    expect(turns).to.be.greaterThan(5);
  });

  it('leaves images in texts alone', () => {
    const masker = maskerOf({ type: 'expression', name: 'x', expression: '[A-Za-z0-9]{8}' });
    const data = 'iVBORw0KGgoAAAANSUhEUgAA';
    const url = `data:image/png;base64,${data}==`;
    expect(masker.maskText(`see ${url} there`)).to.equal(`see data:image/png;base64,${data}== there`);
    expect(masker.maskText(JSON.stringify([{ base64: data, sha256: data, text: data }]))).to.equal(
      JSON.stringify([{ base64: data, sha256: data, text: '[x][x][x]' }]),
    );
    // Only the value of the member is an image: not what comes behind it, or lies in it.
    for (const [before, after] of [
      [`{"base64":"`, `","sha256":1}`],
      [`[{"a":{"sha256":"`, `"}},"${data}"]`],
      [`["base64","sha256",{"base64":1},"`, `"]`],
      [`{"base64":["`, `"]}`],
    ] as const) {
      const isImage = before.endsWith(':"');
      expect(masker.maskText(`${before}${data}${after}`)).to.equal(
        `${before}${isImage ? data : '[x][x][x]'}${after.replace(data, '[x][x][x]')}`,
      );
    }
    expect(masker.maskValue([{ base64: { label: data } }])).to.deep.equal([{ base64: { label: '[x][x][x]' } }]);
    // Data is known by its length, wherever it stands.
    const whole = maskerOf({ type: 'expression', name: 'run', expression: 'B[AB]*A' });
    const file = `${'B'.repeat(200)}${'A'.repeat(312)}`;
    const shorter = file.slice(0, 511);
    for (const at of [0, 1, 510, 511, 512, 1_000, 1_535])
      for (const [words, after] of [
        ['-'.repeat(at), ''],
        ['a word '.repeat(at).slice(0, at), '- and more'],
      ] as const) {
        const before = words.replace(/[^-]$/, ' ');
        expect(whole.maskText(`${before}${file}${after}`), `at ${at}`).to.equal(`${before}${file}${after}`);
        expect(whole.maskText(`${before}${shorter}${after}`), `at ${at}`).to.equal(`${before}[run]${after}`);
      }
    expect(masker.mask({ attributes: { attachments: [{ base64: data, label: data }] } }).attributes).to.deep.equal({
      attachments: [{ base64: data, label: '[x][x][x]' }],
    });
  });

  it('finds values in long texts, and keeps texts from growing without bound', async () => {
    const masker = maskerOf(
      { type: 'email' },
      { type: 'expression', name: 'digit', expression: '[0-9]', action: 'hash' },
    );
    const long = `${'some words and x@y.io\n'.repeat(4_000)}end`;
    const [masked] = await masker.maskEach([{ input_data: long }]);
    expect(masked?.input_data).to.equal(long.replaceAll('x@y.io', '[email]'));
    const lines = maskerOf(
      { type: 'expression', name: 'x', expression: 'b[bc ]+' },
      { type: 'expression', name: 'word', expression: '\\bCUST-\\d+' },
    );
    expect(lines.maskText(`a ${'b c '.repeat(5_000)}e CUST-1 d`)).to.match(/^a (\[x\])+e \[word\] d$/);
    for (let at = 4_000; at < 4_200; at += 7)
      expect(lines.maskText(`${'-'.repeat(at)}CUST-12 xCUST-3`)).to.equal(`${'-'.repeat(at)}[word] xCUST-3`);
    expect(masker.maskText('1 '.repeat(20_000)).length).to.be.lessThan(10_000);
  });

  it('gives up a search that takes too long, and gives others turns', () => {
    // As rules could be set before they were measured.
    const slow = maskerOf({ type: 'email' }, { type: 'expression', name: 'x', expression: 'a(?:.?){130}z|b' });
    expect(slow.maskText(`x@y.io ${'ab '.repeat(60_000)}`)).to.equal('[x]');
    const rule = textRuleOf(rulesOf([{ type: 'expression', expression: 'CUST' }])[0]!)!;
    const quick = new TextMasker({ rules: [{ ...rule, rule: 0 }], replacement: () => '', labels: null });
    for (const text of ['-'.repeat(60_000), JSON.stringify(Array.from({ length: 3_000 }, () => 'short text'))]) {
      let turns = 0;
      for (const work = quick.masked(text); work.next().done !== true;) turns += 1;
      expect(turns).to.be.greaterThan(10);
    }
  });

  it('refuses rules that cannot be followed', () => {
    const wrong: [MaskingRuleInput, string][] = [
      [{ type: 'expression' }, '/rules/0/expression is required'],
      [{ type: 'expression', expression: '(' }, '/rules/0/expression must be'],
      [{ type: 'expression', expression: '(?=a)' }, '/rules/0/expression must be'],
      [{ type: 'expression', expression: '(a)\\1' }, '/rules/0/expression must be'],
      [{ type: 'expression', expression: 'a*' }, '/rules/0/expression must not match'],
      ...['a(?:.?){130}z|b', 'q(?:.?){130}z|k', '[a-z]+\\d|[a-z]'].map((each): [MaskingRuleInput, string] => [
        { type: 'expression', expression: each },
        '/rules/0/expression is too complex',
      ]),
      [{ type: 'email', expression: 'a' }, '/rules/0/expression is for'],
      [{ type: 'path' }, '/rules/0/path is required'],
      ...[
        'a',
        '$',
        '$.',
        '$.x',
        '$.attributes',
        '$.attributes[',
        '$..*',
        '$.input_data[?(@.a)]',
        '$.attributes.model',
      ].map((each): [MaskingRuleInput, string] => [{ type: 'path', path: each }, '/rules/0/path must']),
      [{ type: 'phone', countries: ['ZZ'] }, '/rules/0/countries/0 '],
      [{ type: 'email', countries: ['US'] }, '/rules/0/countries is for'],
    ];
    for (const [rule, issue] of wrong) {
      const [found] = ruleIssues(rulesOf([rule]));
      expect(`${found?.pointer} ${found?.detail}`, JSON.stringify(rule)).to.contain(issue);
    }
    const fine = ['[a-z0-9]+', '\\w', '[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+', '(?i)(?:token|key)\\s*[:=]\\s*\\S+', '.+'];
    expect(
      ruleIssues(rulesOf(fine.map((expression, n) => ({ type: 'expression', name: `e${n}`, expression })))),
    ).to.deep.equal([]);
    expect(ruleIssues(rulesOf([{ type: 'email' }, { type: 'email' }]))[0]?.pointer).to.equal('/rules/1/name');
    expect(ruleIssues(rulesOf([{ type: 'path', path: "$.attributes['a.b'][0].c..d" }]))).to.deep.equal([]);
  });
});
