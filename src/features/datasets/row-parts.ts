import type { Role } from './dataset.js';

type Columns = Readonly<Record<string, unknown>>;

/** What goes into the program that is tried, and what should come out. */
export interface RowParts {
  readonly input: Record<string, unknown>;
  readonly expected: Record<string, unknown>;
}

/** Columns that are taken for what should come out where no column has a role. */
const EXPECTED = ['expected', 'expected_output'];

/** The columns of a row by their roles. If no column has a role, all are input but one that is called `expected`. */
export function partsOf(row: Columns, roles: Readonly<Record<string, Role>>): RowParts {
  const hasRoles = Object.keys(roles).length > 0;
  const roleOf = (column: string) => (hasRoles ? roles[column] : EXPECTED.includes(column) ? 'expected' : 'input');
  const of = (role: Role) => Object.fromEntries(Object.entries(row).filter(([column]) => roleOf(column) === role));
  return { input: of('input'), expected: of('expected') };
}
