import type { ReviewService } from '../review-service.js';
import type { ReviewTextLimits } from '../schema.js';
import { ReviewAdmission } from './admission.js';
import { ReviewAccess, type RequestsPerMinute } from './access.js';
import { reviewAssets } from './assets.js';
import { postReviewRoute } from './post-review.js';
import { ReviewSigner } from './review-cookie.js';
import { ReviewForm } from './review-form.js';
import { ReviewPages } from './review-pages.js';
import { showReviewPageRoute } from './show-page.js';
import type { Signals } from '../../../engine/signals/signals.js';

export interface ReviewRoutesParts {
  readonly reviews: ReviewService;
  /** Signs what browsers give back. */
  readonly secret: Buffer;
  /** Base of the URLs handed out, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly trustedProxies: number;
  readonly requestsPerMinute: RequestsPerMinute;
  readonly textLimits: ReviewTextLimits;
  readonly observer: Pick<Signals, 'reviewRequested'>;
}

/** The pages of feedback links. */
export function reviewRoutes({
  reviews,
  secret,
  baseUrl,
  trustedProxies,
  requestsPerMinute,
  textLimits,
  observer,
}: ReviewRoutesParts) {
  const { version, routes } = reviewAssets();
  const signer = new ReviewSigner(secret);
  const access = new ReviewAccess(trustedProxies, requestsPerMinute);
  const pages = new ReviewPages({ reviews, signer, access, textLimits, baseUrl, assetsVersion: version });
  const admission = new ReviewAdmission({
    reviews,
    access,
    observer,
    baseUrl,
    message: (title, text) => pages.message(title, text),
  });
  const form = new ReviewForm(textLimits);
  return [
    showReviewPageRoute(pages, admission),
    postReviewRoute({ pages, reviews, signer, admission, form }),
    ...routes,
  ];
}
