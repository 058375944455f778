import { tokensOf, type FiguresRead, type GroupRead } from './statistics.js';

/** Most users that are listed: a search finds the others. */
export const MAX_USERS = 48;
/** As many users as statistics show groups (`MAX_GROUPS`) are asked for at once, so that each is one of these. */
const AT_ONCE = 8;
/** Characters of users in one address: servers and proxies take some thousands. */
const MAX_CHARACTERS = 4000;

/** What users did in a time; null: not known. */
export interface UserFigures {
  readonly traces: number;
  readonly errors: number;
  readonly cost: number | null;
  readonly tokens: number | null;
  /** When their latest trace started. */
  readonly last: string | null;
}

export interface UserRow {
  readonly user: string;
  readonly traces: number;
  /** Undefined: they have not come yet. */
  readonly figures: UserFigures | undefined;
}

export const SORTS = ['traces', 'errors', 'cost', 'tokens', 'last'] as const;
export type UserSort = (typeof SORTS)[number];

/** The sort that an address names, else the usual one. */
export function sortNamed(name: string | null): UserSort {
  return SORTS.find((sort) => sort === name) ?? 'traces';
}

/** Users as they are asked for, some at once. */
export function batchesOf(users: readonly string[]): string[][] {
  const batches: string[][] = [];
  let length = 0;
  for (const user of users) {
    const added = encodeURIComponent(user).length;
    const last = batches.at(-1);
    if (last === undefined || last.length === AT_ONCE || length + added > MAX_CHARACTERS) {
      batches.push([user]);
      length = added;
    } else {
      last.push(user);
      length += added;
    }
  }
  return batches;
}

/** The figures of users, by what statistics say of the groups of their tag. */
export function figuresByUser(groups: readonly Pick<GroupRead, 'value' | 'last_started_at' | 'totals'>[]) {
  return new Map(
    groups.map(({ value, last_started_at, totals }) => [String(value), figuresOf(totals, last_started_at)]),
  );
}

export function figuresOf(totals: FiguresRead, last: string | null): UserFigures {
  return {
    traces: totals.count ?? 0,
    errors: totals.error_count ?? 0,
    cost: totals.cost ?? null,
    tokens: tokensOf(totals),
    last,
  };
}

/** Users in an order; those whose figure is not known stand last, whichever way. */
export function sortedUsers(users: readonly UserRow[], by: UserSort, descending: boolean): UserRow[] {
  const figureOf = ({ traces, figures }: UserRow) => (by === 'traces' ? (figures?.traces ?? traces) : figures?.[by]);
  return users.toSorted((one, other) => {
    const [a, b] = [figureOf(one) ?? null, figureOf(other) ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order = a < b ? -1 : Number(a > b);
    return descending ? -order : order;
  });
}
