import { createHash } from 'node:crypto';
import type { Bundle } from './bundle.js';

/** Nothing runs but our own scripts, nothing is loaded from or sent to anywhere else. Images of spans come from where they are stored. */
function contentSecurityPolicy(theme: string, imageSource: string | null): string {
  const directives = {
    'default-src': "'none'",
    'script-src': `'self' 'sha256-${createHash('sha256').update(theme).digest('base64')}'`,
    'style-src': "'self'",
    'img-src': ["'self'", 'data:', ...(imageSource === null ? [] : [imageSource])].join(' '),
    'connect-src': "'self'",
    'worker-src': "'self'",
    'form-action': "'self'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': 'spanhouse',
  };
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
}

export function pageHeaders({ manifest }: Bundle, imageSource: string | null): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': contentSecurityPolicy(manifest.theme, imageSource),
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex, nofollow',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
}

/** What the head of every page has. @param more further elements of it */
function head(base: string, { manifest }: Bundle, title: string, more: string): string {
  const asset = (name: string) => `${base}/console/assets/${name}`;
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${base}/feedback-page/icon.svg" type="image/svg+xml">
<script>${manifest.theme}</script>
<link rel="stylesheet" href="${asset(manifest.style)}">${more}`;
}

/** What loads the script of the console, and tells it where it is. */
function scripts(base: string, { manifest }: Bundle): string {
  const asset = (name: string) => `${base}/console/assets/${name}`;
  const preload = manifest.preload.map((name) => `\n<link rel="modulepreload" href="${asset(name)}">`).join('');
  return `
<meta name="spanhouse-base" content="${base}">
<meta name="spanhouse-worker" content="${asset(manifest.worker)}">
<script type="module" src="${asset(manifest.console)}"></script>${preload}`;
}

/**
 * The one page of the console, whose script shows what the address says. Its frame is painted before the script is there.
 * @param base path of the server's public URL, without a slash at its end
 * @param singleSignOn path where that begins; null: there is none
 */
export function consolePage(base: string, bundle: Bundle, singleSignOn: string | null): string {
  const sso = singleSignOn === null ? '' : `\n<meta name="spanhouse-sso" content="${singleSignOn}">`;
  return `<!doctype html>
<html lang="en">
<head>
${head(base, bundle, 'Spanhouse', scripts(base, bundle) + sso)}
</head>
<body>
<div id="console"><div class="frame"><div class="frame-side"><p class="brand">Spanhouse</p></div><div class="frame-main" aria-busy="true"></div></div></div>
<noscript>The console needs JavaScript. Everything it does can be done over the API, too: see <a href="${base}/docs">the documentation</a>.</noscript>
</body>
</html>
`;
}

const SHARED_HEAD = `
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">`;

/** The page of a trace that is shared: the same script shows nothing but that. @param token has characters of URLs alone */
export function sharedTracePage(base: string, bundle: Bundle, token: string): string {
  const shared = `${SHARED_HEAD}\n<meta name="spanhouse-shared" content="${token}">`;
  return `<!doctype html>
<html lang="en">
<head>
${head(base, bundle, 'Shared trace', scripts(base, bundle) + shared)}
</head>
<body>
<div id="console"><div class="shared" aria-busy="true"></div></div>
<noscript>This page needs JavaScript to show the trace.</noscript>
</body>
</html>
`;
}

/** What such a page says when there is no trace. @param main safe HTML */
export function sharedMessagePage(base: string, bundle: Bundle, title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
${head(base, bundle, title, SHARED_HEAD)}
</head>
<body>
<main class="state">
${main}
</main>
</body>
</html>
`;
}
