import type { Named, NamedStore } from '../../engine/named-store.js';
import type { ListDefinition } from '../../engine/traces/model/list/definitions.js';

/** How far back a dashboard looks that does not say so. */
export const DEFAULT_WINDOW = '24h';

/** How figures are drawn. */
export const CHART_KINDS = ['lines', 'bars', 'number', 'table'] as const;

/** What `:stats` is asked for, and how the answer is drawn. */
export interface Chart {
  readonly title: string;
  readonly list: ListDefinition['name'];
  /** Filters, as in the URL of the list. */
  readonly query: string;
  readonly measures: readonly string[];
  readonly group_by: string | null;
  /** Length of the buckets of time; null: by the window. */
  readonly bucket: string | null;
  readonly kind: (typeof CHART_KINDS)[number];
}

/** Charts under a name, of the same time. */
export interface Dashboard extends Named {
  /** How far back it looks, unless its reader says otherwise: such as `24h`. */
  readonly window: string;
  /** In the order in which they are shown. */
  readonly charts: readonly Chart[];
  /** Grows with each change. */
  readonly version: number;
}

export type DashboardStore = NamedStore<Dashboard>;
