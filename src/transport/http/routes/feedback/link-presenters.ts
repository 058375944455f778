import type { CreatedLink, FeedbackLink } from '../../../../domain/review/feedback-link.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../../domain/time/timestamp.js';
import type { LinkRead } from './link-schema.js';

/** A link that was made earlier: its URL is kept nowhere. */
export function toLinkRead(link: FeedbackLink): LinkRead {
  return linkRead(link, null);
}

export function toCreatedLinkRead(link: CreatedLink): LinkRead {
  return linkRead(link, link.url);
}

function linkRead(link: FeedbackLink, url: string | null): LinkRead {
  return {
    id: link.id,
    url,
    prompt_slug: link.prompt_slug,
    link_type: link.link_type,
    created_at: formatTimestamp(link.created_at),
    expires_at: formatTimestamp(link.expires_at),
    revoked_at: formatOptionalTimestamp(link.revoked_at),
  };
}
