import { html, type Html, type Insertable } from '../../../http/pages/html.js';

/**
 * Characters that nobody sees but that change what is seen: controls, marks that turn the direction of text, fillers
 * without width, tags. They are shown by their number. Joiners stay: emoji and many scripts need them.
 */
const HIDDEN =
  /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}])\1*/gu;
/** So many are shown by number; the rest as replacement characters, or a hostile text would make a huge page. */
const MAX_SHOWN = 1000;

/** Foreign text as it may stand in a page: nothing of it is markup, and nothing in it hides. */
export function visibleText(text: string): Html {
  const lines = text.replaceAll('\r\n', '\n').toWellFormed();
  const parts: Insertable[] = [];
  let from = 0;
  let shown = 0;
  for (const match of lines.matchAll(HIDDEN)) {
    parts.push(lines.slice(from, match.index));
    from = match.index + match[0].length;
    shown += 1;
    parts.push(marked(match[0]));
    if (shown === MAX_SHOWN) break;
  }
  parts.push(lines.slice(from).replace(HIDDEN, '\ufffd'));
  return html`${parts}`;
}

function marked(run: string): Html {
  const [first = ''] = run;
  const code = `U+${(first.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const times = run.length / first.length;
  return html`<span class="hidden-character" title="Invisible character"
    >${code}${times > 1 && ` ×${times}`}</span
  >`;
}
