import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { defineRoute, type Route } from '../../route.js';
import type { Chapter } from '../chapters.js';
import { searchIndex } from '../search-index.js';

const FOLDER = new URL('static/', import.meta.url);
/** Colors and type, which all pages share. */
const TOKENS = new URL('../../pages/static/tokens.css', import.meta.url);
/** One after another: what is narrow or printed overrides the rest. */
const STYLES = ['base.css', 'bar.css', 'columns.css', 'text.css', 'parts.css', 'narrow.css'];

export interface ManualAssets {
  /** Changes with any of the files. */
  readonly version: string;
  readonly routes: readonly Route[];
}

/** Styles and scripts of the manual, and what its search looks through. */
export function manualAssets(chapters: readonly Chapter[]): ManualAssets {
  const own = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');
  const files = [
    {
      name: 'manual.css',
      contentType: 'text/css',
      content: [readFileSync(TOKENS, 'utf8'), ...STYLES.map(own)].join('\n'),
    },
    { name: 'manual.js', contentType: 'text/javascript', content: own('manual.js') },
    { name: 'theme.js', contentType: 'text/javascript', content: own('theme.js') },
    { name: 'search.json', contentType: 'application/json', content: JSON.stringify(searchIndex(chapters)) },
  ];
  const hash = createHash('sha256');
  for (const { content } of files) hash.update(content);
  return { version: hash.digest('hex').slice(0, 12), routes: files.map(assetRoute) };
}

function assetRoute({ name, contentType, content }: Record<'name' | 'contentType' | 'content', string>): Route {
  return defineRoute({
    method: 'GET',
    path: `/docs/${name}`,
    operationId: `getAsset_${name}`,
    summary: 'A file of the manual',
    description: 'A file of the manual.',
    tag: 'Operations',
    access: 'public',
    hidden: true,
    responses: { 200: { description: 'The file.', contentType, schema: Type.String({ description: 'The file.' }) } },
    errors: [],
    handle: () => ({
      status: 200,
      content,
      contentType: `${contentType}; charset=utf-8`,
      headers: { 'Cache-Control': 'public, max-age=86400', 'X-Robots-Tag': 'noindex' },
    }),
  });
}
