import type { ScoreSource, ScoreValue } from '../../engine/traces/model/score/score.js';
import type { ScoreRead } from '../../features/scores/schema.js';
import type { UnifiedItemRead } from '../../features/feedback/unified-schema.js';

const SOURCES: Readonly<Record<ScoreSource, string>> = {
  sdk: 'SDK',
  human: 'person',
  judge: 'judge',
  code: 'code',
  import: 'import',
};

/** Who gave a score: its author where there is one, and where it comes from. */
export function givenBy({ author, source }: Pick<ScoreRead, 'author' | 'source'>): string {
  return author === null ? SOURCES[source] : source === 'human' ? author : `${author} (${SOURCES[source]})`;
}

/** A score, a verdict of a judge or feedback of a person. */
export type Opinion = ({ readonly kind: 'score' } & { readonly score: ScoreRead }) | UnifiedItemRead;

/** All of them, the newest first. Times are of one form, so that texts compare as moments do. */
export function opinionsOf(scores: readonly ScoreRead[], items: readonly UnifiedItemRead[]): Opinion[] {
  const all: Opinion[] = [...scores.map((score) => ({ kind: 'score', score }) as const), ...items];
  return all.sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
}

export function timeOf(opinion: Opinion): string {
  if (opinion.kind === 'score') return opinion.score.created_at;
  return opinion.kind === 'human_feedback' ? opinion.updated_at : opinion.created_at;
}

/** Values by name. */
export type Newest = (readonly [name: string, value: ScoreValue])[];

/** Of each name the newest of some scores, which come the newest first; sorted by name. */
export function newestByName(scores: readonly ScoreRead[]): Newest {
  const newest = new Map<string, ScoreValue>();
  for (const { name, value } of scores) if (!newest.has(name)) newest.set(name, value);
  return [...newest].sort(([a], [b]) => a.localeCompare(b));
}
