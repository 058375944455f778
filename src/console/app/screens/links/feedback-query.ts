import { call, type QueryOf } from '../../state/api.js';
import { useQuery } from '../../state/query.js';

const FEEDBACK = 'GET /feedback-links/:link_id/feedback';

/** The feedback that came by a link, newest first. */
export function useLinkFeedback(id: string, query: QueryOf<typeof FEEDBACK>, { enabled = true } = {}) {
  return useQuery({
    key: ['/feedback-links', id, 'feedback', query],
    ask: (signal) => call(FEEDBACK, { params: { link_id: id }, query, signal }),
    enabled,
  });
}
