import { Type } from '@sinclair/typebox';
import { MAX_ID } from './ids.js';

/** A filter that takes any text. */
export const anyText = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: MAX_ID, description }));

/** The window of a list, as clients of Langfuse ask for it. @param what is listed, as a plural @param maxPage the last page there may be */
export const pageParameters = (what: string, maxPage: number) => ({
  page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1, description: 'Number of the page, from 1.' }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: `Most ${what} of a page.` }),
});

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** Where a page is. */
export const PageMeta = Type.Object(
  {
    page: count('Number of the page.'),
    limit: count('The limit that was asked for.'),
    totalItems: count('Number of all matches.'),
    totalPages: count('Number of pages.'),
  },
  { $id: 'LangfusePageMeta', description: 'Pagination.' },
);

/** What {@link PageMeta} says. */
export function metaOf({ page, limit }: { readonly page: number; readonly limit: number }, totalItems: number) {
  return { page, limit, totalItems, totalPages: Math.ceil(totalItems / limit) };
}
