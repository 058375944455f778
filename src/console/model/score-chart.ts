import type { ListDefinition } from '../../engine/traces/model/list/definitions.js';
import { SCORE_PREFIX } from '../../engine/traces/model/list/query.js';
import type { ScoreDefinitionRead } from '../../features/scores/schema.js';
import { scoreText } from './format.js';
import { fieldLabel, USER_TAG } from './list-query.js';
import type { GroupRead, StatisticsRead } from './statistics.js';

type Options = (readonly [value: string, label: string])[];

/** Scores that have a mean, as measures of statistics. */
export function measuredScores(scores: readonly ScoreDefinitionRead[]): Options {
  return scores
    .filter(({ kind }) => kind === 'numeric' || kind === 'boolean')
    .map(({ name, kind }) => [SCORE_PREFIX + name, kind === 'boolean' ? `Share of ${name}` : `Mean of ${name}`]);
}

/** What a chart can be split by: fields with few values, the user, and scores that are chosen rather than measured. */
export function splitsOf({ groups }: ListDefinition, scores: readonly ScoreDefinitionRead[]): Options {
  return [
    ...groups.filter((name) => !name.endsWith('_id')).map((name) => [name, fieldLabel(name)] as const),
    [`tags.${USER_TAG}`, 'User'],
    ...scores
      .filter(({ kind }) => kind === 'boolean' || kind === 'categorical')
      .map(({ name }) => [SCORE_PREFIX + name, `Score ${name}`] as const),
  ];
}

/** A line of a chart over time. */
export interface ScoreLine {
  readonly label: string;
  readonly look: string;
  readonly values: readonly (number | null)[];
}

/** A part of what is charted: all of it, or a group. */
export interface ChartPart {
  readonly label: string;
  readonly look: string;
  /** The value of a group; undefined: it is none. */
  readonly value?: GroupRead['value'];
  readonly of: Pick<StatisticsRead, 'totals' | 'buckets'>;
}

/** What statistics are of, each part with a color: the groups and all others, or everything where there are no groups. */
export function partsOf(answer: StatisticsRead): ChartPart[] {
  const { groups, rest } = answer;
  if (groups.length === 0) return [{ label: 'all', look: '1', of: answer }];
  return [
    ...groups.map((group, index) => ({
      label: labelOf(group.value),
      look: String(index + 1),
      value: group.value,
      of: group,
    })),
    ...(rest === null ? [] : [{ label: 'all others', look: 'count', of: rest }]),
  ];
}

/** The mean of a score over time, in all or of each group that has any, each named with its mean of the whole time. */
export function linesOf(answer: StatisticsRead, name: string, write: (mean: number | null) => string): ScoreLine[] {
  const measure = `${SCORE_PREFIX}${name}` as const;
  return partsOf(answer)
    .filter(({ of }) => (of.totals[measure]?.count ?? 0) > 0)
    .map(({ label, look, of: { totals, buckets } }) => ({
      label: `${label}: ${write(totals[measure]?.mean ?? null)}`,
      look,
      values: buckets.map((bucket) => bucket[measure]?.mean ?? null),
    }));
}

function labelOf(value: GroupRead['value']): string {
  return value === null ? 'none' : value === '' ? '(empty)' : scoreText(value);
}
