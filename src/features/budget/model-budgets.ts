import { LRUCache } from 'lru-cache';
import { DomainError } from '../../engine/errors.js';
import { changesBetween, type AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Signals } from '../../engine/signals/signals.js';
import { formatTimestamp, type Micros } from '../../engine/timestamp.js';
import { BackgroundLoop } from '../../engine/work/background-loop.js';
import { RETRIES } from '../../engine/work/backoff.js';
import type { Announce } from '../webhooks/event.js';
import { inDollars, isSpent, THRESHOLDS, thresholdOf, type BudgetStore, type StoredBudget } from './budget.js';
import { firstDayAfter, monthAfter, monthOf } from './month.js';

export interface ModelBudgetsParts {
  readonly store: BudgetStore;
  readonly audit: AuditLog;
  readonly announce: Announce;
  /** Stores all that is stored meanwhile, or nothing of it. */
  readonly together: <T>(store: () => T) => T;
  readonly observer: Pick<Signals, 'spendingNotStored'>;
  readonly now?: () => Micros;
}

/** A budget as it is now. */
export interface ModelBudget extends StoredBudget {
  /** The month that it is about, such as `2026-11`. */
  readonly month: string;
  /** Why calls wait, in a sentence; null: they do not. */
  readonly waiting_reason: string | null;
}

/** Calls that are not stored yet, of a project in a month. */
interface Unstored {
  readonly projectId: string;
  readonly month: string;
  calls: number;
  unpriced: number;
  cost: number;
}

/** Projects whose budget is kept; of others it is read again. */
const MAX_KEPT = 10_000;
/** How long calls gather that are stored together: models take far longer. */
const GATHER_MS = 20;

/**
 * What the server's own calls of models may cost, and do. A call is counted before its answer is used, so that nothing that a
 * model was paid for is left out; calls under way when a budget is spent are answered, and counted, too.
 */
export class ModelBudgets {
  readonly #parts: ModelBudgetsParts;
  readonly #kept = new LRUCache<string, ModelBudgetRow>({ max: MAX_KEPT });
  readonly #unstored = new Map<string, Unstored>();
  readonly #loop: BackgroundLoop;
  readonly #listeners: (() => void)[] = [];
  /** Resolves once what is counted now is stored, or could not be. */
  #storing: { readonly done: Promise<void>; readonly end: () => void } | null = null;

  constructor(parts: ModelBudgetsParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({
      round: () => this.#round(),
      onFailure: (error) => parts.observer.spendingNotStored({ error }),
      gatherMs: GATHER_MS,
      retry: RETRIES.soon,
    });
  }

  /** Calls back when calls that waited may go on. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** @throws DomainError `unavailable` */
  get(projectId: string): ModelBudget {
    const { month, row } = this.#current(projectId);
    return { ...row, month, waiting_reason: isSpent(row) ? reasonOf(row, month) : null };
  }

  /** Why calls of a project have to wait, in a sentence; null: they do not. @throws DomainError `unavailable` */
  waitingReason(projectId: string): string | null {
    return this.get(projectId).waiting_reason;
  }

  /** @throws DomainError `unavailable` */
  isSpent(projectId: string): boolean {
    return isSpent(this.#current(projectId).row);
  }

  /** For calls that somebody waits for. @throws DomainError `conflict` when the budget is spent; `unavailable` */
  require(projectId: string): void {
    const reason = this.waitingReason(projectId);
    if (reason !== null) throw new DomainError('conflict', reason);
  }

  /** @param limit US dollars a month; null: any @throws DomainError `unavailable` */
  set(by: Principal, limit: number | null): ModelBudget {
    const { store, audit } = this.#parts;
    const { project_id } = by;
    const { month } = this.#current(project_id);
    const known = store.find(project_id, month);
    if (known.monthly_limit === limit) return this.get(project_id);
    audit.together(() => {
      store.setLimit(project_id, limit, this.#now());
      const row = store.find(project_id, month);
      // What a larger budget has not reached, it is told again once it does.
      if (thresholdOf(row) < row.told) store.setTold(project_id, month, thresholdOf(row));
      this.#tell(project_id, month);
      const changes = changesBetween(known, { ...known, monthly_limit: limit }, ['monthly_limit']);
      audit.done({ event: 'modelBudgetSet', by, project_id, changes });
    });
    this.forget(project_id);
    for (const listener of this.#listeners) listener();
    return this.get(project_id);
  }

  /**
   * Counts a call that was answered.
   * @param cost US dollars; null: unknown
   * @returns once it is stored; when the store does not answer, it is counted all the same, and stored later
   */
  record(projectId: string, cost: number | null): Promise<void> {
    const month = monthOf(this.#now());
    const key = `${projectId}/${month}`;
    const sum = this.#unstored.get(key) ?? { projectId, month, calls: 0, unpriced: 0, cost: 0 };
    sum.calls += 1;
    sum.unpriced += cost === null ? 1 : 0;
    sum.cost += cost ?? 0;
    this.#unstored.set(key, sum);
    this.#storing ??= pending();
    const { done } = this.#storing;
    if (this.#loop.signal.aborted) this.#storeRest();
    else this.#loop.wake();
    return done;
  }

  /** To be called when a project is deleted or was changed by others. */
  forget(projectId: string): void {
    this.#kept.delete(projectId);
  }

  /** Stores what is counted. */
  async close(): Promise<void> {
    await this.#loop.close();
    this.#storeRest();
  }

  #storeRest(): void {
    try {
      this.#round();
    } catch (error) {
      this.#parts.observer.spendingNotStored({ error });
    }
  }

  #now(): Micros {
    return this.#parts.now?.() ?? Date.now() * 1000;
  }

  /** With what is counted and not stored yet. */
  #current(projectId: string): { readonly month: string; readonly row: StoredBudget } {
    const month = monthOf(this.#now());
    let kept = this.#kept.get(projectId);
    if (kept?.month !== month) {
      kept = { month, row: this.#parts.store.find(projectId, month) };
      this.#kept.set(projectId, kept);
    }
    const { row } = kept;
    const more = this.#unstored.get(`${projectId}/${month}`);
    if (more === undefined) return kept;
    const sums = { calls: row.calls + more.calls, unpriced: row.unpriced + more.unpriced, cost: row.cost + more.cost };
    return { month, row: { ...row, ...sums } };
  }

  /** Stores what was counted, together with the events that it makes. */
  #round(): number {
    const storing = this.#storing;
    this.#storing = null;
    const { store, together } = this.#parts;
    const sums = [...this.#unstored.values()];
    try {
      if (sums.length > 0)
        together(() => {
          for (const { projectId, month, ...spending } of sums) {
            store.add(projectId, month, spending);
            this.#tell(projectId, month);
          }
        });
      this.#unstored.clear();
      for (const { projectId } of sums) this.forget(projectId);
    } finally {
      storing?.end();
    }
    return Infinity;
  }

  /** Notes the events of thresholds that were reached: inside of a transaction. */
  #tell(projectId: string, month: string): void {
    const { store, announce } = this.#parts;
    const row = store.find(projectId, month);
    const reached = thresholdOf(row);
    for (const percent of THRESHOLDS)
      if (percent > row.told && percent <= reached) announce(eventOf(projectId, month, row, percent));
    if (reached > row.told) store.setTold(projectId, month, reached);
  }
}

interface ModelBudgetRow {
  readonly month: string;
  readonly row: StoredBudget;
}

function pending() {
  let end = (): void => undefined;
  const done = new Promise<void>((resolve) => (end = resolve));
  return { done, end: () => end() };
}

function reasonOf({ monthly_limit: limit, cost }: StoredBudget, month: string): string {
  const spent =
    limit === 0
      ? 'The budget of the project allows no model calls'
      : `The project has spent its budget for model calls of this month (${inDollars(cost)} of ${inDollars(limit ?? 0)})`;
  return `${spent}: calls wait until ${firstDayAfter(month)}, or until the budget is raised`;
}

function eventOf(project_id: string, month: string, { monthly_limit, cost }: StoredBudget, percent: number) {
  const limit = inDollars(monthly_limit ?? 0);
  const resets_at = formatTimestamp(monthAfter(month));
  const then = percent < 100 ? '' : `. Further calls wait until ${firstDayAfter(month)}, or until the budget is raised`;
  return {
    project_id,
    type: 'budget.reached' as const,
    summary: `${percent} % of the budget for model calls of ${month} is spent: ${inDollars(cost)} of ${limit}${then}`,
    data: { percent, month, monthly_limit, spent: cost, resets_at },
  };
}
