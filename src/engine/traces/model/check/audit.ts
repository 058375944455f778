import type { FlawName } from './flaws.js';

/** Something that looks wrong. */
export interface Suspect {
  readonly flaw: FlawName;
  /** Project that it belongs to; empty: none. */
  readonly project: string;
  /** What is wrong: an id, or a name that an operator finds it by. */
  readonly id: string;
  /** For how many things it stands; default one. */
  readonly count?: number;
  /** More about it, for people. */
  readonly detail?: string;
  /** What it is compared with, as text: where that changes, it was written to meanwhile, and nothing is known yet. */
  readonly state?: string;
  /** What its audit needs to look at it again, or to repair it. */
  readonly key?: string;
}

export interface AuditedPage {
  readonly checked: number;
  readonly suspects: readonly Suspect[];
  /** How many more there are in this page that are not listed; default none. */
  readonly unlisted?: number;
  /** How many could not be looked at, as they are too large or as something else was in the way; default none. */
  readonly skipped?: number;
}

/** How much an audit looks at. */
export interface Extent {
  /** About how many things of each kind; null: all. */
  readonly sample: number | null;
  /** Another one picks others; the same one picks the same. */
  readonly seed: number;
}

/** Compares one kind of stored things with what they must agree with, a page at a time. */
export interface Audit {
  readonly title: string;
  /** What is counted, in the plural. */
  readonly unit: string;
  total(): Promise<number>;
  pages(): AsyncIterable<AuditedPage>;
  /** Looks at the same things again. Absent: what was found does not change by itself. */
  again?(suspects: readonly Suspect[]): Promise<readonly Suspect[]>;
  /** Repairs what can be repaired. May be interrupted, and done again. Absent: nothing can. */
  mend?(suspects: readonly Suspect[]): Promise<void>;
}
