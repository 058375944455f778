/** Ids as clients may write them: UUIDs, and ids of OpenTelemetry as it shows them (32 and 16 hex digits), in either case. */
export const ID = /^(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{32}|[0-9a-fA-F]{16})$/;
/** The same as the documentation says it. */
export const ID_DESCRIPTION =
  'A UUID of any version. OpenTelemetry ids are accepted: 32 hex digits (of a trace) are the UUID with these ' +
  'digits; 16 (of a span) are the UUID of these and 16 zeros, as OTLP stores them. Case does not matter. ' +
  'Responses have UUIDs in lower case.';

/** Ids of usable spans of OpenTelemetry, as lower-case hex. */
export const TRACE_ID = /^[0-9a-f]{32}$/;
export const SPAN_ID = /^[0-9a-f]{16}$/;

/** A UUID of any version, also one that no standard knows: a trace id of OpenTelemetry makes such a one. */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** An id in any of its forms as the lower-case UUID by which it is stored; a text that is none stays one. */
export function uuidOf(id: string): string {
  const lower = id.toLowerCase();
  // Nearly every id is a UUID already.
  if (lower.length === NIL_UUID.length) return lower;
  if (TRACE_ID.test(lower)) return traceUuid(lower);
  return SPAN_ID.test(lower) ? spanUuid(lower) : lower;
}

/** A trace id of OpenTelemetry as a UUID: its 16 bytes. */
export function traceUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A span id of OpenTelemetry as a UUID: its 16 hex digits, then 16 zeros. Clients compute parents the same way. */
export function spanUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12)}-0000-000000000000`;
}
