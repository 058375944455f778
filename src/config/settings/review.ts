import { whole } from './kinds.js';

/** Pages of feedback links. */
export const reviewSettings = {
  REVIEW_TEXT_MAX_CHARACTERS: whole({
    default: 16_000,
    minimum: 100,
    maximum: 100_000,
    description:
      'Maximum length of a text that a reviewer sends through a feedback link, as a reason or a better answer. ' +
      'Longer texts get 422. Request bodies larger than such fields can be get 413.',
  }),
  REVIEW_MAX_REVIEWERS: whole({
    default: 1000,
    minimum: 4,
    maximum: 100_000,
    description:
      'Maximum number of reviewers of one feedback link. One network (an IPv4 address, or a /48 of IPv6) may have ' +
      'as many as are left free, which is half if it is the only one. Further reviewers get 422.',
  }),
  REVIEW_MAX_MB: whole({
    default: 64,
    minimum: 1,
    maximum: 65_536,
    description:
      'Maximum total size of the texts that reviewers of one feedback link send. One network may send as much as is ' +
      'left free.',
  }),
  REVIEW_REQUESTS_PER_MINUTE: whole({
    default: 600,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Maximum number of requests per minute for one feedback link. Further requests get 429.',
  }),
  REVIEW_ADDRESS_REQUESTS_PER_MINUTE: whole({
    default: 300,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Maximum number of requests per minute for feedback links from one address, which may be an office full of ' +
      'reviewers. Further requests get 429.',
  }),
};
