import { signInUrl, type ListedSignIn, type SignInPreview } from '../../../engine/identity/sign-in.js';
import type { Invitation } from '../../../engine/identity/sign-in-service.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import type { Invitation as InvitationRead, SignInPreview as SignInPreviewRead, SignInRead } from './schema.js';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Id and name alone of something that has more. */
export const named = ({ id, name }: Named): Named => ({ id, name });

/** @param current the user signed in now */
export function toSignInPreviewRead({ user, projects }: SignInPreview, current: Named | undefined): SignInPreviewRead {
  return {
    user: named(user),
    projects: projects.map((project) => ({ ...named(project), access: project.access })),
    current: current === undefined ? null : named(current),
  };
}

export function toInvitationRead(invitation: Invitation, baseUrl: string): InvitationRead {
  const { expires_at, user } = invitation;
  return {
    url: signInUrl(baseUrl, invitation.code),
    expires_at: formatTimestamp(expires_at),
    user: named(user),
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
