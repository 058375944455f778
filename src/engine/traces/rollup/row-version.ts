import { sql, type Sql } from '../clickhouse/client/sql.js';

/**
 * Versions of the rows that rounds store, of which the highest counts. From the highest bit on:
 * - 126: set, so that they are higher than those stored before migration 0009, which were sums of facts' versions;
 * - 66 to 125: of a trace, and of what it brings to a session, the version of its newest fact; of a session, the round that
 *   computed it;
 * - 65: whether it was computed whole, not without its tags;
 * - 1 to 64: the round, which decides between rows that have seen the same facts;
 * - 0: whether it was computed whole.
 *
 * Nothing in it depends on how much is stored of a thing: facts that say nothing any more may go.
 */
export function rowVersion({ state, whole, round }: { state: Sql; whole: Sql; round: Sql }): Sql {
  return sql`bitShiftLeft(toUInt128(1), 126) + bitShiftLeft(toUInt128(${state}), 66) + bitShiftLeft(toUInt128(${whole}), 65) + bitShiftLeft(toUInt128(${round}), 1) + ${whole}`;
}

/** The part of a version that tells which state of things a row is of, and whether it is whole. */
export function stateOf(version: Sql): Sql {
  return sql`bitShiftRight(${version}, 65)`;
}

/** {@link stateOf} a whole row that is computed of this state. */
export function wholeState(state: Sql): Sql {
  return sql`bitShiftLeft(toUInt128(1), 61) + bitShiftLeft(toUInt128(${state}), 1) + 1`;
}

/** What {@link rowVersion} was given as `state`; 0 of a row that was stored before migration 0009. */
export function stateVersion(version: Sql): Sql {
  return sql`toUInt64(bitAnd(if(${version} < bitShiftLeft(toUInt128(1), 126), toUInt128(0), bitShiftRight(${version}, 66)), toUInt128(1152921504606846975)))`;
}
