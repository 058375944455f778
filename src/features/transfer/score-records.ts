import type { Score } from '../../engine/traces/model/score/score.js';
import type { StoredScore } from '../../engine/traces/model/score/scores.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import type { ScoreDefinition } from '../scores/definition.js';
import { readScores } from '../scores/score-reader.js';
import type { ScoreRecord } from './records.js';

/** A score as it is exported. Its id is made from the others, and from the project. */
export function toScoreRecord({ id: _id, kind: _kind, author, created_at, ...score }: StoredScore): string {
  const record: ScoreRecord = { ...score, author, created_at: formatTimestamp(created_at) };
  return JSON.stringify(record);
}

/** A record whose time is a number. */
type ReadScore = Omit<ScoreRecord, 'created_at'> & { readonly created_at: number };

/**
 * Scores of a project, as they are stored there.
 * @throws DomainError `invalid` where one does not fit the definition of its name, or has none
 */
export function fromScoreRecords(
  projectId: string,
  records: readonly ReadScore[],
  find: (name: string) => ScoreDefinition | undefined,
): (Score & { readonly received_at: number })[] {
  const sent = records.map(({ created_at: _created, ...score }) => score);
  const refuseNew = () => 'has no definition in this project: import the parts in order';
  const { scores } = readScores(sent, { projectId, mayRead: true, userName: () => '', find, refuseNew });
  return scores.map((score, index) => ({ ...score, received_at: records[index]?.created_at ?? 0 }));
}
