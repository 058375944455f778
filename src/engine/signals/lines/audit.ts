import type { AuditEvent } from '../../identity/audit.js';
import { defineLines, type NoteLine } from '../line.js';

const events = {
  signedIn: {
    level: 'info',
    message: 'User signed in',
    when: 'A user signed in to the console; `address` is the network, `with` is `key` or `link`, and later lines name `sign_in_id`. With several `projects`, `project_id` and `key_id` are the first.',
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
    when: 'The user `subject_id` was created, with a key of this `access` and a sign-in link.',
  },
  keyMade: {
    level: 'info',
    message: 'API key created',
    when: 'The key `subject_id`, with this `access`; without `user_id` if created at server start.',
  },
  keyRevoked: { level: 'info', message: 'API key revoked', when: 'The key `subject_id`.' },
  projectMade: {
    level: 'info',
    message: 'Project created',
    when: 'At server start: the first project, or the one of `SPANHOUSE_INIT_PROJECT_ID`.',
  },
  projectDeleted: {
    level: 'info',
    message: 'Project deletion requested',
    when: 'Its keys are rejected from then on; a background job deletes the rest.',
  },
  spanDeleted: {
    level: 'info',
    message: 'Span deletion requested',
    when: 'The deletion of the span `subject_id` was accepted and will complete, even after a crash.',
  },
  traceDeleted: {
    level: 'info',
    message: 'Trace deletion requested',
    when: 'As for a span. `retentionFinished` reports what retention removes.',
  },
  sessionDeleted: { level: 'info', message: 'Session deletion requested', when: 'As for a span.' },
  retentionChanged: {
    level: 'info',
    message: 'Project retention changed',
    when: '`retention_days` is the new value; null: forever.',
  },
  priceSet: { level: 'info', message: 'Model price set', when: 'A project set or replaced a price.' },
  priceRemoved: { level: 'info', message: 'Model price removed', when: 'List prices apply again.' },
  judgeMade: { level: 'info', message: 'Judge created', when: 'The judge `subject_id`.' },
  judgeChanged: {
    level: 'info',
    message: 'Judge changed',
    when: 'The judge `subject_id`, or its prompt through the judge.',
  },
  judgeDeleted: { level: 'info', message: 'Judge deleted', when: 'The judge `subject_id`.' },
  tagMoved: {
    level: 'info',
    message: 'Prompt tag moved',
    when: 'It points to the version of the prompt with the id `subject_id` (`prompt_version_id`).',
  },
  tagRemoved: {
    level: 'info',
    message: 'Prompt tag removed',
    when: 'It pointed to the version of the prompt with the id `subject_id`.',
  },
  linkMade: { level: 'info', message: 'Feedback link created', when: 'The link `subject_id`.' },
  linkChanged: {
    level: 'info',
    message: 'Feedback link changed',
    when: 'The expiry of the link `subject_id` changed; an expired link may be open again.',
  },
  linkRevoked: { level: 'info', message: 'Feedback link revoked', when: 'The link `subject_id`.' },
  metadataImported: {
    level: 'info',
    message: 'Records imported',
    when: 'Of this `part` of an export, such as judges or prices, `stored` were new. Imported spans are not logged.',
  },
} as const satisfies Readonly<Record<AuditEvent, NoteLine>>;

/** What people and programs did, by ids. */
export const auditLines = defineLines({
  ...events,
  auditNotListed: {
    level: 'info',
    message: 'Audit log limit reached for this minute',
    when: 'The log lists at most 100 lines per minute for one event, project and user; `count` more are logged only at level `debug`. `what` is the event.',
  },
});
