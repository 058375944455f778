import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Type } from '@sinclair/typebox';
import { DomainError } from '../../../engine/errors.js';
import { basePath } from '../../base-path.js';
import { defineRoute, type Route, type SerializedResult } from '../../route.js';
import { manual, type Tables } from '../chapters.js';
import { isPersonal, type Place } from '../markdown.js';
import { manualAssets } from './assets.js';
import { chapterPage, missingPage, startPage } from './pages.js';
import { PAGE_HEADERS, type Frame } from './shell.js';

const HTML = 'text/html; charset=utf-8';
const ChapterParams = Type.Object({ chapter: Type.String({ description: 'Name of the chapter.' }) });

export interface ManualParts {
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  readonly tables: Tables;
  /** The project of the person who reads; null: nobody signed in, or they have several. */
  readonly projectOf: (headers: IncomingHttpHeaders) => string | null;
}

/** The manual for people: a start page, a page for each chapter, and their styles and scripts. */
export function manualRoutes({ baseUrl, tables, projectOf }: ManualParts): Route[] {
  const groups = manual(tables);
  const chapters = groups.flatMap((group) => group.chapters);
  const assets = manualAssets(chapters);
  const frame = (): Frame => ({ base: basePath(baseUrl()), groups, version: assets.version });
  const placeOf = (projectId: string | null): Place => {
    const address = baseUrl().replace(/\/$/, '');
    return { address, base: basePath(address), projectId };
  };
  const kept = new Map<string, KeptPage>();
  const answer = (name: string, headers: IncomingHttpHeaders, make: (place: Place) => string): SerializedResult => {
    const page = kept.get(name) ?? withTag(make(placeOf(null)));
    kept.set(name, page);
    return cached(page, headers);
  };
  const shared = {
    method: 'GET',
    summary: 'The manual',
    description: 'Shows the manual, of which `/docs/api` is the reference of all calls.',
    tag: 'Operations',
    access: 'public',
    responses: {
      200: { description: 'The page.', contentType: 'text/html', schema: Type.String({ description: 'HTML.' }) },
    },
  } as const;
  return [
    defineRoute({
      ...shared,
      path: '/docs',
      operationId: 'getDocs',
      errors: [],
      handle: ({ headers }) => answer('', headers, (place) => startPage(frame(), place)),
    }),
    defineRoute({
      ...shared,
      path: '/docs/:chapter',
      operationId: 'getChapter',
      hidden: true,
      params: ChapterParams,
      errors: ['not_found'],
      renderError: ({ status }) =>
        status === 404 ? { contentType: HTML, content: missingPage(frame()), headers: PAGE_HEADERS } : undefined,
      handle({ params, headers }) {
        const chapter = chapters.find(({ name }) => name === params.chapter);
        if (chapter === undefined) throw new DomainError('not_found', 'The manual has no such chapter');
        const projectId = isPersonal(chapter.text) ? projectOf(headers) : null;
        if (projectId !== null) return personal(chapterPage(frame(), placeOf(projectId), chapter));
        return answer(chapter.name, headers, (place) => chapterPage(frame(), place, chapter));
      },
    }),
    ...assets.routes,
  ];
}

interface KeptPage {
  readonly content: string;
  readonly etag: string;
}

/** Weak, as a compressed page is another sequence of bytes. */
function withTag(content: string): KeptPage {
  return { content, etag: `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"` };
}

/** A page with its hash, so that a browser that has it need not load it again. */
function cached({ content, etag }: KeptPage, headers: IncomingHttpHeaders): SerializedResult {
  const shared = { ...PAGE_HEADERS, ETag: etag, 'Cache-Control': 'private, no-cache', Vary: 'Cookie' };
  if (headers['if-none-match'] === etag) return { status: 304, headers: shared };
  return { status: 200, content, contentType: HTML, headers: shared };
}

/** A page for one person, which a browser forgets. */
function personal(content: string): SerializedResult {
  const headers = { ...PAGE_HEADERS, 'Cache-Control': 'no-store', Vary: 'Cookie' };
  return { status: 200, content, contentType: HTML, headers };
}
