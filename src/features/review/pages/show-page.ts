import { Type } from '@sinclair/typebox';
import { queryOf } from '../../../http/query.js';
import { defineRoute } from '../../../http/route.js';
import { TAG } from '../../feedback/http/schema.js';
import type { ReviewAdmission } from './admission.js';
import type { ReviewPages } from './review-pages.js';
import { PageQuery, TokenParams } from './schema.js';

export function showReviewPageRoute(pages: ReviewPages, admission: ReviewAdmission) {
  return defineRoute({
    method: 'GET',
    path: '/f/:token',
    operationId: 'getReviewPage',
    summary: 'The page of a feedback link',
    description:
      "Shows a prompt's recent completions one by one and takes feedback on them, without account or API key. A token that " +
      'is wrong, expired or revoked is answered 404.',
    tag: TAG,
    access: 'public',
    params: TokenParams,
    query: queryOf(PageQuery),
    responses: {
      200: { description: 'The page.', contentType: 'text/html', schema: Type.String({ description: 'HTML.' }) },
    },
    errors: ['not_found', 'overloaded', 'unavailable'],
    renderError: admission.renderError,
    admit: (opening) => admission.admit(opening, { ownSiteOnly: false }),
    handle: ({ params: { token }, query, headers, remoteAddress, signal }) =>
      admission.counted('shown', () => pages.show(pages.visit(token, { headers, remoteAddress }, signal), query)),
  });
}
