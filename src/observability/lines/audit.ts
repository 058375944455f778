import type { AuditEvent } from '../../domain/identity/audit.js';
import { defineLines, type NoteLine } from '../line.js';

const events = {
  signedIn: {
    level: 'info',
    message: 'Somebody signed in',
    when:
      'In the console. `address` is the network address, `with` is `key` or `link`, and later lines have the ' +
      '`sign_in_id`. If there are several `projects`, `project_id` and `key_id` are the first.',
  },
  signedOut: {
    level: 'info',
    message: 'Somebody signed out',
    when: 'Also if the browser signed in again. `sign_in_id` has ended.',
  },
  signInEnded: {
    level: 'info',
    message: 'A sign-in was ended',
    when: 'The access of the sign-in `subject_id` to the project ended, or an unused link.',
  },
  personInvited: {
    level: 'info',
    message: 'Somebody was invited',
    when: 'The user `subject_id` was created, with a key of this `access` and a link that signs in.',
  },
  keyMade: {
    level: 'info',
    message: 'An API key was made',
    when: 'The key `subject_id`, with this `access`; without `user_id`, by the server at startup.',
  },
  keyRevoked: { level: 'info', message: 'An API key was revoked', when: 'The key `subject_id`.' },
  projectMade: {
    level: 'info',
    message: 'A project was made',
    when: 'By the server at startup: the first project, or the one of `SPANHOUSE_INIT_PROJECT_ID`.',
  },
  projectDeleted: {
    level: 'info',
    message: 'A project was deleted',
    when: 'Its keys are refused from then on; the rest is deleted in the background.',
  },
  spanDeleted: {
    level: 'info',
    message: 'A span was deleted',
    when: 'The deletion of the span `subject_id` was ordered, and will be completed in any case.',
  },
  traceDeleted: {
    level: 'info',
    message: 'A trace was deleted',
    when: 'As for a span. `retentionFinished` reports what retention removes.',
  },
  sessionDeleted: { level: 'info', message: 'A session was deleted', when: 'As for a span.' },
  retentionChanged: {
    level: 'info',
    message: 'The retention of a project was set',
    when: '`retention_days` is the new value; null: forever.',
  },
  priceSet: { level: 'info', message: 'A price of a model was set', when: 'A project set or replaced a price.' },
  priceRemoved: { level: 'info', message: 'A price of a model was removed', when: 'List prices apply again.' },
  judgeMade: { level: 'info', message: 'A judge was made', when: 'The judge `subject_id`.' },
  judgeChanged: {
    level: 'info',
    message: 'A judge was changed',
    when: 'The judge `subject_id`, or its prompt through it.',
  },
  judgeDeleted: { level: 'info', message: 'A judge was deleted', when: 'The judge `subject_id`.' },
  tagMoved: {
    level: 'info',
    message: 'A tag of a prompt was moved',
    when: 'It points to the version of the prompt with the id `subject_id` (`prompt_version_id`).',
  },
  tagRemoved: {
    level: 'info',
    message: 'A tag of a prompt was removed',
    when: 'It pointed to the version of the prompt with the id `subject_id`.',
  },
  linkMade: { level: 'info', message: 'A feedback link was made', when: 'The link `subject_id`.' },
  linkChanged: {
    level: 'info',
    message: 'A feedback link was changed',
    when: 'The link `subject_id` got a new expiry; if it had expired, it works again.',
  },
  linkRevoked: { level: 'info', message: 'A feedback link was revoked', when: 'The link `subject_id`.' },
  metadataImported: {
    level: 'info',
    message: 'Records were imported',
    when:
      '`stored` records of this `part` of an export, such as judges or prices, were new. Imported spans have no ' +
      'line.',
  },
} as const satisfies Readonly<Record<AuditEvent, NoteLine>>;

/** What people and programs did, by ids. */
export const auditLines = defineLines({
  ...events,
  auditNotListed: {
    level: 'info',
    message: 'More was done in a minute than the log lists',
    when:
      'There are at most 100 lines per minute for each event, project and user; `count` further ones are written ' +
      'only at level `debug`. `what` is the event.',
  },
});
