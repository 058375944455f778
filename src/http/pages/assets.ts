import { createHash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { Tag } from '../route-scopes.js';
import { defineRoute, type Route } from '../route.js';

/** Colors and type, which all pages share. */
export const TOKENS = new URL('static/tokens.css', import.meta.url);

/** A file that pages load. */
export interface Asset {
  readonly name: string;
  readonly contentType: string;
  readonly content: string | Buffer | MadeLater;
}

/** A content that takes long to make: it is made when the first browser asks for it. */
export interface MadeLater {
  /** Changes whenever the content does. */
  readonly source: string;
  make(): string;
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
  readonly tag: Tag;
}

/** The routes of files that pages load, which browsers keep for a day: a page names them with their version. */
export function pageAssets(files: readonly Asset[], { path, what, tag }: Of): PageAssets {
  const hash = createHash('sha256');
  for (const { content } of files) hash.update(isMadeLater(content) ? content.source : content);
  const routes = files.map(({ name, contentType, content }) => {
    let made = isMadeLater(content) ? null : content;
    return defineRoute({
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
        content: (made ??= (content as MadeLater).make()),
        contentType,
        headers: { 'Cache-Control': 'public, max-age=86400', 'X-Robots-Tag': 'noindex' },
      }),
    });
  });
  return { version: hash.digest('hex').slice(0, 12), routes };
}

function isMadeLater(content: Asset['content']): content is MadeLater {
  return typeof content === 'object' && 'make' in content;
}
