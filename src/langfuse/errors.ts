import type { ErrorRenderer } from '../http/route.js';

/** Clients of Langfuse show the field `message` of an error, and some tell kinds of them by `error`. */
export const renderError: ErrorRenderer = (problem) => ({
  contentType: 'application/problem+json',
  content: JSON.stringify({ ...problem, message: problem.detail, error: problem.title }),
});
