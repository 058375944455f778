import type { Micros } from '../../../timestamp.js';
import { plainFields, type PlainField, type SpanCall, type SpanRead } from '../list/fields.js';
export type { Micros };

export type SpanStatus = 'unset' | 'ok' | 'error';

/** Fields of answers that are no fields of stored spans, or have other types there. */
type Read = 'project_id' | 'has_error' | 'created_at' | 'started_at' | 'ended_at' | keyof SpanCall;

/**
 * A span as it is stored: validated, normalized, with every default applied and its cost settled. All transports
 * (REST, OTLP) produce this one shape, and the write path knows no other.
 * Names are those of the interface, so that nothing has to be renamed on its way through.
 */
export interface Span extends Omit<SpanRead, Read> {
  readonly started_at: Micros;
  readonly ended_at: Micros | null;
  /** Whether the server calculated the cost; a cost that a client sent stays whatever prices do. */
  readonly cost_calculated?: boolean;
  /** What its attributes say of the call of a model that it is, and of its prompt; absent: nothing. */
  readonly call?: SpanCall;
}

/** The plain fields of a span that says none of them. */
export const NOTHING_SAID = Object.fromEntries(Object.keys(plainFields).map((name) => [name, null])) as Readonly<
  Record<PlainField, null>
>;
