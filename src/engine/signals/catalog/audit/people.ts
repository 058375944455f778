import type { Line } from '../../signal.js';

/** Who has access to projects, and what becomes of these. */
export const peopleLines = {
  signedIn: {
    level: 'info',
    message: 'User signed in',
    when: 'A user signed in to the console; `address` is the network, `with` is `key`, `link`, `oidc` or `proxy`, and later lines name `sign_in_id`. With several `projects`, `project_id` and `key_id` are the first.',
  },
  signedOut: {
    level: 'info',
    message: 'User signed out',
    when: 'Also when the browser signs in again; `sign_in_id` has ended.',
  },
  signInEnded: {
    level: 'info',
    message: 'Session ended',
    when: 'The session `subject_id` lost access to the project, or an unused link was revoked.',
  },
  personInvited: {
    level: 'info',
    message: 'User invited',
    when: 'The user `subject_id` was created, with this `role` in the project and a sign-in link.',
  },
  personJoined: {
    level: 'info',
    message: 'User joined a project',
    when: 'The user `subject_id` has this `role` from then on, by an invitation, their groups or a command.',
  },
  roleChanged: { level: 'info', message: 'Role changed', when: 'The user `subject_id` has this `role` from then on.' },
  personRemoved: {
    level: 'info',
    message: 'User removed from a project',
    when: 'From then on, the keys of the user `subject_id` in the project are rejected, and their sessions lose access to it.',
  },
  keyMade: {
    level: 'info',
    message: 'API key created',
    when: 'The key `subject_id`, with this `access` (and these `scopes`, if it is `custom`); without `user_id` if created at server start.',
  },
  keyRotated: {
    level: 'info',
    message: 'API key rotated',
    when: 'The key `subject_id` is replaced and expires. The entry before is about the new key.',
  },
  keyRevoked: {
    level: 'info',
    message: 'API key revoked',
    when: 'The key `subject_id`.',
  },
  projectMade: {
    level: 'info',
    message: 'Project created',
    when: 'By a user, who owns it; or at server start: the first project, or the one of `SPANHOUSE_INIT_PROJECT_ID`.',
  },
  projectRenamed: {
    level: 'info',
    message: 'Project renamed',
    when: 'A name of the project was set.',
  },
  projectDeleted: {
    level: 'info',
    message: 'Project deletion requested',
    when: 'Its keys are rejected from then on; a background job deletes the rest.',
  },
} satisfies Readonly<Record<string, Line>>;
