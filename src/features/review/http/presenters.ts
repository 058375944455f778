import type { CreatedLink, FeedbackLink, ListedLink } from '../feedback-link.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import type { CreatedLinkRead, LinkRead, ListedLinkRead } from './schema.js';

/** A link that was made earlier: its URL is kept nowhere. */
export function toListedLinkRead(link: ListedLink): ListedLinkRead {
  const { creator_id: id, creator_name: name, reviewer_count } = link;
  return { ...linkRead(link, null), created_by: { id, name }, reviewer_count };
}

export function toCreatedLinkRead(link: CreatedLink): CreatedLinkRead {
  return { ...linkRead(link, link.url), note: link.opens_here_only ? HERE_ONLY : null };
}

const HERE_ONLY =
  'This URL works only on the server machine. To share links, start the server with PUBLIC_URL set to the address ' +
  'that others use; this link then works there too, with the same path.';

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
