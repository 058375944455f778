import type { LogFields } from './logger.js';
import type { Metrics } from './metrics.js';

/** A line of the log, declared once: the log writes it, and the manual lists it. */
export type Line = TroubleLine | NoteLine;

interface LineWords {
  /** Never changes; what does is in fields. */
  readonly message: string;
  /** When the line is written, for the manual. */
  readonly when: string;
}

/** What an operator should look at, with what to do about it. */
interface TroubleLine extends LineWords {
  readonly level: 'error' | 'warn';
  readonly action: string;
}

interface NoteLine extends LineWords {
  readonly level: 'info' | 'debug';
}

/** Something that only metrics tell. */
export interface Measured<Fields> {
  readonly count: (metrics: Metrics, fields: Fields) => void;
}

interface Logged<Fields> extends Measured<Fields> {
  readonly log: (fields: Fields) => LogFields;
}

/** Something that has a line in the log. */
export type Signal<Fields> = Line & Logged<Fields>;

/**
 * Declares something that has a line in the log: what the line says of it, by the names in the log, where nothing gets that is
 * not named, and what it does to metrics. Both default to nothing.
 * @typeParam Fields what is said of it where it happens; default: nothing but that it does
 */
export function signal<Fields = never>(declared: Line & Partial<Logged<Fields>>): Signal<Fields> {
  return { log: () => ({}), count: () => undefined, ...declared };
}

/** Declares something that only metrics tell. */
export function measured<Fields = never>(count: Measured<Fields>['count']): Measured<Fields> {
  return { count };
}

/** Keeps the names and types of one noun's signals, and of lines that derived signals choose from. */
export function catalogOf<const Catalog extends Readonly<Record<string, Line | Measured<never>>>>(
  catalog: Catalog,
): Catalog {
  return catalog;
}

/** For each signal of a catalog the function that says that it happened. */
export type Emitters<Catalog> = {
  readonly [Name in keyof Catalog as Catalog[Name] extends Measured<never> ? Name : never]: Emitter<Catalog[Name]>;
};

type Emitter<Declared> =
  Declared extends Measured<infer Fields> ? ([Fields] extends [never] ? () => void : (fields: Fields) => void) : never;

/** Names of the lines in a catalog. */
export type LineName<Catalog> = { [Name in keyof Catalog]: Catalog[Name] extends Line ? Name : never }[keyof Catalog];

/**
 * Writes a line of the log, with its name as `event` and, when something is to be done, what as `action`.
 * @param again whether the same was logged a moment ago: the line is for level `debug` then
 */
export type LogEvent<Name> = (name: Name, fields?: LogFields, again?: boolean) => void;

/** Seconds as milliseconds, rounded to a tenth for log lines. */
export function milliseconds(seconds: number): number {
  return Math.round(seconds * 1e4) / 10;
}
