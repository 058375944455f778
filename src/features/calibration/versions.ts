import type { Micros } from '../../engine/timestamp.js';
import type { UsedVersion } from './correction.js';

/**
 * Name of a set of corrections, by its revision: each new or changed correction makes the next one, so a name stands
 * for one set for ever. With the version of the instruction (`judgeVersion`) it is the exact version of a judge.
 */
export function examplesId(revision: number): string | null {
  return revision === 0 ? null : `e${revision}`;
}

/** The revision in an exact version of a judge; 0 without examples, null for evaluations that ran elsewhere and name none. */
export function revisionOf(judgeVersion: string | null): number | null {
  if (judgeVersion === null) return null;
  const found = /\/e([1-9]\d*)$/.exec(judgeVersion)?.[1];
  return found === undefined ? 0 : Number(found);
}

/** The id of the version of the instruction in an exact version of a judge. */
export function promptVersionIdOf(judgeVersion: string): string {
  return judgeVersion.slice(0, judgeVersion.lastIndexOf('/'));
}

/** How exact versions are put together in a report. */
export type Grouping = 'steps' | 'each';

/** Versions of a judge that a report shows as one. */
export interface VersionGroup {
  /** `v1`, `v2`, … in the order in which groups began; `external` for evaluations that ran elsewhere and name none. */
  readonly version: string;
  /** Exact versions; null: evaluations that ran elsewhere and name none. */
  readonly members: ReadonlySet<string> | null;
  readonly prompt_version: number | null;
  /** Id of this version of the instruction; null: there is none. */
  readonly prompt_version_id: string | null;
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
    const instruction = promptVersionIdOf(version.judge_version);
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
      prompt_version_id: members[0] === undefined ? null : promptVersionIdOf(members[0].judge_version),
      examples: {
        from: revisions.reduce((least, revision) => Math.min(least, revision), Infinity),
        to: revisions.reduce((most, revision) => Math.max(most, revision), 0),
      },
      began_at: members[0]?.began_at ?? null,
      evaluations: members.reduce((total, { evaluations }) => total + evaluations, 0),
    };
  });
}

/** The exact versions that a report with `steps` shows by this name; null: there is no such group. */
export function versionsNamed(used: readonly UsedVersion[], name: string): readonly string[] | null {
  const group = groupVersions(used, 'steps').find(({ version }) => version === name);
  return group === undefined ? null : [...(group.members ?? [])];
}

/** Group of the evaluations that ran elsewhere and name no version. */
export const EXTERNAL: VersionGroup = {
  version: 'external',
  members: null,
  prompt_version: null,
  prompt_version_id: null,
  examples: null,
  began_at: null,
  evaluations: null,
};

/** The version that began last. Evaluations from elsewhere that name none stand for a judge only where there are no others. */
export function newestOf<Of extends Pick<VersionGroup, 'version'>>(versions: readonly Of[]): Of | undefined {
  return versions.findLast(({ version }) => version !== EXTERNAL.version) ?? versions.at(-1);
}

/** The largest of 0, 1, 5, 10, 20, 50, 100, 200, 500, … that the revision reaches. */
export function stepOf(revision: number): number {
  if (revision < 5) return Math.min(revision, 1);
  return stepsOfDecade(revision).findLast((step) => step <= revision) ?? 5;
}

/** The next of these steps after a revision: where the next version of a judge begins in a report. */
export function stepAfter(revision: number): number {
  if (revision < 5) return revision < 1 ? 1 : 5;
  return stepsOfDecade(revision).find((step) => step > revision) ?? 10 * revision;
}

function stepsOfDecade(revision: number): number[] {
  const decade = 10 ** Math.floor(Math.log10(revision) + 1e-12);
  return [1, 2, 5, 10].map((digit) => digit * decade);
}
