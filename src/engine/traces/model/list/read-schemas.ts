import { Type, type TUnsafe } from '@sinclair/typebox';
import {
  sessionFields,
  spanFields,
  traceFields,
  type SessionRead as Session,
  type SpanRead as Span,
  type TraceRead as Trace,
} from './fields.js';
import { readSchema } from './read-schema.js';

export const SpanRead = Type.Unsafe<Span>(readSchema('SpanRead', spanFields));
export const TraceRead = Type.Unsafe<Trace>(readSchema('TraceRead', traceFields));
export const SessionRead = Type.Unsafe<Session>(readSchema('SessionRead', sessionFields));

/** Objects of which an answer may lack fields. */
export const partly = <T>(schema: TUnsafe<T>) => Type.Unsafe<Partial<T>[]>(Type.Array(schema));
