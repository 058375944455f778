import { Marked, type RendererObject, type Token, type Tokens } from 'marked';
import { html, Html, type Insertable } from '../pages/html.js';
import { anchors, textOf } from './anchors.js';
import { tabsOf } from './tabs.js';

/** The server as the manual shows it. */
export interface Place {
  /** Its address, without a slash at its end. */
  readonly address: string;
  /** The path of that address, without a slash at its end. */
  readonly base: string;
  /** Project of the person who signed in; null: no one did. */
  readonly projectId: string | null;
}

/** A heading, or a link to one. */
export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

/** The address that examples in Markdown have. */
const WRITTEN_ADDRESS = /http:\/\/127\.0\.0\.1:4318(?!\d)/g;
const LINE_BREAK = /^<br *\/?>$/;
const COMMENT = /^<!--[^]*-->\s*$/;
/** Where a chapter says how to get a key. */
const KEY_NOTE = 'key-note';

/** Whether a chapter says something of its own to a person who signed in. */
export function isPersonal(text: string): boolean {
  return text.includes(`<!-- ${KEY_NOTE} -->`);
}

/**
 * Markdown of ours as markup. Of HTML in it, line breaks count, and comments mark parts; everything else is text, and links
 * lead to chapters, to paths of this server or to other sites.
 */
export function rendered(text: string, place: Place): { readonly body: Html; readonly headings: readonly Heading[] } {
  const headings: Heading[] = [];
  const marked = new Marked({ gfm: true, renderer: rendererOf(place, headings) });
  const part = (tokens: Token[]) => new Html(marked.parser(tokens));
  const body = tabsOf(marked.lexer(text)).map((piece) =>
    'tabs' in piece
      ? html`<div class="tabs">
          ${piece.tabs.map(
            ({ title, tokens }) => html`<section class="tab" data-tab="${title}">
              <p class="tab-title">${title}</p>
              ${part(tokens)}
            </section>`,
          )}
        </div>`
      : part(piece.tokens),
  );
  return { body: html`${body}`, headings };
}

function rendererOf(place: Place, headings: Heading[]): RendererObject {
  const anchorOf = anchors();
  const written = (text: string) => text.replace(WRITTEN_ADDRESS, () => place.address);
  return {
    heading({ tokens, depth }) {
      const heading = { depth, text: textOf(tokens), anchor: anchorOf(textOf(tokens)) };
      headings.push(heading);
      const inner = new Html(this.parser.parseInline(tokens));
      return html`<h${depth} id="${heading.anchor}">${inner} <a class="anchor" href="#${heading.anchor}" aria-label="Link to this section">#</a></h${depth}>\n`
        .text;
    },
    code: ({ text, lang = '' }) =>
      html`<div class="code" data-lang="${lang}"><pre tabindex="0"><code>${written(text)}</code></pre></div>\n`.text,
    codespan: ({ text }) => html`<code>${breakable(written(text))}</code>`.text,
    html: ({ text }) => markupOf(text, place),
    link({ href, tokens }) {
      const inner = new Html(this.parser.parseInline(tokens));
      return html`<a href="${hrefOf(href, place.base)}">${inner}</a>`.text;
    },
    image: ({ text }) => html`${text}`.text,
    table({ header, rows }) {
      const cell = (tag: 'th' | 'td', { tokens }: Tokens.TableCell) => {
        const inner = new Html(this.parser.parseInline(tokens));
        return tag === 'th' ? html`<th scope="col">${inner}</th>` : html`<td>${inner}</td>`;
      };
      const line = (tag: 'th' | 'td', cells: Tokens.TableCell[]) =>
        html`<tr>${cells.map((one) => cell(tag, one))}</tr>`;
      return html`<div class="table-box" tabindex="0" role="region" aria-label="Table"><table><thead>${line('th', header)}</thead><tbody>${rows.map((row) => line('td', row))}</tbody></table></div>\n`
        .text;
    },
  };
}

const LONG_NAME = 18;

/** A name such as that of a metric, which may break between its words: tables have little room. */
function breakable(text: string): Insertable {
  if (text.length < LONG_NAME || !/^\w+$/.test(text)) return text;
  return text.split(/(?<=_)/).flatMap((word, at) => (at === 0 ? [word] : [html`<wbr>`, word]));
}

function markupOf(text: string, place: Place): string {
  if (LINE_BREAK.test(text.trim())) return '<br>';
  if (!COMMENT.test(text)) return html`${text}`.text;
  return text.includes(KEY_NOTE) ? keyNote(place).text : '';
}

function keyNote({ base, projectId }: Place): Html {
  const first =
    projectId === null
      ? html`Replace <code>&lt;your key&gt;</code> with an API key: the one that the first start printed, or one that you create in the
          <a href="${base}/console">console</a>, under Settings, Keys.`
      : html`You are signed in. Replace <code>&lt;your key&gt;</code> with an API key:
          <a href="${base}/console/p/${projectId}/first">create one that can only send</a>, or use an existing one from
          <a href="${base}/console/p/${projectId}/settings?tab=keys">Settings, Keys</a>. Your project is <code>${projectId}</code>.`;
  return html`<p class="note">${first}</p>`;
}

/** Where a link of a chapter leads. In Markdown, chapters are files beside it, so that links work there, too. */
export function hrefOf(href: string, base: string): string {
  if (/^https?:\/\//.test(href) || href.startsWith('#')) return href;
  if (href.startsWith('/') && !href.startsWith('//')) return base + href;
  const [, name, anchor = ''] = /^([a-z-]+)\.md(#[^#]+)?$/.exec(href) ?? [];
  if (name === undefined) throw new Error(`A chapter of the manual must not link to ${href}`);
  return `${base}/docs/${name}${anchor}`;
}
