import type { Suspect } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { identifier, sql } from '../clickhouse/client/sql.js';
import { byProject, items, type Recompute, type Unsettled } from './audited.js';
import { detailOf, mismatches, notByTime, removeWrong, type Mismatch } from './comparison.js';
import { recountedSessions, SESSIONS } from './figure-tables.js';
import { KeyedAudit, type KeyedAuditParts } from './keyed-audit.js';
import { ofProject, type Keys } from './keys.js';

/** Sessions against what their traces bring, which {@link TraceAudit} compares with the traces, and the index by time. */
export class SessionAudit extends KeyedAudit {
  readonly title = 'session metrics';
  readonly unit = 'sessions';
  readonly #client: ClickHouseClient;
  readonly #unsettled: Unsettled;
  readonly #recompute: Recompute | undefined;

  constructor(parts: KeyedAuditParts) {
    super(parts, [
      { table: 'session_traces', column: 'session_id' },
      { table: 'session_statements', column: 'session_id' },
      { table: 'sessions', column: 'id' },
    ]);
    this.#client = parts.client;
    this.#unsettled = parts.unsettled;
    this.#recompute = parts.recompute;
  }

  async mend(suspects: readonly Suspect[]): Promise<void> {
    for (const [project, ids] of byProject(suspects)) {
      await this.#recompute?.({ traces: [], sessions: items(project, ids) });
      const own = suspects.filter((suspect) => suspect.project === project);
      const wrong = own.flatMap(({ key }) => (key === undefined ? [] : (JSON.parse(key) as Mismatch)));
      await removeWrong(this.#client, SESSIONS, project, wrong);
    }
  }

  protected async examine(keys: Keys): Promise<Suspect[]> {
    const { project } = keys;
    const among = keys.among(identifier('id'));
    const stored = sql`${ofProject(project)} AND ${among}`;
    const wrong = await mismatches(this.#client, SESSIONS, recountedSessions(keys), stored);
    const figures = wrong.map((mismatch) => ({
      flaw: mismatch.state === null ? ('session_empty' as const) : ('session_figures' as const),
      project,
      id: mismatch.keys[0] ?? '',
      detail: detailOf(mismatch),
      state: mismatch.compared,
      key: JSON.stringify(mismatch),
    }));
    const missing = await notByTime(this.#client, 'session', project, among);
    const found = [...figures, ...missing.map((each) => ({ flaw: 'session_not_by_time' as const, project, ...each }))];
    return found.filter(({ id }) => !this.#unsettled.sessions.has(`${project}/${id}`));
  }
}
