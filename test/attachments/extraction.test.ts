import { expect } from 'chai';
import fc from 'fast-check';
import {
  inspect,
  keptImage,
  withReferences,
  type Found,
  type KeptImage,
} from '../../src/features/images/extraction.js';
import { editItems } from '../../src/features/images/json-edit.js';
import { MAX_JSON_DEPTH, MAX_JSON_NAMES } from '../../src/engine/json-text.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { parseJson } from '../../src/http/wire/json.js';
import { storedSpan } from '../harness/span.js';
import { base64, images, png, svg } from './images.js';

/** The span as it would be stored. */
async function stored(parts: Partial<Pick<Span, 'attributes' | 'output_data'>>): Promise<Span> {
  const original = storedSpan(parts);
  const { found, issues } = await inspect(original);
  expect(issues).to.deep.equal([]);
  const kept = new Map<Found, KeptImage>();
  for (const item of found) if (item.image !== null) kept.set(item, keptImage(item.image));
  return withReferences(original, kept);
}

/** An array in an array, so many levels deep. */
function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

async function pointers(parts: Partial<Pick<Span, 'attributes' | 'output_data'>>): Promise<string[]> {
  return (await inspect(storedSpan(parts))).issues.map(({ pointer }) => pointer);
}

describe('images in a span', () => {
  it('are taken out of attributes; what else the item says stays', async () => {
    const item = { type: 'screenshot', label: 'top', viewport: 'mobile', width: 3, height: 4, extra: [1] };
    const { attributes } = await stored({
      attributes: { attachments: [{ ...item, base64: base64(images.png) }], x: 1 },
    });
    const [kept] = attributes['attachments'] as Record<string, unknown>[];
    expect(kept).to.include({ media_type: 'image/png', bytes: images.png.length }).and.not.have.property('base64');
    expect(kept?.['sha256']).to.match(/^[0-9a-f]{64}$/);
    const { sha256: _s, media_type: _m, bytes: _b, ...rest } = kept ?? {};
    expect(rest).to.deep.equal(item);
    expect(attributes['x']).to.equal(1);
  });

  it('are known by their bytes, whatever they are called', async () => {
    for (const [name, bytes] of Object.entries(images)) {
      const { found } = await inspect(
        storedSpan({ attributes: { attachments: [{ type: 'text/html', base64: base64(bytes) }] } }),
      );
      expect(found[0]?.image?.type, name).to.equal(`image/${name}`);
    }
  });

  it('are taken as data URLs, base64url and with line breaks', async () => {
    const lines = base64(png(20)).replace(/.{76}/g, '$&\r\n');
    const sent = [
      { url: `data:image/png;base64,${base64(images.png)}` },
      { base64: `data:;charset=x;base64,${base64(images.gif)}` },
      { base64: png(20).toString('base64url') },
      { base64: lines },
    ];
    const { attributes } = await stored({ attributes: { attachments: sent } });
    for (const item of attributes['attachments'] as object[]) {
      expect(item).to.have.property('sha256');
      expect(item).to.not.have.any.keys('base64', 'url');
    }
  });

  it('are taken from JSON text, which is all that OpenTelemetry attributes can hold', async () => {
    const item = JSON.stringify({ base64: base64(images.png), label: 'l' });
    for (const attachments of [`[${item}]`, [item]]) {
      const { attributes } = await stored({ attributes: { attachments } });
      const [kept] = attributes['attachments'] as Record<string, unknown>[];
      expect(kept).to.include({ label: 'l', media_type: 'image/png' });
    }
  });

  it('are taken out of an output without touching another character of it', async () => {
    const before = '[ {"n": 12345678901234567890, "x": 1.0},\n {"label":"a", "base64" : ';
    const after = ', "ümlaut": "\\u00fc"}, {"base64":"bm8gaW1hZ2U="}, "base64", 7 ]';
    const { output_data: output } = await stored({ output_data: `${before}"${base64(images.gif)}"${after}` });
    expect(output?.startsWith('[ {"n": 12345678901234567890, "x": 1.0},\n {"label":"a", "sha256":"')).to.equal(true);
    expect(output?.endsWith(after)).to.equal(true);
    expect(output).to.not.include(base64(images.gif));
  });

  it('are taken out of an output that escapes what need not be', async () => {
    const text = JSON.stringify([{ base64: base64(png(40)), n: 1 }]).replaceAll('/', '\\/');
    expect(text).to.include('\\/');
    const output = JSON.parse((await stored({ output_data: text })).output_data ?? '');
    expect(output[0]).to.include({ n: 1, media_type: 'image/png' }).and.not.have.property('base64');
  });

  it('are taken out of every attribute that the output was copied from', async () => {
    const text = JSON.stringify([{ base64: base64(images.png) }]);
    const kept = await stored({ output_data: text, attributes: { 'output.value': text, other: 'x' } });
    expect(kept.attributes).to.deep.equal({ 'output.value': kept.output_data, other: 'x' });
  });

  it('leave every other output as it is', async () => {
    for (const output of [
      '[{"base64":"bm8gaW1hZ2U="}]',
      `[{"base64":"${base64(svg)}"}]`,
      `[{"role":"assistant","content":[{"base64":"${base64(images.png)}"}]}]`,
      `{"base64":"${base64(images.png)}"}`,
      `[{"base64":"${base64(images.png)}"`,
      JSON.stringify(Array.from({ length: 20 }, (_, i) => ({ title: 't', url: `https://a.example/${i}.png` }))),
      '[]',
      '',
    ]) {
      expect((await stored({ output_data: output })).output_data).to.equal(output);
    }
  });

  it('leave attributes called attachments alone that hold no images', async () => {
    for (const attachments of ['none', 7, null, {}, ['a.pdf', 'b.pdf'], [{ name: 'a.pdf' }], '[1,2]']) {
      expect((await stored({ attributes: { attachments } })).attributes).to.deep.equal({ attachments });
    }
  });

  it('must be images in attributes', async () => {
    const bad = [base64(svg), '', 'not base64 !', base64(Buffer.from('%PDF-1.7')), base64(images.png).slice(0, 8)];
    const attachments = bad.map((text) => ({ base64: text }));
    expect(await pointers({ attributes: { attachments } })).to.deep.equal(
      bad.map((_, index) => `/attributes/attachments/${index}/base64`),
    );
    const url = `data:image/svg+xml;base64,${base64(svg)}`;
    expect(await pointers({ attributes: { attachments: [{ url }] } })).to.deep.equal(['/attributes/attachments/0/url']);
  });

  it('must be of at most 10 MB, in both places', async () => {
    const limit = 10 * 1024 * 1024;
    const large = base64(Buffer.concat([images.gif, Buffer.alloc(limit - images.gif.length + 1)]));
    const largest = base64(Buffer.concat([images.gif, Buffer.alloc(limit - images.gif.length)]));
    expect(await pointers({ attributes: { attachments: [{ base64: largest }] } })).to.deep.equal([]);
    expect(await pointers({ attributes: { attachments: [{ base64: large }] } })).to.deep.equal([
      '/attributes/attachments/0/base64',
    ]);
    expect(await pointers({ output_data: JSON.stringify([{ base64: large }]) })).to.deep.equal([
      '/output_data/0/base64',
    ]);
  });

  it('must be five at most, over both places', async () => {
    const item = { base64: base64(images.png) };
    const output = JSON.stringify([{ no: 1 }, item, item]);
    const link = { url: 'https://a.example/x.png' };
    expect(await pointers({ attributes: { attachments: [item, link, item] }, output_data: output })).to.deep.equal([]);
    expect(
      await pointers({ attributes: { attachments: [item, link, link, item] }, output_data: output }),
    ).to.deep.equal(['/output_data/2']);
  });

  it('are refused in text that is nested deeper than a body may be, and taken out of any other', async () => {
    const image = `{"base64":"${base64(images.png)}"}`;
    const escaped = image.replace('"iVBOR', '"\\u0069VBOR');
    const beside = (item: string, levels: number) => `[${item},${nested(levels - 1)}]`;
    for (const levels of [MAX_JSON_DEPTH + 1, 4100, 100_000]) {
      for (const item of [image, escaped]) {
        const text = beside(item, levels);
        expect(await pointers({ attributes: { attachments: text } })).to.deep.equal(['/attributes/attachments']);
        expect(await pointers({ output_data: text })).to.deep.equal(['/output_data']);
      }
      const element = `{"base64":"${base64(images.png)}","more":${nested(levels - 1)}}`;
      expect(await pointers({ attributes: { attachments: [element] } })).to.deep.equal(['/attributes/attachments']);
    }
    for (const item of [image, escaped]) {
      const { output_data: output } = await stored({ output_data: beside(item, MAX_JSON_DEPTH) });
      expect(output)
        .to.include('"sha256"')
        .and.to.include(nested(MAX_JSON_DEPTH - 1));
    }
  });

  it('are refused in texts that together have too many member names, as a body would be', async () => {
    const text = (prefix: string) =>
      `{${Array.from({ length: 0.9 * MAX_JSON_NAMES }, (_, index) => `"${prefix}${index}":0`).join(',')}}`;
    const attachments = ['a', 'b', 'b', 'b'].map(text);
    expect(await pointers({ attributes: { attachments } })).to.deep.equal([]);
    attachments.push(text('c'));
    expect(await pointers({ attributes: { attachments } })).to.deep.equal(['/attributes/attachments']);
  });

  it('leave a span that can be sent again, however deep the text was that they stood in', async () => {
    const depth = async (attachments: unknown) => {
      const { attributes } = await stored({ attributes: { attachments } });
      const body = Buffer.from(JSON.stringify([{ attributes }]));
      expect(body.includes('sha256')).to.equal(true);
      return parseJson(body);
    };
    const image = (rest: string) => `{"base64":"${base64(images.png)}"${rest}}`;
    await depth(`[${image('')},${nested(MAX_JSON_DEPTH - 4)}]`);
    await depth([image(`,"more":${nested(MAX_JSON_DEPTH - 5)}`)]);
  });
});

describe('editing a JSON array', () => {
  it('gives the array that editing its elements gives, for any array and spelling', () => {
    const element = fc.oneof(
      fc.record({ base64: fc.string(), other: fc.jsonValue() }),
      fc.record({ other: fc.jsonValue(), base64: fc.string() }),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(
        fc.array(element, { maxLength: 8 }),
        fc.constantFrom(undefined, 1, '\t'),
        fc.boolean(),
        (list, space, escape) => {
          const plain = JSON.stringify(list, null, space);
          const text = escape ? plain.replaceAll('/', '\\/') : plain;
          const elements = JSON.parse(text) as unknown[];
          const edits = elements.flatMap((item, index) => {
            const value = (item as { base64?: unknown } | null)?.base64;
            const replacement = { sha256: `h${index}`, bytes: index };
            return typeof value === 'string' ? [{ index, property: 'base64', value, replacement }] : [];
          });
          const expected = elements.map((item, index) => {
            const edit = edits.find((one) => one.index === index);
            if (edit === undefined) return item;
            const { base64: _, ...rest } = item as Record<string, unknown>;
            return { ...rest, ...edit.replacement };
          });
          expect(JSON.parse(editItems(text, elements, edits) ?? '')).to.deep.equal(expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});
