import type { Usage, UsageOf, UsageTimes, OwnUsage } from '../../engine/traces/model/usage.js';

/** What calls were for, by name. */
export interface UsageName {
  /** Name of the judge, of the judge that was tried, of the user; slug of the prompt. */
  readonly name: string;
  /** Id of what has the name. */
  readonly subject_id: string;
}

export interface UsageNames {
  /** In the order of the groups; undefined: nothing has a name that the project knows. */
  of(projectId: string, groups: readonly Pick<UsageOf, 'purpose' | 'id'>[]): (UsageName | undefined)[];
}

export type NamedUsage = UsageOf & { readonly [Name in keyof UsageName]: UsageName[Name] | null };

export interface NamedUsageRead {
  readonly total: Usage;
  readonly groups: readonly NamedUsage[];
}

/** The same, with names. */
export class OwnUsageService {
  readonly #usage: OwnUsage;
  readonly #names: UsageNames;

  constructor(usage: OwnUsage, names: UsageNames) {
    this.#usage = usage;
    this.#names = names;
  }

  /** @throws DomainError `unavailable` */
  async read(projectId: string, times: UsageTimes, signal?: AbortSignal): Promise<NamedUsageRead> {
    const { total, groups } = await this.#usage.read(projectId, times, signal);
    const names = this.#names.of(projectId, groups);
    return {
      total,
      groups: groups.map((group, index) => ({ ...group, ...(names[index] ?? { name: null, subject_id: null }) })),
    };
  }
}
