import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { defineRoute, type Route } from '../../../http/route.js';
import { TAG } from '../../feedback/http/schema.js';
import { ASSETS_PATH } from './shell.js';

const CONTENT_TYPES = {
  'review.css': 'text/css; charset=utf-8',
  'review.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

export interface ReviewAssets {
  /** Changes with any of the files. */
  readonly version: string;
  readonly routes: readonly Route[];
}

const FOLDER = new URL('static/', import.meta.url);
/** Colors and type, which the console has, too. */
const TOKENS = new URL('../../../http/pages/static/tokens.css', import.meta.url);

/** Styles and scripts of the pages of feedback links. */
export function reviewAssets(): ReviewAssets {
  const files = Object.entries(CONTENT_TYPES).map(([name, contentType]) => ({
    name,
    contentType,
    content: Buffer.concat([
      ...(name.endsWith('.css') ? [readFileSync(TOKENS)] : []),
      readFileSync(new URL(name, FOLDER)),
    ]),
  }));
  const hash = createHash('sha256');
  for (const { content } of files) hash.update(content);
  const routes = files.map(({ name, contentType, content }) =>
    defineRoute({
      method: 'GET',
      path: `${ASSETS_PATH}/${name}`,
      operationId: `getAsset_${name}`,
      summary: 'A file of the page of feedback links',
      description: 'A file of the page of feedback links.',
      tag: TAG,
      access: 'public',
      hidden: true,
      responses: { 200: { description: 'The file.', contentType, schema: Type.String({ description: 'The file.' }) } },
      errors: [],
      handle: () => ({
        status: 200,
        content,
        contentType,
        headers: { 'Cache-Control': 'public, max-age=86400', 'X-Robots-Tag': 'noindex' },
      }),
    }),
  );
  return { version: hash.digest('hex').slice(0, 12), routes };
}
