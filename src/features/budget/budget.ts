import type { Micros } from '../../engine/timestamp.js';

/** Shares of a budget, in percent, that destinations are told of. */
export const THRESHOLDS = [80, 100] as const;

/** How far sums of costs may be from what they would be on paper. */
const EPSILON = 1e-9;

/** Calls of models, and what they cost. */
export interface Spending {
  readonly calls: number;
  /** Of these, calls whose cost is not known. */
  readonly unpriced: number;
  /** US dollars. */
  readonly cost: number;
}

/** The budget of a project, and what was spent in a month. */
export interface StoredBudget extends Spending {
  /** US dollars; null: there is none. */
  readonly monthly_limit: number | null;
  /** Null: it was never set. */
  readonly updated_at: Micros | null;
  /** The largest share that destinations were told of; 0: none. */
  readonly told: number;
}

/** Keeps budgets and what is spent. Each call is one durable transaction, or part of the one around it. @throws DomainError `unavailable` */
export interface BudgetStore {
  find(projectId: string, month: string): StoredBudget;
  setLimit(projectId: string, limit: number | null, at: Micros): void;
  /** Adds to what was spent; nothing for a project that is gone. */
  add(projectId: string, month: string, spending: Spending): void;
  setTold(projectId: string, month: string, told: number): void;
}

/** Whether all of the budget is spent. */
export function isSpent({ monthly_limit: limit, cost }: Pick<StoredBudget, 'monthly_limit' | 'cost'>): boolean {
  return limit !== null && cost >= limit * (1 - EPSILON);
}

/** The largest threshold that what was spent has reached. Nothing is reached of a budget of nothing. */
export function thresholdOf({ monthly_limit: limit, cost }: Pick<StoredBudget, 'monthly_limit' | 'cost'>): number {
  if (limit === null || limit === 0) return 0;
  return Math.max(0, ...THRESHOLDS.filter((percent) => cost * 100 >= limit * percent * (1 - EPSILON)));
}

/** For people: up to cents, unless that says nothing. */
export function inDollars(cost: number): string {
  return `$${cost > 0 && cost < 0.01 ? Number(cost.toPrecision(2)) : Math.round(cost * 100) / 100}`;
}
