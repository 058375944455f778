/** Ids of usable spans, as lower-case hex. */
export const TRACE_ID = /^[0-9a-f]{32}$/;
export const SPAN_ID = /^[0-9a-f]{16}$/;

/** A UUID of any version, also one that no standard knows: a trace id makes such a one. */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** A trace id as a UUID: its 16 bytes. */
export function traceUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A span id as a UUID: its 16 hex digits, then 16 zeros. Clients compute parents the same way. */
export function spanUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12)}-0000-000000000000`;
}
