import { count } from './parts.js';

/** A page of an ordered list: how many items, after how many. */
export interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** Schema of the page that an answer holds. */
export const pageRead = {
  total: count('Number of items on all pages.'),
  limit: count('Maximum number of items on a page.'),
  offset: count('Number of items skipped.'),
};
