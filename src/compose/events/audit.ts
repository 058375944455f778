import type { AuditLog, AuditRecord } from '../../engine/identity/audit.js';
import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';

/** Lines of one event, project and user in a minute: what somebody does a thousand times must hide nothing that others did. */
const LINES_A_MINUTE = 100;
const MINUTE_MS = 60_000;

export interface AuditEvents extends AuditLog {
  /** Nothing is done any more: what was counted of this minute is told now. */
  auditEnded(): void;
}

/** What was done, by whom, as lines of the log. */
export function auditEvents(logger: Logger): AuditEvents {
  /** Of this minute. As many as there are projects and users: no call makes projects, and few make users. */
  const counts = new Map<string, { readonly first: AuditRecord; count: number }>();
  let minute: NodeJS.Timeout | undefined;
  const ended = () => {
    clearTimeout(minute);
    minute = undefined;
    for (const { first, count } of counts.values())
      if (count > LINES_A_MINUTE)
        say(logger, 'auditNotListed', {
          what: first.event,
          project_id: first.project_id,
          ...(first.by === null ? {} : { user_id: first.by.user_id }),
          count: count - LINES_A_MINUTE,
        });
    counts.clear();
  };
  return {
    done(record) {
      const { event, by, ...fields } = record;
      const of = `${event} ${record.project_id} ${by?.user_id ?? ''}`;
      const counted = counts.get(of) ?? { first: record, count: 0 };
      counted.count += 1;
      counts.set(of, counted);
      minute ??= setTimeout(ended, MINUTE_MS).unref();
      say(logger, event, { ...(by === null ? {} : whoOf(by)), ...fields }, counted.count > LINES_A_MINUTE);
    },
    auditEnded: ended,
  };
}

/** Named one by one: of a principal, the log has no more. */
function whoOf({ user_id, key_id, sign_in_id }: NonNullable<AuditRecord['by']>) {
  return { user_id, key_id, ...(sign_in_id === null ? {} : { sign_in_id }) };
}
