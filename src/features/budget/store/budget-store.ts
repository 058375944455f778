import { guarded, type Database } from '../../../engine/metadata/database.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { BudgetStore, Spending, StoredBudget } from '../budget.js';

interface OfMonth {
  readonly projectId: string;
  readonly month: string;
}

function prepare(db: Database) {
  return {
    limit: db.prepare<OfMonth, Pick<StoredBudget, 'monthly_limit' | 'updated_at'>>(
      'SELECT monthly_limit, updated_at FROM model_budgets WHERE project_id = @projectId',
    ),
    spending: db.prepare<OfMonth, Spending & Pick<StoredBudget, 'told'>>(
      'SELECT calls, unpriced, cost, told FROM model_spending WHERE project_id = @projectId AND month = @month',
    ),
    setLimit: db.prepare<{ projectId: string; limit: number | null; at: Micros }>(
      `INSERT INTO model_budgets (project_id, monthly_limit, updated_at) VALUES (@projectId, @limit, @at)
       ON CONFLICT (project_id) DO UPDATE SET monthly_limit = @limit, updated_at = @at`,
    ),
    add: db.prepare<OfMonth & Spending>(
      `INSERT INTO model_spending (project_id, month, calls, unpriced, cost)
       SELECT id, @month, @calls, @unpriced, @cost FROM projects WHERE id = @projectId
       ON CONFLICT (project_id, month) DO UPDATE
       SET calls = calls + @calls, unpriced = unpriced + @unpriced, cost = cost + @cost`,
    ),
    setTold: db.prepare<OfMonth & { told: number }>(
      'UPDATE model_spending SET told = @told WHERE project_id = @projectId AND month = @month',
    ),
  };
}

/** Budgets, and what is spent of them, in the SQLite file. */
export class SqliteBudgetStore implements BudgetStore {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  find(projectId: string, month: string): StoredBudget {
    const { limit, spending } = this.#statements;
    return guarded(() => ({
      ...{ monthly_limit: null, updated_at: null, ...limit.get({ projectId, month }) },
      ...{ calls: 0, unpriced: 0, cost: 0, told: 0, ...spending.get({ projectId, month }) },
    }));
  }

  setLimit(projectId: string, limit: number | null, at: Micros): void {
    guarded(() => this.#statements.setLimit.run({ projectId, limit, at }));
  }

  add(projectId: string, month: string, { calls, unpriced, cost }: Spending): void {
    guarded(() => this.#statements.add.run({ projectId, month, calls, unpriced, cost }));
  }

  setTold(projectId: string, month: string, told: number): void {
    guarded(() => this.#statements.setTold.run({ projectId, month, told }));
  }
}
