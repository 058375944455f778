import { html, type Html } from '../../pages/html.js';
import type { Chapter, ChapterGroup } from '../chapters.js';
import type { Heading } from '../markdown.js';

/** Nothing runs but our own scripts, which make no markup of texts; nothing is loaded from or sent to anywhere else. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; " +
  "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

/** What every page of the manual has around its text. */
export interface Frame {
  /** Path of the server's public URL, without a slash at its end. */
  readonly base: string;
  readonly groups: readonly ChapterGroup[];
  /** Changes with styles, scripts and the index of the search. */
  readonly version: string;
}

interface Page {
  readonly title: string;
  readonly summary: string;
  /** The chapter that is shown; null: none. */
  readonly current: Chapter | null;
  readonly headings: readonly Heading[];
  /** What is right below the title. */
  readonly intro: Html;
  readonly text?: Html;
  /** What is below the text, and no part of it. */
  readonly after?: Html;
}

/** A whole document around the text of a page. */
export function documentOf(frame: Frame, page: Page): string {
  const { title, summary, current, headings, intro, text, after } = page;
  const { base, version } = frame;
  const asset = (name: string) => `${base}/docs/${name}?v=${version}`;
  const contents = headings.filter(({ depth }) => depth <= 3);
  const markup = html`<html lang="en" data-search="${asset('search.json')}" data-docs="${base}/docs">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="description" content="${summary}" />
      <title>${title} · Spanhouse</title>
      <link rel="icon" href="${base}/feedback-page/icon.svg" type="image/svg+xml" />
      <script src="${asset('theme.js')}"></script>
      <link rel="stylesheet" href="${asset('manual.css')}" />
      <script type="module" src="${asset('manual.js')}"></script>
    </head>
    <body>
      <a class="skip" href="#main">Skip to content</a>
      ${topBar(frame)}
      <div class="columns">
        <nav class="chapters" aria-label="Chapters">${chapterLinks(frame, current)}</nav>
        <main id="main" tabindex="-1">
          <article>
            <h1>${title}</h1>
            ${intro}
            ${
              contents.length > 1 &&
              html`<details class="contents-above">
                <summary>On this page</summary>
                <ul>
                  ${contentLinks(contents)}
                </ul>
              </details>`
            }
            ${text ?? null}
          </article>
          ${after ?? null}
        </main>
        ${
          contents.length > 1 &&
          html`<nav class="contents" aria-label="On this page">
            <p>On this page</p>
            <ul>
              ${contentLinks(contents)}
            </ul>
          </nav>`
        }
      </div>
    </body>
  </html> `;
  return `<!doctype html>\n${markup.text}`;
}

function topBar(frame: Frame): Html {
  const { base } = frame;
  return html`<header class="bar">
    <a class="brand" href="${base}/docs"><img src="${base}/feedback-page/icon.svg" alt="" width="26" height="26" /> Spanhouse <span>manual</span></a>
    <details class="chapters-menu">
      <summary>Chapters</summary>
      <nav aria-label="Chapters, as a menu">${chapterLinks(frame, null)}</nav>
    </details>
    <div id="search" class="search"></div>
    <nav class="elsewhere" aria-label="Elsewhere">
      <a href="${base}/docs/api">API reference</a>
      <a href="${base}/console">Console</a>
      <span id="theme"></span>
    </nav>
  </header>`;
}

function chapterLinks({ base, groups }: Frame, current: Chapter | null): Html[] {
  return groups.map(
    ({ title, chapters }) => html`<p>${title}</p>
      <ul>
        ${chapters.map(
          ({ name, title: task }) =>
            html`<li>
              <a href="${base}/docs/${name}" ${name === current?.name && html`aria-current="page"`}>${task}</a>
            </li>`,
        )}
      </ul>`,
  );
}

function contentLinks(headings: readonly Heading[]): Html[] {
  return headings.map(
    ({ depth, text, anchor }) => html`<li class="depth-${depth}"><a href="#${anchor}">${text}</a></li>`,
  );
}
