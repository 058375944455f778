import { signInUrl, type ListedSignIn } from '../../../../domain/identity/sign-in.js';
import type { Invitation } from '../../../../domain/identity/sign-in-service.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../../domain/time/timestamp.js';
import type { Invitation as InvitationRead, SignInRead } from './schema.js';

export function toInvitationRead(invitation: Invitation, baseUrl: string): InvitationRead {
  const { expires_at, user } = invitation;
  return {
    url: signInUrl(baseUrl, invitation.code),
    expires_at: formatTimestamp(expires_at),
    user: { id: user.id, name: user.name },
  };
}

/** @param currentId the sign-in that the request came by */
export function toSignInRead(signIn: ListedSignIn, currentId: string | null): SignInRead {
  const { id, created_at, last_used_at, expires_at } = signIn;
  return {
    ...signIn,
    current: id === currentId,
    created_at: formatTimestamp(created_at),
    last_used_at: formatOptionalTimestamp(last_used_at),
    expires_at: formatTimestamp(expires_at),
  };
}
