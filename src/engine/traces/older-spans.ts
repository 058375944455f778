import type { Backfill, OlderSpans, OlderSpansSnapshot } from './model/older-spans.js';
import type { PlacedSpan } from './model/prices/calculated-spans.js';
import { PROMPT_PATHS, VERSION_PATHS } from './model/span/prompt-attributes.js';
import { USAGE_ATTRIBUTES } from './model/span/usage.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { join, literal, number, sql, value } from './clickhouse/client/sql.js';
import { inProject } from './read/scope.js';
import { beyond } from './read/times.js';
import { current, written } from './read/visibility.js';
import { roughBytes } from './calculated-span-rows.js';
import { openState, StoredRevision, type RevisedStore } from './span-revision.js';

const NIL = '00000000-0000-0000-0000-000000000000';

/** Names of the attributes that the columns are read of, as they stand in JSON texts. */
const NAMES = [...USAGE_ATTRIBUTES, ...[...PROMPT_PATHS, ...VERSION_PATHS].map(({ name }) => name)];
const mayTell = sql`multiSearchAny(attributes, [${join(
  [...new Set(NAMES)].map((name) => literal(JSON.stringify(name))),
  ', ',
)}])`;

interface BackfillRow {
  readonly project_id: string;
  readonly step: string;
  readonly upTo: string;
  readonly started: string;
  readonly trace: string;
  readonly span: string;
}

/** Spans from before migration 7, and in `span_backfills` how far each project is. */
export class ClickHouseOlderSpans implements OlderSpans {
  readonly #client: ClickHouseClient;
  readonly #store: RevisedStore;

  constructor(client: ClickHouseClient, store: RevisedStore) {
    this.#client = client;
    this.#store = store;
  }

  async unfinished(): Promise<Backfill[]> {
    const rows = await this.#client.query<BackfillRow>(
      sql`SELECT project_id, toString(ver) AS step, toString(upto) AS upTo, toString(toUnixTimestamp64Micro(started_at)) AS started,
  toString(trace_id) AS trace, toString(id) AS span
FROM span_backfills FINAL WHERE NOT done ORDER BY project_id`,
    );
    return rows.map(({ project_id, step, upTo, started, trace, span }) => ({
      projectId: project_id,
      upTo: Number(upTo),
      after: step === '0' ? null : { started_at: Number(started), trace_id: trace, id: span },
      done: false,
      step: Number(step),
    }));
  }

  async open(projectId: string): Promise<OlderSpansSnapshot> {
    return new OlderSnapshot(this.#store, await openState(this.#store, projectId), true);
  }

  async note({ projectId, upTo, after, done, step }: Backfill): Promise<void> {
    const { started_at = 0, trace_id = NIL, id = NIL } = after ?? {};
    await this.#client.command(
      sql`INSERT INTO span_backfills (project_id, ver, upto, done, started_at, trace_id, id)
       SELECT ${literal(projectId)}, ${number(step)}, ${number(upTo)}, ${number(done ? 1 : 0)},
         fromUnixTimestamp64Micro(toInt64(${number(started_at)}), 'UTC'), toUUID(${literal(trace_id)}), toUUID(${literal(id)})`,
    );
  }
}

class OlderSnapshot extends StoredRevision implements OlderSpansSnapshot {
  async page({ upTo, after }: Backfill, limit: number): Promise<PlacedSpan[]> {
    const behind = after === null ? sql`1` : beyond(after);
    const rows = await this.store.reader.rows<Record<'version' | 'started' | 'trace' | 'span' | 'size', string>>(
      sql`SELECT toString(ver) AS version, toString(toUnixTimestamp64Micro(started_at)) AS started, toString(trace_id) AS trace,
  toString(id) AS span, toString(${roughBytes}) AS size
FROM spans
WHERE ${inProject(this.scope.projectId)} AND ${written} <= ${value(upTo, 'UInt64')} AND ${mayTell} AND ${behind} AND ${current(this.scope)}
ORDER BY project_id, started_at, trace_id, id LIMIT ${value(limit, 'UInt64')}`,
    );
    return rows.map(({ version, started, trace, span, size }) => ({
      version: Number(version),
      started_at: Number(started),
      trace_id: trace,
      id: span,
      bytes: Number(size),
    }));
  }
}
