import type { ScoreKind, ScoreSource } from '../../../src/engine/traces/model/score/score.js';
import { scoreOf } from '../../../src/langfuse/scores.js';
import { textOf } from '../members.js';
import type { DatedScore } from '../score-batch.js';
import type { NotTaken } from '../step.js';
import type { Thing } from './shapes.js';

const KINDS: Readonly<Record<string, ScoreKind>> = {
  NUMERIC: 'numeric',
  BOOLEAN: 'boolean',
  CATEGORICAL: 'categorical',
  TEXT: 'text',
  CORRECTION: 'text',
};
const SOURCES: Readonly<Record<string, ScoreSource>> = { API: 'sdk', EVAL: 'judge', ANNOTATION: 'human' };

/** A score of Langfuse as the calls of its clients make one, or why there is none. */
export function datedScoreOf(projectId: string, thing: Thing): DatedScore | NotTaken {
  const what = `score ${textOf(thing['id']) ?? ''} ${textOf(thing['name']) ?? ''}`;
  const dataType = textOf(thing['dataType'])?.toUpperCase() ?? 'NUMERIC';
  const [number, text] = [thing['value'], thing['stringValue']];
  const value = ['NUMERIC', 'BOOLEAN'].includes(dataType) ? (number ?? text) : (text ?? number);
  const { traceId, observationId, sessionId, name, comment, metadata } = thing;
  const score = scoreOf(projectId, { traceId, observationId, sessionId, name, value, dataType, comment, metadata });
  if (typeof score === 'string')
    return { what, why: textOf(thing['datasetRunId']) === null ? score : 'scores of dataset runs are not imported' };
  const at = textOf(thing['timestamp']) ?? textOf(thing['updatedAt']) ?? textOf(thing['createdAt']);
  if (at === null) return { what, why: 'it has no time' };
  return {
    ...{ what, score, at, author: textOf(thing['authorUserId']) },
    kind: KINDS[dataType] ?? 'numeric',
    source: SOURCES[textOf(thing['source']) ?? ''] ?? 'sdk',
  };
}
