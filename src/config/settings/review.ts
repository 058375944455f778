import { whole } from './kinds.js';

/** Pages of feedback links. */
export const reviewSettings = {
  REVIEW_TEXT_MAX_CHARACTERS: whole({
    default: 16_000,
    minimum: 100,
    maximum: 100_000,
    description:
      'Longest text that a reviewer may send by a feedback link, as a reason or as a better answer; a longer one is ' +
      'answered 422. Larger request bodies than such fields can make up are answered 413.',
  }),
  REVIEW_MAX_REVIEWERS: whole({
    default: 1000,
    minimum: 4,
    maximum: 100_000,
    description:
      'Most reviewers of one feedback link. One network (an address of IPv4, or a /48 of IPv6) may have as many as are left free, so ' +
      'half of them when it is the only one; more are answered 422.',
  }),
  REVIEW_MAX_MB: whole({
    default: 64,
    minimum: 1,
    maximum: 65_536,
    description:
      'Most text that the reviewers of one feedback link may send together; one network may send as much as is left free.',
  }),
  REVIEW_REQUESTS_PER_MINUTE: whole({
    default: 600,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Most requests a minute for one feedback link; more are answered 429.',
  }),
  REVIEW_ADDRESS_REQUESTS_PER_MINUTE: whole({
    default: 300,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Most requests a minute for feedback links from one address, which may be an office full of reviewers; more are answered 429.',
  }),
};
