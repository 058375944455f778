import { sessionFields, spanFields, traceFields } from './fields.js';
import { readSchema } from './read-schema.js';

export const SpanRead = readSchema('SpanRead', spanFields);
export const TraceRead = readSchema('TraceRead', traceFields);
export const SessionRead = readSchema('SessionRead', sessionFields);
