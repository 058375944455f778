import type { Static } from '@sinclair/typebox';
import type { ExperimentRead, ScoreFiguresRead } from '../../features/experiments/schema.js';
import { compact, NOTHING, percent } from './format.js';

export type Experiment = Static<typeof ExperimentRead>;
export type ScoreFigures = Static<typeof ScoreFiguresRead>;

/** The tag of the experiment that others are held against. */
export const BASELINE = 'baseline';
/** Characters of a commit that tell it apart. */
const COMMIT = 8;
/** Characters of a value of a subject in a line. */
const LONGEST = 80;

/** What an experiment tries, in one line; empty: it does not say. */
export function subjectLine(subject: Experiment['subject']): string {
  const { commit, branch, dirty, prompt_slug, prompt_version, model, url, ...rest } = subject;
  const parts = [
    typeof commit === 'string' && `${commit.slice(0, COMMIT)}${dirty === true ? ' with changes' : ''}`,
    branch,
    typeof prompt_slug === 'string' &&
      `${prompt_slug}${typeof prompt_version === 'number' ? ` v${prompt_version}` : ''}`,
    model,
    ...Object.entries(rest).map(([name, value]) => `${name}: ${valueText(value)}`),
  ].filter((part) => typeof part === 'string' && part !== '');
  return parts.length === 0 && typeof url === 'string' ? url : parts.join(' · ');
}

const valueText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, LONGEST);

/** How many results it has when it is whole. */
export function resultsDue({ rows, repetitions, run }: Pick<Experiment, 'rows' | 'repetitions' | 'run'>): number {
  // A run may be of some rows only.
  return run?.total ?? rows * repetitions;
}

/** Names of the scores that most of some experiments have a mean of, the most frequent first. */
export function commonScores(experiments: readonly Experiment[], most: number): string[] {
  const counts = new Map<string, number>();
  for (const { figures } of experiments)
    for (const { name, mean } of figures.scores) if (mean !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  const sorted = [...counts].sort(([a, n], [b, m]) => m - n || a.localeCompare(b));
  return sorted.slice(0, most).map(([name]) => name);
}

/** The mean of an experiment's scores of a name; of booleans, the share that is true. */
export function meanText({ figures }: Experiment, name: string): string {
  const score = figures.scores.find((one) => one.name === name);
  if (score?.mean == null) return NOTHING;
  return score.kind === 'boolean' ? percent(score.mean) : compact(score.mean);
}

/** How an address names the experiment that a tag points to, beside those named by their ids. */
const TAG = 'tag:';

export function sideOfTag(tag: string): string {
  return TAG + tag;
}

/** The tag that a side of a comparison is named by; null: it is an id, or none. */
export function tagOfSide(side: string): string | null {
  return side.startsWith(TAG) ? side.slice(TAG.length) : null;
}

interface Sides {
  readonly candidate: Experiment;
  readonly baseline: Experiment;
}

/** Which of two experiments is held against the other: that with the tag, else the older one, is the baseline. */
export function sidesOf(one: Experiment, other: Experiment): Sides {
  const isTagged = ({ tags }: Experiment) => tags.includes(BASELINE);
  const isBaseline = isTagged(one) === isTagged(other) ? one.created_at < other.created_at : isTagged(one);
  return isBaseline ? { candidate: other, baseline: one } : { candidate: one, baseline: other };
}

interface ProgramParts {
  /** Address of the project's experiments. */
  readonly url: string;
  /** Name of the dataset. */
  readonly dataset: string;
}

/** Programs that make an experiment with one result. */
export function experimentPrograms({ url, dataset }: ProgramParts) {
  const made = JSON.stringify({ name: 'trial', dataset });
  return [
    {
      name: 'python',
      label: 'Python',
      code: [
        'import requests',
        `url, auth = ${JSON.stringify(url)}, {"Authorization": "Bearer <your key>"}`,
        `id = requests.post(url, headers=auth, json=${made}).json()["id"]`,
        'result = {"row_id": "r1", "output_data": "…", "scores": {"correct": True}}',
        'requests.post(f"{url}/{id}/results", headers=auth, json=[result]).raise_for_status()',
        'requests.post(f"{url}/{id}:finish", headers=auth).raise_for_status()',
      ],
    },
    {
      name: 'curl',
      label: 'curl',
      code: [
        `url=${url} auth='Authorization: Bearer <your key>'`,
        `id=$(curl -sS -H "$auth" --json '${made}' $url | jq -r .id)`,
        `curl -sS -H "$auth" --json '[{"row_id": "r1", "output_data": "…", "scores": {"correct": true}}]' $url/$id/results`,
        'curl -sS -H "$auth" -X POST $url/$id:finish',
      ],
    },
  ] as const;
}
