import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../../engine/errors.js';
import { FeedbackRead } from '../../feedback/schema.js';
import type { ReviewService } from '../review-service.js';
import { NAMELESS } from '../review-service.js';
import { UUID } from '../../../engine/schema/ids.js';
import { invalid } from '../../../engine/validation/validation.js';
import { defineRoute, type ResultOf } from '../../../http/route.js';
import { feedbackRead } from '../../feedback/http/presenters.js';
import { TAG } from '../../feedback/http/schema.js';
import { isVouchedFor } from './access.js';
import type { ReviewAdmission } from './admission.js';
import type { ReviewSigner } from './review-cookie.js';
import { formValues, type ReviewForm, type SentReview } from './review-form.js';
import type { ReviewPages, Visit } from './review-pages.js';
import { TokenParams } from './schema.js';
import { PAGE_HEADERS } from './shell.js';

const RESPONSES = {
  200: { description: 'The feedback as stored, when JSON was sent.', schema: FeedbackRead },
  303: { description: 'Redirect to the next page, when a form was sent.' },
};
type Answer = ResultOf<typeof RESPONSES>;

export interface PostReviewParts {
  readonly pages: ReviewPages;
  readonly reviews: Pick<ReviewService, 'submit'>;
  readonly signer: Pick<ReviewSigner, 'isFormValue'>;
  readonly admission: ReviewAdmission;
  readonly form: ReviewForm;
}

export function postReviewRoute({ pages, reviews, signer, admission, form }: PostReviewParts) {
  /** The name that comes with the review, else the one given before, which no other site's form can rely on. */
  const nameOf = (visit: Visit, { fields }: SentReview, headers: IncomingHttpHeaders): string => {
    const given = fields['reviewer_name'];
    if (typeof given === 'string' && given.trim() !== '') return given;
    const { name } = visit.memory;
    const [id, signed] = [fields['completion_id'], fields['form']];
    if (name === null || isVouchedFor(headers)) return name ?? '';
    const ours =
      typeof id === 'string' &&
      typeof signed === 'string' &&
      signer.isFormValue(signed, visit.link.id, id, pages.claim(visit, name));
    return ours ? name : '';
  };
  const take = async (visit: Visit, sent: SentReview, from: IncomingHttpHeaders): Promise<Answer> => {
    const name = nameOf(visit, sent, from);
    const read = form.read(sent.fields);
    if ('issues' in read) throw invalid([...(name === '' ? [NAMELESS] : []), ...read.issues]);
    const feedback = await reviews.submit(visit.link, pages.claim(visit, name), read.review, visit.signal);
    if (sent.byForm) return pages.saved(visit, name, feedback.completion_id);
    const headers = { ...PAGE_HEADERS, 'Set-Cookie': pages.remembered(visit, name) };
    return { status: 200, body: feedbackRead(feedback), headers };
  };
  return defineRoute({
    method: 'POST',
    path: '/f/:token/feedback',
    operationId: 'postReview',
    summary: 'Give feedback by a feedback link',
    description:
      'Stores what the form of a feedback link sends: feedback of a reviewer with the given name. Sent again by the same reviewer, it ' +
      'replaces the earlier feedback. A reviewer is known by the name and the cookie that the page set; without a cookie, by ' +
      'the name and the network that the request comes from. A form is answered with a redirect to the next completion, ' +
      'JSON with the feedback as it is kept.',
    tag: TAG,
    access: 'public',
    params: TokenParams,
    body: form.body,
    responses: RESPONSES,
    errors: ['forbidden', 'not_found', 'unavailable'],
    renderError: admission.renderError,
    admit: (opening) => admission.admit(opening, { ownSiteOnly: true }),
    handle: ({ params: { token }, body, headers, remoteAddress, signal }) =>
      admission.counted('saved', async () => {
        const visit = pages.visitOfSender(token, { headers, remoteAddress }, signal);
        try {
          return await take(visit, body, headers);
        } catch (error) {
          const again = body.byForm && error instanceof DomainError && error.kind === 'invalid';
          const page = again ? await formAgain(pages, visit, body, error) : null;
          if (page === null) throw error;
          return page;
        }
      }),
  });
}

/** A person gets the form back as it was filled in. */
async function formAgain(
  pages: ReviewPages,
  visit: Visit,
  { fields }: SentReview,
  { issues }: DomainError,
): Promise<Answer | null> {
  const id = fields['completion_id'];
  if (typeof id !== 'string' || !UUID.test(id)) return null;
  return pages.refused(visit, id, { values: formValues(fields), issues });
}
