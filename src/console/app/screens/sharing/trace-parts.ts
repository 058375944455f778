import type * as traceChunk from '../trace/index.js';

/** What the trace view is made of: a chunk that is loaded beside this one. */
export type TraceParts = typeof traceChunk;
