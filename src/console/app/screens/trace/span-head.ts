import type { SpanRead } from '../../../../engine/traces/model/list/fields.js';

/** The texts of a span may be large: they come by themselves. */
export type SpanHeadRead = Omit<SpanRead, 'input_data' | 'output_data' | 'attributes'>;
