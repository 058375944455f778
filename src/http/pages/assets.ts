import { createHash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { defineRoute, type Route } from '../route.js';

/** Colors and type, which all pages share. */
export const TOKENS = new URL('static/tokens.css', import.meta.url);

/** A file that pages load. */
export interface Asset {
  readonly name: string;
  readonly contentType: string;
  readonly content: string | Buffer;
}

export interface PageAssets {
  /** Changes with any of the files. */
  readonly version: string;
  readonly routes: readonly Route[];
}

interface Of {
  /** The path below which the files are. */
  readonly path: string;
  /** What they are files of, in words. */
  readonly what: string;
  readonly tag: string;
}

/** The routes of files that pages load, which browsers keep for a day: a page names them with their version. */
export function pageAssets(files: readonly Asset[], { path, what, tag }: Of): PageAssets {
  const hash = createHash('sha256');
  for (const { content } of files) hash.update(content);
  const routes = files.map(({ name, contentType, content }) =>
    defineRoute({
      method: 'GET',
      path: `${path}/${name}`,
      operationId: `getAsset_${name}`,
      summary: `A file of ${what}`,
      description: `A file of ${what}.`,
      tag,
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
