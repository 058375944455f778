import type { Suspect } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteVersions } from '../clickhouse/client/mutations.js';
import { identifier, sql } from '../clickhouse/client/sql.js';
import { detailOf, mismatches, notByTime, removeWrong, type Mismatch } from './comparison.js';
import { factsOf, recountedParts, recountedTraces, SESSION_PARTS, TRACES } from './figure-tables.js';
import { KeyedAudit, type KeyedAuditParts } from './keyed-audit.js';
import { ofProject, type Keys } from './keys.js';
import { byProject, items, type Recompute, type Unsettled } from './audited.js';
import { successors } from '../read/visibility.js';

/** What a suspect needs to be repaired. */
interface Key {
  readonly mismatch?: Mismatch;
  /** A version that `superseded` names wrongly. */
  readonly version?: string;
}

/** Traces against their facts: their rows, what these bring to sessions, the index by time, and which versions count. */
export class TraceAudit extends KeyedAudit {
  readonly title = 'trace metrics';
  readonly unit = 'traces';
  readonly #client: ClickHouseClient;
  readonly #unsettled: Unsettled;
  readonly #recompute: Recompute | undefined;

  constructor(parts: KeyedAuditParts) {
    super(parts, [
      { table: 'facts', column: 'trace_id' },
      { table: 'traces', column: 'id' },
    ]);
    this.#client = parts.client;
    this.#unsettled = parts.unsettled;
    this.#recompute = parts.recompute;
  }

  async mend(suspects: readonly Suspect[]): Promise<void> {
    for (const [project, ids] of byProject(suspects)) {
      const own = suspects.filter((suspect) => suspect.project === project);
      const keysOf = (flaws: readonly Suspect['flaw'][]) =>
        own.flatMap(({ flaw, key }) => (flaws.includes(flaw) && key !== undefined ? (JSON.parse(key) as Key) : []));
      const hiding = keysOf(['span_hidden']).flatMap(({ version }) => version ?? []);
      await deleteVersions(this.#client, 'superseded', hiding);
      // The right rows are there before the wrong ones go: interrupted in between, nothing is missing.
      await this.#recompute?.({ traces: items(project, ids), sessions: [] });
      const wrong = (flaws: Parameters<typeof keysOf>[0]) => keysOf(flaws).flatMap(({ mismatch }) => mismatch ?? []);
      await removeWrong(this.#client, TRACES, project, wrong(['trace_figures', 'trace_empty']));
      await removeWrong(this.#client, SESSION_PARTS, project, wrong(['session_part']));
    }
  }

  protected async examine(keys: Keys): Promise<Suspect[]> {
    const found = [
      ...(await this.#figures(keys)),
      ...(await this.#replaced(keys)),
      ...(await this.#parts(keys)),
      ...(await this.#byTime(keys)),
    ];
    return found.filter(({ project, id }) => !this.#unsettled.traces.has(`${project}/${id}`));
  }

  async #figures(keys: Keys): Promise<Suspect[]> {
    const { project, among } = keys;
    const stored = sql`${ofProject(project)} AND ${among(identifier('id'))}`;
    const wrong = await mismatches(this.#client, TRACES, recountedTraces(keys), stored);
    return wrong.map((mismatch) => ({
      flaw: mismatch.state === null ? ('trace_empty' as const) : ('trace_figures' as const),
      project,
      id: mismatch.keys[0] ?? '',
      detail: detailOf(mismatch),
      state: mismatch.compared,
      key: JSON.stringify({ mismatch }),
    }));
  }

  async #parts(keys: Keys): Promise<Suspect[]> {
    const { project, among } = keys;
    const stored = sql`${factsOf(keys)} AND session_id IN (
      SELECT assumeNotNull(session_id) FROM facts WHERE ${factsOf(keys)} AND isNotNull(session_id)
      UNION ALL SELECT assumeNotNull(session_id) FROM traces
      WHERE ${ofProject(project)} AND ${among(identifier('id'))} AND isNotNull(session_id))`;
    const wrong = await mismatches(this.#client, SESSION_PARTS, recountedParts(keys), stored);
    return wrong.map((mismatch) => ({
      flaw: 'session_part' as const,
      project,
      id: mismatch.keys[1] ?? '',
      detail: `session ${mismatch.keys[0] ?? ''}: ${detailOf(mismatch)}`,
      state: mismatch.compared,
      key: JSON.stringify({ mismatch }),
    }));
  }

  /**
   * Versions of spans that count and are named as replaced, and such that do not and are not. Of what the purge removed, a
   * bare row may be left that no list shows.
   */
  async #replaced(keys: Keys): Promise<Suspect[]> {
    const versions = sql`SELECT ver FROM facts WHERE ${factsOf(keys)} AND row_type = 0`;
    const rows = await this.#client.query<{ trace: string; span: string; version: string; counts: number }>(
      sql`SELECT toString(trace_id) AS trace, toString(id) AS span, toString(version) AS version, counts
FROM (
  SELECT trace_id, id, argMax(deleted, ver) AS gone, groupUniqArrayIf(ver, deleted) AS bares,
    arrayJoin(groupUniqArray((ver, next_ver = 0))) AS one, one.1 AS version, one.2 AS counts, has(bares, version) AS bare
  FROM (${successors(sql`trace_id, id, row_type, deleted`, factsOf(keys))})
  WHERE row_type = 0 AND (next_write != ver OR deleted)
  GROUP BY trace_id, id
)
WHERE NOT (counts AND gone) AND (counts OR NOT bare)
  AND counts = (version IN (SELECT ver FROM superseded WHERE ${ofProject(keys.project)} AND ver IN (${versions})))`,
    );
    return rows.map(({ trace, span, version, counts }) => ({
      flaw: counts === 1 ? ('span_hidden' as const) : ('span_shown_replaced' as const),
      project: keys.project,
      id: trace,
      detail: `span ${span}`,
      state: version,
      key: JSON.stringify({ version }),
    }));
  }

  async #byTime({ project, among }: Keys): Promise<Suspect[]> {
    const found = await notByTime(this.#client, 'trace', project, among(identifier('id')));
    return found.map((missing) => ({ flaw: 'trace_not_by_time' as const, project, ...missing }));
  }
}
