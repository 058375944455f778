import { parseTimestamp, type Micros } from '../../engine/timestamp.js';

/** What the place of a run among others says; null: nothing. */
export interface PlaceOfRun {
  readonly trace: string | null;
  readonly parent: string | null;
  readonly start: Micros | null;
}

const NOWHERE: PlaceOfRun = { trace: null, parent: null, start: null };
const SEGMENT = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{0,9})Z(.+)$/;

/** Reads segments of start and id, those of the trace's root first, such as `20260801T120000000000Z<id>.20260801T…`. */
export function placeOfRun(dottedOrder: string | null | undefined): PlaceOfRun {
  if (dottedOrder == null) return NOWHERE;
  // It may be long: only the segments that say something are taken out of it.
  const [first, last] = [dottedOrder.indexOf('.'), dottedOrder.lastIndexOf('.')];
  const root = first === -1 ? dottedOrder : dottedOrder.slice(0, first);
  const above = last === -1 ? undefined : segmentBefore(dottedOrder, last);
  return { trace: idIn(root), parent: idIn(above), start: startIn(dottedOrder.slice(last + 1)) };
}

function segmentBefore(dottedOrder: string, end: number): string {
  const before = dottedOrder.slice(0, end);
  return before.slice(before.lastIndexOf('.') + 1);
}

function idIn(segment: string | undefined): string | null {
  return SEGMENT.exec(segment ?? '')?.[8] ?? null;
}

function startIn(segment: string | undefined): Micros | null {
  const [, year, month, day, hour, minute, second, fraction = ''] = SEGMENT.exec(segment ?? '') ?? [];
  if (year === undefined) return null;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction === '' ? '0' : fraction}Z`;
  return parseTimestamp(iso) ?? null;
}
