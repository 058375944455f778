import { basePath } from '../../../http/base-path.js';
import { html } from '../../../http/pages/html.js';
import type { ErrorRenderer } from '../../../http/route.js';

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
};

/** Shows what went wrong as a page, for a person with a browser. */
export function errorPages(baseUrl: () => string): ErrorRenderer {
  return ({ title, detail, request_id }) => {
    const base = basePath(baseUrl());
    const page = html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Not signed in</title>
        <link rel="icon" href="${base}/feedback-page/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${base}/feedback-page/review.css" />
      </head>
      <body>
        <main id="main">
          <section class="message">
            <h1>Not signed in</h1>
            <p><strong>${title}.</strong> ${detail}.</p>
            <p><a href="${base}/console">Try again, or sign in by a link or an API key</a></p>
            <p><small>Request ${request_id}</small></p>
          </section>
        </main>
      </body>
    </html>`;
    return { contentType: 'text/html; charset=utf-8', content: `<!doctype html>\n${page.text}\n`, headers: HEADERS };
  };
}
