import { html, type Html } from '../../../http/pages/html.js';

/** Where the parts of a link's page are. */
export interface PagePaths {
  /** The page itself. */
  readonly page: string;
  /** Where its form is sent to. */
  readonly feedback: string;
  /** Folder of styles and scripts. */
  readonly assets: string;
}

export const ASSETS_PATH = '/feedback-page';

/** @param base path of the server's public URL, without a slash at its end */
export function pathsOf(base: string, token: string): PagePaths {
  return { page: `${base}/f/${token}`, feedback: `${base}/f/${token}/feedback`, assets: base + ASSETS_PATH };
}

export interface Shell {
  readonly title: string;
  readonly assets: string;
  /** Version of styles and scripts, so that browsers keep them as long as they do not change. */
  readonly version: string;
  /** Right side of the header: who reviews. */
  readonly aside?: Html;
  readonly footer?: Html;
}

/** Nothing runs but our own script, nothing is loaded from or sent to anywhere else. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

/** A whole document around what a page shows. */
export function documentOf({ title, assets, version, aside, footer }: Shell, main: Html): string {
  return `<!doctype html>\n${
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="referrer" content="no-referrer" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${assets}/icon.svg?v=${version}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets}/review.css?v=${version}" />
        <script type="module" src="${assets}/review.js?v=${version}"></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header class="bar">
          <p class="brand"><img src="${assets}/icon.svg?v=${version}" alt="" width="28" height="28" /> Review</p>
          <div id="aside">${aside ?? null}</div>
        </header>
        <p id="live" class="unseen" role="status" aria-live="polite"></p>
        <main id="main" tabindex="-1">${main}</main>
        ${footer ?? null}
      </body>
    </html> `.text
  }`;
}

/** A page that says one thing. */
export function messagePage(shell: Omit<Shell, 'title'>, title: string, message: string, action?: Html): string {
  const main = html`<section class="message">
    <h1>${title}</h1>
    <p>${message}</p>
    ${action ?? null}
  </section>`;
  return documentOf({ ...shell, title }, main);
}
