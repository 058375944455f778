import type { ScoreKind, Scored, ScoreSource, ScoreValue } from '../model/score/score.js';
import type { StoredScore } from '../model/score/scores.js';
import { sql } from '../clickhouse/client/sql.js';
import { versionTime } from '../write/version-clock.js';
import { scoredVersion } from './latest.js';

/** A score as it is selected by {@link WHOLE_SCORE}. */
export interface ScoreRow {
  readonly id: string;
  readonly entity_type: Scored;
  readonly entity_id: string;
  readonly name: string;
  readonly kind: ScoreKind;
  readonly number: number | null;
  readonly text: string;
  readonly source: ScoreSource;
  readonly author: string;
  readonly comment: string;
  readonly metadata: string;
  readonly version: string;
}

/** The columns of a score beside those of its key and `ver`. */
export const SCORE_COLUMNS = ['kind', 'number', 'text', 'source', 'author', 'comment', 'metadata', 'received_ver'];

/** All of a score. `s` is `scores`, whose columns are not to be taken for their texts. */
export const WHOLE_SCORE = sql`toString(s.id) AS id, s.entity_type AS entity_type, toString(s.entity_id) AS entity_id, s.name AS name,
  s.kind AS kind, s.number AS number, s.text AS text, s.source AS source, s.author AS author, s.comment AS comment,
  s.metadata AS metadata, toString(${scoredVersion}) AS version`;

export function toScore({ kind, number, text, comment, metadata, version, ...row }: ScoreRow): StoredScore {
  return {
    ...row,
    kind,
    value: valueOf(kind, number, text),
    comment: comment === '' ? null : comment,
    metadata: metadata === '' ? {} : (JSON.parse(metadata) as StoredScore['metadata']),
    created_at: versionTime(Number(version)),
  };
}

function valueOf(kind: ScoreKind, number: number | null, text: string): ScoreValue {
  if (kind === 'boolean') return number === 1;
  return kind === 'numeric' ? Number(number) : text;
}
