import { count } from './parts.js';

/** Part of something ordered. */
export interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** Which part an answer holds. */
export const pageRead = {
  total: count('How many there are on all pages.'),
  limit: count('How many a page has at most.'),
  offset: count('How many were passed over.'),
};
