import { count } from './parts.js';

/** A page of an ordered list: how many items, after how many. */
export interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** Schema of the page that an answer holds. */
export const pageRead = {
  total: count('How many there are on all pages.'),
  limit: count('How many a page has at most.'),
  offset: count('How many were passed over.'),
};
