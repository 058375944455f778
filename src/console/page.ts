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

/**
 * The one page of the console, whose script shows what the address says. Its frame is painted before the script is there.
 * @param base path of the server's public URL, without a slash at its end
 * @param singleSignOn path where that begins; null: there is none
 */
export function consolePage(base: string, { manifest }: Bundle, singleSignOn: string | null): string {
  const asset = (name: string) => `${base}/console/assets/${name}`;
  const preload = manifest.preload.map((name) => `\n<link rel="modulepreload" href="${asset(name)}">`).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="spanhouse-base" content="${base}">
${singleSignOn === null ? '' : `<meta name="spanhouse-sso" content="${singleSignOn}">\n`}<meta name="spanhouse-worker" content="${asset(manifest.worker)}">
<title>Spanhouse</title>
<link rel="icon" href="${base}/feedback-page/icon.svg" type="image/svg+xml">
<script>${manifest.theme}</script>
<link rel="stylesheet" href="${asset(manifest.style)}">
<script type="module" src="${asset(manifest.console)}"></script>${preload}
</head>
<body>
<div id="console"><div class="frame"><div class="frame-side"><p class="brand">Spanhouse</p></div><div class="frame-main" aria-busy="true"></div></div></div>
<noscript>The console needs JavaScript. Everything it does can be done over the API, too: see <a href="${base}/docs">the documentation</a>.</noscript>
</body>
</html>
`;
}
