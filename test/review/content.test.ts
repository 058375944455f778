import { expect } from 'chai';
import { unhurried } from '../harness/program.js';
import { send } from '../harness/server.js';
import { feedbackLinks, shown, Visitor } from './linked-prompt.js';

feedbackLinks((on) => {
  describe('show foreign content', () => {
    it('as text, whatever it holds', async () => {
      const hostile =
        '<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) "quoted" \'single\'';
      const [span] = await on.prompt.complete(1, () => ({
        name: hostile,
        input_data: JSON.stringify([{ role: hostile, content: `${hostile}\u202Egnp.exe\u202C\u0000` }]),
        output_data: `${hostile}${'\u{e0041}'.repeat(3)}\u200b end`,
      }));
      const page = await new Visitor((await on.prompt.link()).url).get();
      expect(shown(page)).to.equal(span!.id);
      expect(page.text).to.include('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(page.text.match(/<script/g)).to.have.length(1);
      expect(page.text).to.not.match(/<img src=x|href="javascript/i);
      expect(page.text)
        .to.include('>U+202E<')
        .and.to.include('>U+0000<')
        .and.to.include('>U+E0041 ×3<')
        .and.to.include('>U+200B<');
      expect(page.text).to.not.match(/[\u202a-\u202e\u2066-\u2069\u200b\u0000]|[\u{e0000}-\u{e007f}]/u);
    });

    it('as messages of many shapes', async () => {
      const text = (value: unknown) => JSON.stringify(value);
      const shapes: [string, string[]][] = [
        [
          text([
            { role: 'system', content: 'Be brief' },
            { role: 'user', content: [{ type: 'text', text: 'Hello there' }] },
          ]),
          ['Instructions', 'Be brief', 'User', 'Hello there'],
        ],
        [
          text({
            system: 'Be kind',
            messages: [
              { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', text: 'Sunny' }] }] },
            ],
          }),
          ['Be kind', 'result', 'Sunny'],
        ],
        [
          text([
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: '1', function: { name: 'search', arguments: '{"q":"cats"}' } }],
            },
          ]),
          ['Assistant', 'calls search', '&quot;q&quot;: &quot;cats&quot;'],
        ],
        [
          text([
            {
              role: 'user',
              parts: [
                { type: 'text', content: 'From GenAI' },
                { type: 'tool_call', name: 'look', arguments: { a: 1 } },
              ],
            },
          ]),
          ['From GenAI', 'calls look'],
        ],
        [
          text({
            contents: [{ role: 'model', parts: [{ text: 'From Gemini' }] }],
            systemInstruction: { parts: [{ text: 'Rules' }] },
          }),
          ['Rules', 'From Gemini'],
        ],
        [
          text({ choices: [{ index: 0, message: { role: 'assistant', content: 'A choice' } }] }),
          ['Assistant', 'A choice'],
        ],
        [text([{ 'message.role': 'user', 'message.content': 'OpenInference' }]), ['User', 'OpenInference']],
        [
          text([
            {
              role: 'user',
              content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(5000)}` } }],
            },
          ]),
          ['image url', '5022 characters'],
        ],
        [text({ question: 'Which?', n: 1 }), ['&quot;question&quot;: &quot;Which?&quot;']],
        [text([{ role: 'user' }, 'odd']), ['odd']],
        [text('A JSON string'), ['A JSON string']],
        ['{"broken', ['{&quot;broken']],
        ['[', ['[']],
        ['Plain text', ['Plain text']],
      ];
      const spans = await on.prompt.complete(shapes.length, (index) => ({ input_data: shapes[index]![0] }));
      const visitor = new Visitor((await on.prompt.link()).url);
      await visitor.get();
      for (const [index, [input, expected]] of shapes.entries()) {
        const page = await visitor.get(`?c=${spans[index]!.id}`);
        for (const part of expected) expect(page.text, input).to.include(part);
        expect(page.text.length, input).to.be.lessThan(20_000);
      }
    });

    it('that was made to break it, within bounds and in time', async function () {
      this.timeout(60_000);
      const deep = 100_000;
      const inputs = [
        JSON.stringify([
          { role: 'constructor', content: 'a' },
          { role: '__proto__', content: [{ type: 'toString' }] },
        ]),
        '['.repeat(deep) + ']'.repeat(deep),
        '{"message":'.repeat(deep) + '1' + '}'.repeat(deep),
        '{"a":'.repeat(5000) + '1' + '}'.repeat(5000),
        `[{"role":"user","content":${'['.repeat(deep)}${']'.repeat(deep)}}]`,
        JSON.stringify([
          { role: 'user', content: Array.from({ length: 20_000 }, () => ({ type: 'text', text: 'part' })) },
        ]),
        JSON.stringify([{ role: 'user', content: '\u202e\u202d'.repeat(500_000) }]),
        '\u202e\u202d'.repeat(500_000),
        JSON.stringify([{ role: 'x'.repeat(1e6), content: [null, 1, true, [], {}, { type: 7 }, { text: {} }] }]),
        JSON.stringify({ messages: [{ role: 'user', content: 'x', tool_calls: 'none', function_call: [] }] }),
        JSON.stringify([{ message: { message: { role: 'user', content: 'inner' } } }]),
      ];
      const spans = await on.prompt.complete(inputs.length, (index) => ({ input_data: inputs[index] }));
      const visitor = new Visitor((await on.prompt.link()).url);
      await visitor.get();
      for (const [index, input] of inputs.entries()) {
        for (const [query, limit] of [
          ['', 150_000],
          ['&all=1', 12_000_000],
        ] as const) {
          const started = performance.now();
          const page = await visitor.get(`?c=${spans[index]!.id}${query}`);
          expect(page.status, input.slice(0, 60)).to.equal(200);
          expect(shown(page)).to.equal(spans[index]!.id);
          expect(page.text.length, input.slice(0, 60)).to.be.lessThan(limit);
          expect(performance.now() - started, input.slice(0, 60)).to.be.lessThan(unhurried(3_000));
        }
      }
    });

    it('in part when it is long, and in full when asked for, quickly', async function () {
      this.timeout(20_000);
      const long = `${'x'.repeat(1_000_000)} the end`;
      const [span] = await on.prompt.complete(1, () => ({
        input_data: JSON.stringify(Array.from({ length: 200 }, (_, n) => ({ role: 'user', content: `message ${n}.` }))),
        output_data: long,
      }));
      const visitor = new Visitor((await on.prompt.link()).url);
      const page = await visitor.get();
      expect(page.text.length).to.be.lessThan(20_000);
      expect(page.text).to.include('Show all 1,000,008 characters').and.to.include('Show 188 earlier messages');
      expect(page.text).to.include('message 0.').and.to.include('message 199.').and.to.not.include('message 100.');
      const started = performance.now();
      const full = await visitor.get(`?c=${span!.id}&all=1`);
      expect(performance.now() - started).to.be.lessThan(unhurried(3_000));
      expect(full.text).to.include('the end').and.to.include('message 100.');
    });

    it('with the images that are kept here, and names those elsewhere', async () => {
      const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
      await on.prompt.complete(1, () => ({
        attributes: {
          task: on.prompt.slug,
          attachments: [
            { type: 'image', label: 'Our "image"', base64: png },
            { type: 'image', label: 'Theirs', url: 'https://elsewhere.example/x.png' },
          ],
        },
      }));
      const page = await new Visitor((await on.prompt.link()).url).get();
      const [, src] = /<img src="(\/attachments\/[^"]+)"\s+alt="Our &quot;image&quot;"/.exec(page.text) ?? [];
      const image = await send(on.server.url + (src ?? '').replaceAll('&amp;', '&'), 'GET', { key: null });
      expect([image.status, image.headers.get('content-type')]).to.deep.equal([200, 'image/png']);
      expect(page.text).to.include('https://elsewhere.example/x.png').and.to.not.include('src="https://');
    });
  });
});
