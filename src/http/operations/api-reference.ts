import { createReadStream, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { basePath } from '../base-path.js';
import { defineRoute, type SerializedResult } from '../route.js';

const ASSETS = {
  '/docs/swagger-ui.css': { file: 'swagger-ui.css', contentType: 'text/css; charset=utf-8' },
  '/docs/swagger-ui-bundle.js': { file: 'swagger-ui-bundle.js', contentType: 'text/javascript; charset=utf-8' },
} as const;

/** Everything comes from this server. The page styles its elements inline, which is why styles may be. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Folder of the page's own files, beside those of Swagger UI. */
const OWN = new URL('static/', import.meta.url);

/** The styles are in the page: they are few, and a request less. @param base path of the server's public URL */
const page = (styles: string, base: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Spanhouse</title>
<link rel="stylesheet" href="${base}/docs/swagger-ui.css">
<link rel="icon" href="data:,">
<style>
${styles}</style>
</head>
<body>
<p class="manual"><a href="${base}/docs">Spanhouse manual</a></p>
<div id="docs"></div>
<script src="${base}/docs/swagger-ui-bundle.js"></script>
<script src="${base}/docs/start.js"></script>
</body>
</html>
`;

/** The reference of every call, served without any third party. @param publicUrl of this server */
export function apiReferenceRoutes(publicUrl: () => string) {
  const styles = readFileSync(new URL('docs.css', OWN), 'utf8');
  const script = readFileSync(new URL('docs.js', OWN), 'utf8');
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return [
    referenceRoute('/docs/api', 'getApiReference', () => ({
      status: 200,
      content: page(styles, basePath(publicUrl())),
      contentType: 'text/html; charset=utf-8',
      headers: { 'Content-Security-Policy': CONTENT_SECURITY_POLICY },
    })),
    asset('/docs/start.js', () => ({ status: 200, content: script, contentType: 'text/javascript; charset=utf-8' })),
    ...Object.entries(ASSETS).map(([path, { file, contentType }]) =>
      asset(path, () => ({
        status: 200,
        stream: createReadStream(join(folder, file)),
        contentType,
        headers: { 'Cache-Control': 'public, max-age=86400' },
      })),
    ),
  ];
}

function referenceRoute(path: string, operationId: string, handle: () => SerializedResult) {
  return defineRoute({
    method: 'GET',
    path,
    operationId,
    summary: 'The API reference as a page',
    description: 'Shows every call of `/openapi.json` in Swagger UI.',
    tag: 'Operations',
    access: 'public',
    hidden: true,
    responses: {
      200: { description: 'The page.', contentType: 'text/html', schema: Type.String({ description: 'HTML.' }) },
    },
    errors: [],
    handle,
  });
}

function asset(path: string, handle: () => SerializedResult) {
  return referenceRoute(path, `getAsset_${path}`, handle);
}
