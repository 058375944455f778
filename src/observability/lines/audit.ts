import type { AuditEvent } from '../../domain/identity/audit.js';
import { defineLines, type NoteLine } from '../line.js';

const events = {
  signedIn: {
    level: 'info',
    message: 'Somebody signed in',
    when: 'To the console; `address` is the network it came from, `with` whether by a `key` or a `link`, `sign_in_id` what later lines name. Of several `projects`, `project_id` and `key_id` are the first.',
  },
  signedOut: {
    level: 'info',
    message: 'Somebody signed out',
    when: 'Also when the browser signed in anew; `sign_in_id` has ended.',
  },
  signInEnded: {
    level: 'info',
    message: 'A sign-in was ended',
    when: 'What the sign-in `subject_id` opened of the project was ended, or a link that nobody had used.',
  },
  personInvited: {
    level: 'info',
    message: 'Somebody was invited',
    when: 'The user `subject_id` was made, with a key of this `access` and a link that signs in.',
  },
  keyMade: {
    level: 'info',
    message: 'An API key was made',
    when: 'The key `subject_id`, with this `access`; without `user_id` by the start of the server.',
  },
  keyRevoked: { level: 'info', message: 'An API key was revoked', when: 'The key `subject_id`.' },
  projectMade: {
    level: 'info',
    message: 'A project was made',
    when: 'By the start of the server: the first, or the one of `SPANHOUSE_INIT_PROJECT_ID`.',
  },
  projectDeleted: {
    level: 'info',
    message: 'A project was deleted',
    when: 'Its keys are refused from then on; the rest goes in the background.',
  },
  spanDeleted: {
    level: 'info',
    message: 'A span was deleted',
    when: 'The deletion of the span `subject_id` was ordered, and is completed whatever happens.',
  },
  traceDeleted: {
    level: 'info',
    message: 'A trace was deleted',
    when: 'As for a span. What retention removes is told by `retentionFinished`.',
  },
  sessionDeleted: { level: 'info', message: 'A session was deleted', when: 'As for a span.' },
  retentionChanged: {
    level: 'info',
    message: 'The retention of a project was set',
    when: '`retention_days` is what it is from then on; null: for ever.',
  },
  priceSet: { level: 'info', message: 'A price of a model was set', when: 'A project set or replaced a price.' },
  priceRemoved: { level: 'info', message: 'A price of a model was removed', when: 'List prices apply again.' },
  judgeMade: { level: 'info', message: 'A judge was made', when: 'The judge `subject_id`.' },
  judgeChanged: { level: 'info', message: 'A judge was changed', when: 'The judge `subject_id`, or its prompt by it.' },
  judgeDeleted: { level: 'info', message: 'A judge was deleted', when: 'The judge `subject_id`.' },
  tagMoved: {
    level: 'info',
    message: 'A tag of a prompt was moved',
    when: 'It points at the version of the prompt with the id `subject_id` (`prompt_version_id`).',
  },
  tagRemoved: {
    level: 'info',
    message: 'A tag of a prompt was removed',
    when: 'It pointed at the version of the prompt with the id `subject_id`.',
  },
  linkMade: { level: 'info', message: 'A feedback link was made', when: 'The link `subject_id`.' },
  linkChanged: {
    level: 'info',
    message: 'A feedback link was changed',
    when: 'When the link `subject_id` expires; one that had expired is open again.',
  },
  linkRevoked: { level: 'info', message: 'A feedback link was revoked', when: 'The link `subject_id`.' },
  metadataImported: {
    level: 'info',
    message: 'Records were imported',
    when: 'Of this `part` of an export, such as judges or prices, `stored` were new. Imported spans have no line.',
  },
} as const satisfies Readonly<Record<AuditEvent, NoteLine>>;

/** What people and programs did, by ids. */
export const auditLines = defineLines({
  ...events,
  auditNotListed: {
    level: 'info',
    message: 'More was done in a minute than the log lists',
    when: 'Of one event, project and user, a minute has at most 100 lines; `count` more are at level `debug` alone. `what` is the event.',
  },
});
