import { expect } from 'chai';
import { hasControls, piecesByControls } from '../../src/console/model/bidi-controls.js';

describe('characters that reorder a text', () => {
  it('are told apart from what stands there, and named', () => {
    expect(piecesByControls('invoice\u202egnp.exe\u202c', 9)).to.deep.equal([
      { text: 'invoice', controls: null },
      { text: '\u202e', controls: 'U+202E' },
      { text: 'gnp.exe', controls: null },
      { text: '\u202c', controls: 'U+202C' },
    ]);
    expect(piecesByControls('\u2066\u2067\u2068\u2069\u202a', 9)).to.deep.equal([
      { text: '\u2066\u2067\u2068\u2069\u202a', controls: 'U+2066 U+2067 U+2068 and 2 more' },
    ]);
  });

  it('are not all that is there of other scripts', () => {
    for (const text of ['', 'שלום \u200fworld', '👩‍👩‍👧', 'a\u061cb']) {
      expect(hasControls(text)).to.equal(false);
      expect(piecesByControls(text, 9).map((piece) => piece.text)).to.deep.equal(text === '' ? [] : [text]);
    }
  });

  it('are so many at most; the text is whole', () => {
    const text = 'a\u202e'.repeat(1000);
    const pieces = piecesByControls(text, 10);
    expect(pieces).to.have.length(21);
    expect(pieces.map((piece) => piece.text).join('')).to.equal(text);
  });
});
