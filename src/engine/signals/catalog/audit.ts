import type { Line, LineName, LogEvent } from '../signal.js';
import { peopleLines } from './audit/people.js';
import { dataLines } from './audit/data.js';
import { settingLines } from './audit/settings.js';
import { contentLines } from './audit/content.js';

const events = { ...peopleLines, ...dataLines, ...settingLines, ...contentLines };

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
