import type { Static } from '@sinclair/typebox';
import type { FeedbackPageRead } from '../../../../../domain/feedback/list-schema.js';
import { call } from '../../state/api.js';
import { useQuery, type Answer } from '../../state/query.js';

/** The feedback that came by a link, newest first. */
export function useLinkFeedback(
  id: string,
  query: Readonly<Record<string, string | number>>,
  { enabled = true } = {},
): Answer<Static<typeof FeedbackPageRead>> {
  const path = `/feedback-links/${encodeURIComponent(id)}/feedback`;
  return useQuery({
    key: ['/feedback-links', id, 'feedback', query],
    ask: (signal) => call<Static<typeof FeedbackPageRead>>(path, { query, signal }),
    enabled,
  });
}
