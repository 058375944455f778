import { UUID } from '../../schema/ids.js';
import type { ScoreTransfer } from '../model/score/score-transfer.js';
import type { Score, ScorePlace } from '../model/score/score.js';
import type { StoredScore } from '../model/score/scores.js';
import type { Imported, PageOf, RecordPage } from '../model/transfer/record-page.js';
import { empty, numbers, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject } from '../read/scope.js';
import type { RevisedStore } from '../span-revision.js';
import { fitting, notACursor } from '../transfer-pages.js';
import { statedVersion } from '../write/version-clock.js';
import { latestScores, scoredVersion } from './latest.js';
import { toScore, WHOLE_SCORE, type ScoreRow } from './score-rows.js';

/** Where a page ends: the key of its last score. */
type Key = readonly [type: string, name: string, entity: string, id: string];

interface Place extends ScorePlace {
  readonly version: string;
  readonly bytes: string;
}

/** Scores in the table `scores`, page by page in its order. */
export class ClickHouseScoreTransfer implements ScoreTransfer {
  readonly #store: RevisedStore;

  constructor(store: RevisedStore) {
    this.#store = store;
  }

  page({ projectId, after, limit }: PageOf): Promise<RecordPage<StoredScore>> {
    const behind = after === null ? [] : [sql`${KEY} > ${tuple(keyIn(after))}`];
    const { reader, reads } = this.#store;
    return reads.ofCommitted(projectId, { figures: false, traces: [] }, async ({ upTo }) => {
      const found = await reader.rows<Place>(
        sql`SELECT toString(p.id) AS id, p.entity_type AS entity_type, toString(p.entity_id) AS entity_id, p.name AS name,
  toString(p.ver) AS version, toString(length(text) + length(comment) + length(metadata) + 1000) AS bytes
FROM (${latestScores({ projectId, upTo }, ['text', 'comment', 'metadata'], behind)}) AS p
ORDER BY p.entity_type, p.name, p.entity_id, p.id LIMIT ${value(limit + 1, 'UInt64')}`,
      );
      const places = fitting(found.slice(0, limit));
      const last = places.at(-1);
      if (last === undefined) return { records: [], next: after, more: false };
      const end: Key = [last.entity_type, last.name, last.entity_id, last.id];
      const rows = await reader.rows<ScoreRow>(
        sql`SELECT ${WHOLE_SCORE} FROM scores AS s
WHERE ${inProject(projectId)} AND ${S_KEY} <= ${tuple(end)}${after === null ? empty : sql` AND ${S_KEY} > ${tuple(keyIn(after))}`}
  AND s.ver IN (${numbers(places.map(({ version }) => version))})
ORDER BY s.entity_type, s.name, s.entity_id, s.id LIMIT 1 BY s.id`,
      );
      return { records: rows.map(toScore), next: cursorOf(end), more: found.length > places.length };
    });
  }

  async take(projectId: string, scores: readonly (Score & { readonly received_at: number })[]): Promise<Imported> {
    const { log, reader } = this.#store;
    const watch = await log.watch(projectId);
    try {
      const ids = scores.map(({ id }) => id);
      const rows = await reader.rows<{ readonly id: string; readonly at: string }>(
        sql`SELECT toString(s.id) AS id, toString(argMax(${scoredVersion}, s.ver)) AS at FROM scores AS s
WHERE ${inProject(projectId)} AND s.id IN ${value(ids, 'Array(UUID)')} GROUP BY s.id HAVING NOT argMax(s.deleted, s.ver)`,
      );
      const there = new Map(rows.map(({ id, at }) => [id, Number(at)]));
      // Nothing may come between this look at the watch and the append: both are in one turn of the event loop.
      const kept = newest(scores).filter(
        ({ id, received_at }) =>
          (there.get(id) ?? -Infinity) < statedVersion(received_at) && !watch.sawSent({ kind: 'score', id }),
      );
      await log.append({ projectId, scores: kept });
      return { stored: kept.length, unchanged: scores.length - kept.length };
    } finally {
      watch.end();
    }
  }
}

const KEY = sql`(entity_type, name, entity_id, id)`;
const S_KEY = sql`(s.entity_type, s.name, s.entity_id, s.id)`;

function tuple([type, name, entity, id]: Key): Sql {
  return sql`(${value(type, 'String')}, ${value(name, 'String')}, ${value(entity, 'UUID')}, ${value(id, 'UUID')})`;
}

/** Of the same score several times, the one that was received last. */
function newest<T extends { readonly id: string; readonly received_at: number }>(scores: readonly T[]): T[] {
  const byId = new Map<string, T>();
  for (const score of scores) {
    const known = byId.get(score.id);
    if (known === undefined || known.received_at <= score.received_at) byId.set(score.id, score);
  }
  return [...byId.values()];
}

const cursorOf = (key: Key) => Buffer.from(JSON.stringify(key)).toString('base64url');

/** @throws DomainError `invalid` */
function keyIn(cursor: string): Key {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw notACursor();
  }
  if (!Array.isArray(read) || read.length !== 4 || !read.every((part) => typeof part === 'string')) throw notACursor();
  const [type = '', name = '', entity = '', id = ''] = read;
  if (!UUID.test(entity) || !UUID.test(id)) throw notACursor();
  return [type, name, entity, id];
}
