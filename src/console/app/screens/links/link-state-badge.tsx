import type { LinkRead } from '../../../../features/review/http/schema.js';
import { linkState } from '../../../model/link-state.js';

const LOOKS = { open: 'good', expired: '', revoked: 'bad' } as const;

export function LinkStateBadge({ link }: { readonly link: Pick<LinkRead, 'expires_at' | 'revoked_at'> }) {
  const state = linkState(link);
  return <span class={`badge ${LOOKS[state]}`}>{state}</span>;
}
