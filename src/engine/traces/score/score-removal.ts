import type { DeletedThing } from '../model/deletion/stored-spans.js';
import { SCORED, type Scored, type ScorePlace } from '../model/score/score.js';
import type { ScoreRemoval } from '../model/score/scores.js';
import type { Micros } from '../../timestamp.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { join, literal, number, sql, type Sql } from '../clickhouse/client/sql.js';
import type { DeletionSource } from '../deletion/deletion-source.js';
import { PORTION, tracesOf, uuids } from '../deletion/things.js';
import { openReader, type ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { current } from '../read/visibility.js';
import { versionOf } from '../write/version-clock.js';
import { latestScores } from './latest.js';

/** Tombstones of one write. */
const SCORES_AT_ONCE = 5_000;

type Ids = Readonly<Record<Scored, readonly string[]>>;
type Source = Pick<DeletionSource, 'client' | 'log' | 'reads' | 'deleted'>;

/** Removes scores whose span, trace or session is gone: by tombstones, in the log that scores are written by. */
export class ClickHouseScoreRemoval implements ScoreRemoval {
  readonly #source: Source;
  readonly #rows: ReadRows;

  constructor(source: Source) {
    this.#source = source;
    this.#rows = openReader(source.client, {}, LONG_STATEMENTS).rows;
  }

  async removeScores(
    projectId: string,
    things: AsyncIterable<readonly DeletedThing[]>,
    upTo: Micros | null,
  ): Promise<void> {
    const any = sql`SELECT 1 FROM scores WHERE ${inProject(projectId)} LIMIT 1`;
    if ((await this.#source.reads.run(projectId, () => this.#rows(any))).length === 0) return;
    for await (const page of things)
      for (let from = 0; from < page.length; from += PORTION) {
        const ids = await this.#concerned(projectId, page.slice(from, from + PORTION));
        const scored = await this.#scored(projectId, ids);
        while (await this.#removeSome(projectId, scored, upTo));
      }
  }

  /**
   * Nothing may come between the look at the watch and the append: both are in one turn of the event loop.
   * @returns whether there may be more
   */
  async #removeSome(projectId: string, ids: Ids, upTo: Micros | null): Promise<boolean> {
    const { log, reads, deleted } = this.#source;
    const watch = await log.watch(projectId);
    try {
      const found = await reads.run(projectId, (version) => this.#orphans({ projectId, upTo: version }, ids, upTo));
      const deletedScores = found.filter(({ id }) => !watch.sawSent({ kind: 'score', id }));
      if (deletedScores.length === 0) return false;
      await log.append({ projectId, deletedScores });
      deleted();
      return found.length === SCORES_AT_ONCE;
    } finally {
      watch.end();
    }
  }

  /** The things, their traces, and the sessions that these were in, by any of their writes. */
  async #concerned(projectId: string, things: readonly DeletedThing[]): Promise<Ids> {
    const of = (kind: DeletedThing['kind']) => things.filter((thing) => thing.kind === kind).map(({ id }) => id);
    const traces = tracesOf(things).filter((id) => id !== '');
    const named =
      traces.length === 0
        ? []
        : await this.#rows<{ readonly id: string }>(
            sql`SELECT DISTINCT toString(session_id) AS id FROM facts
WHERE ${inProject(projectId)} AND trace_id IN ${uuids(traces)} AND isNotNull(session_id)`,
          );
    return { span: of('span'), trace: traces, session: [...new Set([...of('session'), ...named.map(({ id }) => id)])] };
  }

  /** Scores of those of some things that are not stored. */
  async #orphans(scope: ReadScope, ids: Ids, upTo: Micros | null): Promise<ScorePlace[]> {
    const among = conditionOn(await this.#gone(scope, ids));
    if (among === null) return [];
    const written = upTo === null ? [] : [sql`ver <= ${number(versionOf(upTo))}`];
    return this.#rows<ScorePlace>(
      sql`SELECT toString(id) AS id, entity_type, toString(entity_id) AS entity_id, name
FROM (${latestScores(scope, [], [among], written)}) LIMIT ${number(SCORES_AT_ONCE)}`,
    );
  }

  /** Those that anybody ever scored. */
  async #scored(projectId: string, ids: Ids): Promise<Ids> {
    const among = conditionOn(ids);
    if (among === null) return ids;
    const rows = await this.#rows<{ readonly type: Scored; readonly id: string }>(
      sql`SELECT DISTINCT entity_type AS type, toString(entity_id) AS id FROM scores WHERE ${inProject(projectId)} AND ${among}`,
    );
    return byType((type) => rows.filter((row) => row.type === type).map(({ id }) => id));
  }

  async #gone(scope: ReadScope, ids: Ids): Promise<Ids> {
    const stored = new Map<Scored, ReadonlySet<string>>();
    for (const type of SCORED) {
      const rows =
        ids[type].length === 0 ? [] : await this.#rows<{ readonly id: string }>(storedOf(type, scope, ids[type]));
      stored.set(type, new Set(rows.map(({ id }) => id)));
    }
    return byType((type) => ids[type].filter((id) => stored.get(type)?.has(id) !== true));
  }
}

const byType = (of: (type: Scored) => readonly string[]): Ids => ({
  span: of('span'),
  trace: of('trace'),
  session: of('session'),
});

/** A condition on scores that they are of these; null: of none. */
function conditionOn(ids: Ids): Sql | null {
  const some = SCORED.filter((type) => ids[type].length > 0);
  if (some.length === 0) return null;
  const each = some.map((type) => sql`(entity_type = ${literal(type)} AND entity_id IN ${uuids(ids[type])})`);
  return sql`(${join(each, ' OR ')})`;
}

/** Those of some spans, traces or sessions that are stored, in a state that is rolled up. */
function storedOf(type: Scored, scope: ReadScope, ids: readonly string[]): Sql {
  const those = sql`${inProject(scope.projectId)} AND id IN ${uuids(ids)}`;
  if (type === 'span') return sql`SELECT DISTINCT toString(id) AS id FROM spans WHERE ${those} AND ${current(scope)}`;
  const table = type === 'trace' ? sql`traces` : sql`sessions`;
  return sql`SELECT toString(t.id) AS id FROM ${table} AS t WHERE ${those} GROUP BY t.id HAVING NOT argMax(t.gone, t.ver)`;
}
