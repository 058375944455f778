import type { Line, LineName, LogEvent } from '../signal.js';

const events = {
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
  sessionDeleted: {
    level: 'info',
    message: 'Session deletion requested',
    when: 'As for a span.',
  },
  datasetRowErased: {
    level: 'info',
    message: 'Erasure of a dataset row requested',
    when: 'As for a span. `subject_id` is the dataset. The id of the row is not logged, as it may be personal.',
  },
  selectionDeleted: {
    level: 'info',
    message: 'Deletion by filters requested',
    when: 'The job `subject_id` deletes `found` objects of the list `part`, as a dry run counted them.',
  },
  selectionDeletionCanceled: {
    level: 'info',
    message: 'Deletion by filters canceled',
    when: 'The job `subject_id`. What it had deleted stays deleted.',
  },
  exported: {
    level: 'info',
    message: 'List exported',
    when: 'A caller began to export the list `part` in this `format`.',
  },
  recordsExported: {
    level: 'info',
    message: 'Records exported',
    when: 'A caller began to export this `part` of the project.',
  },
  metadataImported: {
    level: 'info',
    message: 'Records imported',
    when: 'Of this `part` of an export, such as judges or prices, `stored` were new. Imported spans are not logged.',
  },
  scheduledExportCreated: {
    level: 'info',
    message: 'Scheduled export created',
    when: 'The export `subject_id` of a list to the bucket of the operator.',
  },
  scheduledExportChanged: {
    level: 'info',
    message: 'Scheduled export changed',
    when: 'The export `subject_id`: its name, how often it runs, or whether it is paused.',
  },
  scheduledExportRun: {
    level: 'info',
    message: 'Scheduled export started',
    when: 'The export `subject_id` runs now.',
  },
  scheduledExportDeleted: {
    level: 'info',
    message: 'Scheduled export deleted',
    when: 'The export `subject_id`.',
  },
  monitorCreated: { level: 'info', message: 'Monitor created', when: 'The monitor `subject_id`.' },
  monitorChanged: {
    level: 'info',
    message: 'Monitor changed',
    when: 'The monitor `subject_id`: its name or condition, or whether it is enabled or muted.',
  },
  monitorDeleted: { level: 'info', message: 'Monitor deleted', when: 'The monitor `subject_id`.' },
  webhookCreated: { level: 'info', message: 'Destination created', when: 'The destination `subject_id` of events.' },
  webhookChanged: {
    level: 'info',
    message: 'Destination changed',
    when: 'The destination `subject_id`: its name, target or events, or whether it is enabled.',
  },
  webhookRotated: {
    level: 'info',
    message: 'Secret of a destination rotated',
    when: 'The secret of the destination `subject_id` was replaced.',
  },
  webhookDeleted: { level: 'info', message: 'Destination deleted', when: 'The destination `subject_id` of events.' },
  savedViewCreated: {
    level: 'info',
    message: 'Saved view created',
    when: 'The saved view `subject_id`.',
  },
  savedViewChanged: {
    level: 'info',
    message: 'Saved view changed',
    when: 'The name, query or columns of the saved view `subject_id`.',
  },
  savedViewDeleted: {
    level: 'info',
    message: 'Saved view deleted',
    when: 'The saved view `subject_id`.',
  },
  dashboardCreated: {
    level: 'info',
    message: 'Dashboard created',
    when: 'The dashboard `subject_id`.',
  },
  dashboardChanged: {
    level: 'info',
    message: 'Dashboard changed',
    when: 'The name, window or charts of the dashboard `subject_id`.',
  },
  dashboardDeleted: {
    level: 'info',
    message: 'Dashboard deleted',
    when: 'The dashboard `subject_id`, with its charts.',
  },
  retentionChanged: {
    level: 'info',
    message: 'Project retention changed',
    when: '`retention_days` is the new value; null: forever.',
  },
  maskingSet: {
    level: 'info',
    message: 'Masking rules set',
    when: 'From then on, these rules mask data before it is stored.',
  },
  modelBudgetSet: {
    level: 'info',
    message: 'Model budget set',
    when: "What the server's own model calls may cost in a month, from then on.",
  },
  priceSet: {
    level: 'info',
    message: 'Model price set',
    when: 'A project set or replaced a price.',
  },
  priceRemoved: {
    level: 'info',
    message: 'Model price removed',
    when: 'List prices apply again.',
  },
  repriceOrdered: {
    level: 'info',
    message: 'Recalculation of costs requested',
    when: 'The job `subject_id` recalculates costs of stored spans.',
  },
  judgeMade: {
    level: 'info',
    message: 'Judge created',
    when: 'The judge `subject_id`.',
  },
  judgeChanged: {
    level: 'info',
    message: 'Judge changed',
    when: 'The judge `subject_id`, or its prompt through the judge.',
  },
  judgeDeleted: {
    level: 'info',
    message: 'Judge deleted',
    when: 'The judge `subject_id`.',
  },
  promptVersionMade: {
    level: 'info',
    message: 'Prompt version created',
    when: 'The version `subject_id`, also where it is the first of its prompt.',
  },
  promptVersionChanged: {
    level: 'info',
    message: 'Model of a prompt version set',
    when: 'The version `subject_id` was bound to a model, or to none.',
  },
  promptVersionDeleted: {
    level: 'info',
    message: 'Prompt version deleted',
    when: 'The version `subject_id`; with the last one, the prompt.',
  },
  tagMoved: {
    level: 'info',
    message: 'Prompt tag moved',
    when: 'It points to the prompt version `subject_id` (`prompt_version_id`).',
  },
  tagRemoved: {
    level: 'info',
    message: 'Prompt tag removed',
    when: 'It pointed to the prompt version `subject_id`.',
  },
  datasetMade: {
    level: 'info',
    message: 'Dataset created',
    when: 'The dataset `subject_id`. Its rows are not logged.',
  },
  datasetChanged: {
    level: 'info',
    message: 'Dataset changed',
    when: 'The name, description or roles of the dataset `subject_id`.',
  },
  datasetDeleted: {
    level: 'info',
    message: 'Dataset deleted',
    when: 'The dataset `subject_id`, with all its versions.',
  },
  experimentDeleted: {
    level: 'info',
    message: 'Experiment deleted',
    when: 'The experiment `subject_id`, with its results.',
  },
  scoreDeleted: {
    level: 'info',
    message: 'Score deleted',
    when: 'The score `subject_id`.',
  },
  scoreDefinitionSet: {
    level: 'info',
    message: 'Score definition set',
    when: 'The definition of a score name was created or replaced.',
  },
  scoreDefinitionDeleted: {
    level: 'info',
    message: 'Score definition deleted',
    when: 'Scores with this name may have any value again.',
  },
  linkMade: {
    level: 'info',
    message: 'Feedback link created',
    when: 'The link `subject_id`.',
  },
  linkChanged: {
    level: 'info',
    message: 'Feedback link changed',
    when: 'The expiry of the link `subject_id` changed; an expired link may be open again.',
  },
  linkRevoked: {
    level: 'info',
    message: 'Feedback link revoked',
    when: 'The link `subject_id`.',
  },
  commentDeleted: {
    level: 'info',
    message: 'Comment deleted',
    when: 'The comment `subject_id`, by its author or an admin.',
  },
  shareLinkMade: {
    level: 'info',
    message: 'Share link created',
    when: 'The link `subject_id` shows a trace to whoever has it.',
  },
  shareLinkRevoked: {
    level: 'info',
    message: 'Share link revoked',
    when: 'The link `subject_id`.',
  },
  sharingSet: {
    level: 'info',
    message: 'Share links allowed or forbidden',
    when: 'From then on, share links of the project work, or none does.',
  },
} satisfies Readonly<Record<string, Line>>;

/** What people and programs did, by ids. */
export const auditLines = {
  ...events,
  auditNotListed: {
    level: 'info',
    message: 'Audit log limit reached for this minute',
    when: 'The log lists at most 100 lines per minute for one event, project and user; `count` more are logged only at level `debug`. `what` is the event.',
  },
} satisfies Readonly<Record<string, Line>>;

/** What people and programs did that is asked about afterwards. */
export type AuditEvent = keyof typeof events;

/** What of a value may be told: never a text of a user's. */
export type ToldValue = string | number | boolean | null;

/** A field that is another now. Without `from` and `to`, its value is a text, which nobody is told. */
export interface AuditChange {
  readonly field: string;
  readonly from?: ToldValue;
  readonly to?: ToldValue;
}

/** Where a request came from, and by which id its client and the log know it. */
export interface RequestOrigin {
  readonly request_id: string;
  readonly address: string;
}

/** Something that was done. Whoever reads the log learns ids alone: no text, name or secret. */
export interface AuditRecord {
  readonly event: AuditEvent;
  /** Who did it; null: the server itself, or a command on its machine. */
  readonly by: {
    readonly user_id: string;
    readonly key_id: string;
    readonly sign_in_id: string | null;
    /** The request that it came by. */
    readonly origin?: RequestOrigin;
  } | null;
  readonly project_id: string;
  /** What was done, as the audit log names it: whoever keeps that says so. */
  readonly audit?: string;
  /** What it was done to; absent: the project, or something of it that has no id. */
  readonly subject_id?: string;
  /** What that is called. The audit log has it, the log has not. */
  readonly subject_name?: string;
  /** What is different now. The log names the fields. */
  readonly changes?: readonly AuditChange[];
  /** Of the key that was made. */
  readonly access?: string;
  /** Of the key that was made, where its access does not say them. */
  readonly scopes?: readonly string[];
  /** What somebody is in the project. */
  readonly role?: string;
  readonly retention_days?: number | null;
  /** Which part of an export was imported (its name in the path), and how many records of it; which list was deleted of. */
  readonly part?: string;
  readonly stored?: number;
  /** The format of an exported file. */
  readonly format?: string;
  /** How many objects a dry run found. */
  readonly found?: number;
  /** What was signed in with. */
  readonly with?: 'key' | 'link' | 'oidc' | 'proxy';
  /** How many projects a sign-in opens; `project_id` is the first. */
  readonly projects?: number;
}

/** Lines of one event, project and user in a minute: what somebody does a thousand times must hide nothing that others did. */
const LINES_A_MINUTE = 100;
const MINUTE_MS = 60_000;

/** What was done, by whom, as lines of the log. */
export function deriveAudit(log: LogEvent<LineName<typeof auditLines>>) {
  /** Of this minute. As many as there are projects and users: few calls make either. */
  const counts = new Map<string, { readonly first: AuditRecord; count: number }>();
  let minute: NodeJS.Timeout | undefined;
  /** Nothing is done any more: what was counted of this minute is logged now. */
  const auditEnded = (): void => {
    clearTimeout(minute);
    minute = undefined;
    for (const { first, count } of counts.values())
      if (count > LINES_A_MINUTE)
        log('auditNotListed', {
          what: first.event,
          project_id: first.project_id,
          ...(first.by === null ? {} : { user_id: first.by.user_id }),
          count: count - LINES_A_MINUTE,
        });
    counts.clear();
  };
  return {
    done(record: AuditRecord): void {
      const { event, by, subject_name: _name, changes = [], ...rest } = record;
      const changed = changes.length === 0 ? {} : { changed: changes.map(({ field }) => field) };
      const fields = { ...rest, ...changed };
      const of = `${event} ${record.project_id} ${by?.user_id ?? ''}`;
      const counted = counts.get(of) ?? { first: record, count: 0 };
      counted.count += 1;
      counts.set(of, counted);
      minute ??= setTimeout(auditEnded, MINUTE_MS).unref();
      log(event, { ...(by === null ? {} : whoOf(by)), ...fields }, counted.count > LINES_A_MINUTE);
    },
    auditEnded,
  };
}

/** Named one by one: of a principal, the log has no more. */
function whoOf({ user_id, key_id, sign_in_id, origin }: NonNullable<AuditRecord['by']>) {
  const from = origin === undefined ? {} : { request_id: origin.request_id, address: origin.address };
  return { user_id, key_id, ...(sign_in_id === null ? {} : { sign_in_id }), ...from };
}
