import type { Manifest, ProjectFigures } from './manifest.js';

/** The parts of a table that were there at the moment, as one folder each. */
export interface FrozenTable {
  readonly name: string;
  readonly folder: string;
}

/** The spans of one moment: hard links to files that never change. */
export interface FrozenSpans {
  /** The version of the last commit before the moment. */
  readonly upTo: number;
  /** For how long commits were held back for it. */
  readonly heldMs: number;
  readonly migrations: Manifest['migrations'];
  readonly tables: readonly FrozenTable[];
  readonly figures: readonly ProjectFigures[];
}
