import type { Micros } from '../../time/timestamp.js';
import type { UsedVersion } from './correction.js';

/**
 * Name of a set of corrections, by its revision: each new or changed correction makes the next one, so a name stands
 * for one set for ever. With the version of the instruction (`judgeVersion`) it is the exact version of a judge.
 */
export function examplesId(revision: number): string | null {
  return revision === 0 ? null : `e${revision}`;
}

/** The revision in an exact version of a judge; 0 without examples, null for evaluations that ran elsewhere. */
export function revisionOf(judgeVersion: string | null): number | null {
  if (judgeVersion === null) return null;
  const found = /\/e([1-9]\d*)$/.exec(judgeVersion)?.[1];
  return found === undefined ? 0 : Number(found);
}

/** How exact versions are put together in a report. */
export type Grouping = 'steps' | 'each';

/** Versions of a judge that a report shows as one. */
export interface VersionGroup {
  /** `v1`, `v2`, … in the order in which groups began; `external` for evaluations that ran elsewhere. */
  readonly version: string;
  /** Exact versions; null: evaluations that ran elsewhere, which have none. */
  readonly members: ReadonlySet<string> | null;
  readonly prompt_version: number | null;
  /** Lowest and highest revision of the examples. */
  readonly examples: { readonly from: number; readonly to: number } | null;
  /** When the group's first evaluation was stored; null when that is not known. */
  readonly began_at: Micros | null;
  /** Evaluations made with these versions; null when that is not known. */
  readonly evaluations: number | null;
}

/**
 * Exact versions in groups. With `steps`, a new one begins when the instruction changes and when the revision of the
 * examples reaches 1, 5, 10, 20, 50, 100, 200, 500, …: otherwise every single correction would begin a version, and none
 * would have evaluations enough to say anything. Numbers never change later, since versions only ever come after.
 */
export function groupVersions(used: readonly UsedVersion[], grouping: Grouping): VersionGroup[] {
  const groups = new Map<string, UsedVersion[]>();
  for (const version of used) {
    const revision = revisionOf(version.judge_version) ?? 0;
    const instruction = version.judge_version.slice(0, version.judge_version.lastIndexOf('/'));
    const key = grouping === 'each' ? version.judge_version : `${instruction}/${stepOf(revision)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [version]);
    else group.push(version);
  }
  return [...groups.values()].map((members, index) => {
    const revisions = members.map(({ judge_version }) => revisionOf(judge_version) ?? 0);
    return {
      version: `v${index + 1}`,
      members: new Set(members.map(({ judge_version }) => judge_version)),
      prompt_version: members[0]?.prompt_version ?? null,
      examples: { from: Math.min(...revisions), to: Math.max(...revisions) },
      began_at: members[0]?.began_at ?? null,
      evaluations: members.reduce((total, { evaluations }) => total + evaluations, 0),
    };
  });
}

/** Group of the evaluations that ran elsewhere. */
export const EXTERNAL: VersionGroup = {
  version: 'external',
  members: null,
  prompt_version: null,
  examples: null,
  began_at: null,
  evaluations: null,
};

/** The largest of 0, 1, 5, 10, 20, 50, 100, 200, 500, … that the revision reaches. */
function stepOf(revision: number): number {
  if (revision < 5) return Math.min(revision, 1);
  const decade = 10 ** Math.floor(Math.log10(revision) + 1e-12);
  return [5, 2, 1].map((digit) => digit * decade).find((step) => step <= revision) ?? 5;
}
