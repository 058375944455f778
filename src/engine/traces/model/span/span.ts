import type { Tags } from '../../../schema/tags.js';
import type { Micros } from '../../../timestamp.js';
import type { SpanCall } from './call.js';
export type { Micros };

export type SpanStatus = 'unset' | 'ok' | 'error';

/**
 * A span as it is stored: validated, normalized, with every default applied and its cost settled. All transports
 * (REST, OTLP) produce this one shape, and the write path knows no other.
 * Names are those of the interface, so that nothing has to be renamed on its way through.
 */
export interface Span {
  /** Lower-case UUID; with `trace_id` and the project it identifies the span. */
  readonly id: string;
  readonly trace_id: string;
  readonly parent_span_id: string | null;
  readonly session_id: string | null;
  /** Name of the session, when the client gave one. */
  readonly session_name: string | null;
  readonly name: string;
  /** Kind that matches `KIND`: one of the contract's six or any other identifier. */
  readonly kind: string;
  readonly status: SpanStatus | null;
  readonly started_at: Micros;
  readonly ended_at: Micros | null;
  /** Duration in milliseconds, fractions allowed. */
  readonly duration_ms: number | null;
  /** Cost in US dollars, kept to 1e-12. */
  readonly cost: number | null;
  /** Whether the server calculated the cost; a cost that a client sent stays whatever prices do. */
  readonly cost_calculated?: boolean;
  /** What its attributes say of the call of a model that it is, and of its prompt; absent: nothing. */
  readonly call?: SpanCall;
  readonly input_data: string | null;
  readonly output_data: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly tags: Tags;
  readonly trace_tags: Tags;
  readonly session_tags: Tags;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly error_stack: string | null;
  readonly code_filepath: string | null;
  readonly code_lineno: number | null;
}
