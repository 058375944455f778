import type { MetricMaker } from './maker.js';

/** What people do: with prompts, with feedback, and when they sign in. */
export function peopleMetrics({ counter }: MetricMaker) {
  return {
    promptFetches: counter('spanhouse_prompt_fetches_total', 'Prompt fetches, by result: cached, read, not_found.', [
      'result',
    ]),
    feedbackAccepted: counter(
      'spanhouse_feedback_accepted_total',
      'Feedback stored, by source (api, link) and thumb (up, down).',
      ['source', 'thumb'],
    ),
    reviewRequests: counter(
      'spanhouse_feedback_page_requests_total',
      'Requests to feedback link pages, by result: shown, saved, invalid, not_found, forbidden, limited, failed.',
      ['result'],
    ),
    signIns: counter(
      'spanhouse_sign_ins_total',
      'Sign-in attempts, by result: signed_in, unauthenticated, forbidden, overloaded.',
      ['result'],
    ),
  };
}
