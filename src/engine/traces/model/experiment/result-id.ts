import { namedUuids } from '../../../schema/named-uuids.js';

/** Names the ids of results, which are made of what tells results apart. */
const idOf = namedUuids('3f2c9d54-8d0b-4b0e-9a7e-5f6b1c0d7e42');

/** The id of a result, of its span and of the trace that this is in: what is sent again replaces. */
export function resultId(experimentId: string, rowId: string, repetition: number): string {
  return idOf(JSON.stringify([experimentId, rowId, repetition]));
}

/** The ids of all results of a row. */
export function resultIds(experimentId: string, rowId: string, repetitions: number): string[] {
  return Array.from({ length: repetitions }, (_none, index) => resultId(experimentId, rowId, index + 1));
}
