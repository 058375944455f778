import { readFileSync } from 'node:fs';
import { pageAssets, TOKENS, type PageAssets } from '../../../http/pages/assets.js';
import { TAG } from '../../feedback/http/schema.js';
import { ASSETS_PATH } from './shell.js';

const CONTENT_TYPES = {
  'review.css': 'text/css; charset=utf-8',
  'review.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

const FOLDER = new URL('static/', import.meta.url);

/** Styles and scripts of the pages of feedback links. */
export function reviewAssets(): PageAssets {
  const files = Object.entries(CONTENT_TYPES).map(([name, contentType]) => ({
    name,
    contentType,
    content: Buffer.concat([
      ...(name.endsWith('.css') ? [readFileSync(TOKENS)] : []),
      readFileSync(new URL(name, FOLDER)),
    ]),
  }));
  return pageAssets(files, { path: ASSETS_PATH, what: 'the page of feedback links', tag: TAG });
}
