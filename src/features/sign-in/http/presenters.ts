import { signInUrl, type ListedSignIn, type OwnSignIn, type SignInPreview } from '../../../engine/identity/sign-in.js';
import type { Invitation } from '../../../engine/identity/invitation-service.js';
import type { Principal } from '../../../engine/identity/identity.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import type {
  Invitation as InvitationRead,
  OwnSessionRead,
  SignInPreview as SignInPreviewRead,
  SignInRead,
} from './schema.js';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Id and name alone of something that has more. */
export const named = ({ id, name }: Named): Named => ({ id, name });

/** @param current the user signed in now @param joinable whether they may take it, as an invitation */
export function toSignInPreviewRead(
  { user, projects }: SignInPreview,
  current: Named | undefined,
  joinable: boolean,
): SignInPreviewRead {
  return {
    user: named(user),
    projects: projects.map((project) => ({ ...named(project), access: project.access, role: project.role })),
    current: current === undefined ? null : named(current),
    joinable,
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

/** What every session is shown with. @param currentId the sign-in that the request came by */
function shown<Session extends OwnSignIn | ListedSignIn>(session: Session, currentId: string | null) {
  const { id, created_at, last_used_at, expires_at } = session;
  return {
    ...session,
    current: id === currentId,
    created_at: formatTimestamp(created_at),
    last_used_at: formatOptionalTimestamp(last_used_at),
    expires_at: formatTimestamp(expires_at),
  };
}

/** @param by who asks: only admins learn from where others sign in */
export function toSignInRead(signIn: ListedSignIn, by: Pick<Principal, 'sign_in_id' | 'scopes'>): SignInRead {
  const address = by.scopes.has('admin') ? signIn.address : null;
  return { ...shown(signIn, by.sign_in_id), address };
}

export function toOwnSessionRead(session: OwnSignIn, currentId: string): OwnSessionRead {
  return { ...shown(session, currentId), projects: session.projects.map(named) };
}
