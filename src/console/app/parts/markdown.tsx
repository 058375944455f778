import type { ComponentChildren } from 'preact';
import type { MarkedToken, Token, Tokens } from 'marked';
import { useAsked } from '../state/documents.js';
import { markdownOf } from '../state/markdown.js';
import { VisibleText } from './visible-text.js';

/** A markdown text as elements. HTML in it stays text; images and links lead to where they say, and load nothing. */
export function Markdown({ text }: { readonly text: string }) {
  const tokens = useAsked(() => markdownOf(text), [text]);
  if (tokens == null) return <PlainText text={text} />;
  return (
    <div class="markdown" dir="auto">
      {blocks(tokens)}
    </div>
  );
}

/** A text as it is, in its own direction. */
export function PlainText({ text }: { readonly text: string }) {
  return (
    <div class="plain-text" dir="auto">
      <VisibleText text={text} />
    </div>
  );
}

/** Characters that would reorder the text, named in one of its tokens. */
const CONTROLS = 20;

const shown = (text: string) => <VisibleText text={text} most={CONTROLS} />;

function blocks(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token) => block(token as MarkedToken));
}

function block(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return <p class={`md-heading md-${token.depth}`}>{inline(token.tokens)}</p>;
    case 'code':
      return (
        <pre class="md-code" tabIndex={0} aria-label={token.lang ? `Code in ${token.lang}` : 'Code'}>
          {shown(token.text)}
        </pre>
      );
    case 'blockquote':
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case 'hr':
      return <hr />;
    case 'list':
      return <List token={token} />;
    case 'table':
      return <Table token={token} />;
    case 'html':
      return <p class="plain-text">{shown(token.raw.trimEnd())}</p>;
    case 'paragraph':
    case 'text':
      return token.tokens === undefined ? shown(token.text) : <p>{inline(token.tokens)}</p>;
    default:
      return inline([token]);
  }
}

function List({ token }: { readonly token: Tokens.List }) {
  const items = token.items.map((item) => (
    <li>
      {item.task && (item.checked === true ? '☑ ' : '☐ ')}
      {item.tokens.map((inner) =>
        inner.type === 'text' && !token.loose
          ? inline((inner as Tokens.Text).tokens ?? [inner])
          : block(inner as MarkedToken),
      )}
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token: { header, rows } }: { readonly token: Tokens.Table }) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Table">
      <table class="table wrap">
        <thead>
          <tr>
            {header.map(({ tokens }) => (
              <th scope="col">{inline(tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map(({ tokens }) => (
                <td>{inline(tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token) => inlineOne(token as MarkedToken));
}

function inlineOne(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code>{shown(token.text)}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Link href={token.href}>{inline(token.tokens)}</Link>;
    case 'image':
      return <Link href={token.href}>Image: {shown(token.text || token.href)}</Link>;
    case 'escape':
      return shown(token.text);
    case 'text':
      return token.tokens === undefined ? shown(token.text) : inline(token.tokens);
    case 'checkbox':
      return null;
    default:
      return shown(token.raw);
  }
}

/** A link to http or https, of which the reader sees where it leads; anything else is text. */
export function Link({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  if (!/^https?:\/\//i.test(href)) return <bdi>{children}</bdi>;
  return (
    <a href={href} title={href} rel="noreferrer noopener" target="_blank">
      <bdi>{children}</bdi>
    </a>
  );
}
