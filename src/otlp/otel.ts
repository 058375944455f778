import type { Span } from '../engine/traces/model/span/span.js';
import { formatTimestamp } from '../engine/timestamp.js';
import { SPAN_ID, spanUuid, TRACE_ID, traceUuid } from '../engine/schema/ids.js';
import type { Attributes, OtlpEvent, OtlpLink, OtlpResource, OtlpScope, OtlpSpan } from './model.js';

/** A part of a span as it is shown within attributes. */
export type Shown = Readonly<Record<string, unknown>>;

const SPAN_KINDS: readonly (string | null)[] = [null, 'internal', 'server', 'client', 'producer', 'consumer'];

/**
 * Writes what OpenTelemetry knows of a span beyond the interface, under `otel.*` of its attributes: name, span kind, status
 * message, trace state, events, links, resource, scope, and counts of what the exporter dropped.
 * @param mapped what says some of it already
 */
export function writeOtelAttributes(
  span: OtlpSpan,
  mapped: Pick<Span, 'name' | 'error_message'>,
  resource: Shown | null,
  scope: Shown | null,
): void {
  const attributes = span.attributes as Record<string, unknown>;
  if (span.name !== '' && span.name !== mapped.name) attributes['otel.name'] = span.name;
  const kind = SPAN_KINDS[span.kind];
  if (kind !== undefined && kind !== null) attributes['otel.kind'] = kind;
  if (span.statusMessage !== '' && span.statusMessage !== mapped.error_message)
    attributes['otel.status_message'] = span.statusMessage;
  if (span.traceState !== '') attributes['otel.trace_state'] = span.traceState;
  if (span.events.length > 0) attributes['otel.events'] = span.events.map(shownEvent);
  if (span.links.length > 0) attributes['otel.links'] = span.links.map(shownLink);
  if (resource !== null) attributes['otel.resource'] = resource;
  if (scope !== null) attributes['otel.scope'] = scope;
  if (span.droppedAttributesCount > 0) attributes['otel.dropped_attributes_count'] = span.droppedAttributesCount;
  if (span.droppedEventsCount > 0) attributes['otel.dropped_events_count'] = span.droppedEventsCount;
  if (span.droppedLinksCount > 0) attributes['otel.dropped_links_count'] = span.droppedLinksCount;
}

export function shownResource(resource: OtlpResource): Shown | null {
  const shown: Record<string, unknown> = {};
  addAttributes(shown, resource.attributes, resource.droppedAttributesCount);
  if (resource.schemaUrl !== '') shown.schema_url = resource.schemaUrl;
  return Object.keys(shown).length === 0 ? null : shown;
}

export function shownScope(scope: OtlpScope): Shown | null {
  const shown: Record<string, unknown> = {};
  if (scope.name !== '') shown.name = scope.name;
  if (scope.version !== '') shown.version = scope.version;
  addAttributes(shown, scope.attributes, scope.droppedAttributesCount);
  if (scope.schemaUrl !== '') shown.schema_url = scope.schemaUrl;
  return Object.keys(shown).length === 0 ? null : shown;
}

function shownEvent(event: OtlpEvent): Shown {
  const shown: Record<string, unknown> = {
    name: event.name,
    time: event.time === 0 ? null : formatTimestamp(event.time),
  };
  addAttributes(shown, event.attributes, event.droppedAttributesCount);
  return shown;
}

/** Ids as UUIDs, as they name spans here; an id that is none stays as it came. */
function shownLink(link: OtlpLink): Shown {
  const shown: Record<string, unknown> = {
    trace_id: TRACE_ID.test(link.traceId) ? traceUuid(link.traceId) : link.traceId,
    span_id: SPAN_ID.test(link.spanId) ? spanUuid(link.spanId) : link.spanId,
  };
  if (link.traceState !== '') shown.trace_state = link.traceState;
  addAttributes(shown, link.attributes, link.droppedAttributesCount);
  return shown;
}

function addAttributes(shown: Record<string, unknown>, attributes: Attributes, dropped: number): void {
  if (Object.keys(attributes).length > 0) shown.attributes = attributes;
  if (dropped > 0) shown.dropped_attributes_count = dropped;
}
