import { DomainError } from '../errors.js';
import type { Micros } from '../timestamp.js';
import type { RequestOrigin } from '../signals/catalog/audit.js';
import { inTransaction, NO_AUDIT_LOG, type AuditLog } from './audit.js';
import type { Granter } from './granting.js';
import type { Project, User } from './identity.js';
import type { IdentityService } from './identity-service.js';
import type { Role } from './roles.js';
import type { SignInService } from './sign-in-service.js';
import type { HandedOutCode, SignIn } from './sign-in.js';
import type { SignInStore } from './sign-in-store.js';

/** Bound on users that no one is. */
const MAX_UNUSED_INVITES = 100;

export interface Invite {
  readonly name: string;
  readonly role: Role;
}

export interface Invitation extends HandedOutCode {
  readonly user: User;
}

export interface InvitationServiceParts {
  readonly store: SignInStore;
  readonly identity: IdentityService;
  readonly signIns: SignInService;
  readonly now?: () => Micros;
  readonly audit?: AuditLog;
}

/** Invites people to a project by a link: someone new, or a person who is signed in already. */
export class InvitationService {
  readonly #store: SignInStore;
  readonly #identity: IdentityService;
  readonly #signIns: SignInService;
  readonly #now: () => Micros;
  readonly #audit: AuditLog;

  constructor({ store, identity, signIns, now, audit }: InvitationServiceParts) {
    this.#store = store;
    this.#identity = identity;
    this.#signIns = signIns;
    this.#now = now ?? (() => Date.now() * 1000);
    this.#audit = audit ?? NO_AUDIT_LOG;
  }

  /** Makes a user who is one of the people of a project, and a code for them. @throws DomainError `conflict`, `forbidden` */
  invite(projectId: string, { name, role }: Invite, by: Granter): Invitation {
    const { members } = this.#identity;
    this.#signIns.tidy();
    return inTransaction(this.#audit, this.#store, () => {
      members.requireRoleGrant(by, projectId, role);
      if (this.#store.countInvites(projectId, this.#now()) >= MAX_UNUSED_INVITES)
        throw new DomainError('conflict', `${MAX_UNUSED_INVITES} invitations are unused: revoke some, or wait an hour`);
      const user = this.#identity.createUser({ name, invited: true });
      const { key_id } = members.add(projectId, user.id, role);
      this.#audit.done({ event: 'personInvited', by, project_id: projectId, subject_id: user.id, role });
      return { user, ...this.#signIns.handOutCode(user.id, [{ id: key_id }], true) };
    });
  }

  /**
   * Accepts an invitation as the person who is signed in, instead of as someone new. The session opens the project from then on. A link
   * never gives anybody the sessions or the projects of someone who exists: no one can sign in as them by it.
   * @throws DomainError `unauthenticated` for an unknown or used code, `conflict` for one that is no invitation, or for a project that
   *   the person has already
   * @param origin the request, with the network of its client
   */
  join(session: SignIn, code: string, origin?: RequestOrigin): Pick<Project, 'id' | 'name'> {
    return inTransaction(this.#audit, this.#store, () => {
      const { id, user_id, invited, keys } = this.#signIns.ofCode(code);
      const [key] = keys;
      const role = key && this.#identity.members.roleOf(key.project_id, user_id);
      if (!invited || key === undefined || role == null)
        throw new DomainError('conflict', 'This link signs in an existing person and is not an invitation');
      const { project_id } = key;
      const { project } = this.#identity.describe({ user_id, project_id, key_id: key.id });
      const { user_id: subject_id } = session;
      const { key_id } = this.#identity.members.add(project_id, subject_id, role);
      this.#store.attach(session.id, key_id);
      this.#store.endInvite(id);
      const by = { user_id: subject_id, key_id, sign_in_id: session.id, ...(origin !== undefined && { origin }) };
      this.#audit.done({ event: 'personJoined', by, project_id, subject_id, role });
      return { id: project.id, name: project.name };
    });
  }
}
