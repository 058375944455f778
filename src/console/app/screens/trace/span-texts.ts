import { request, type Parameters } from '../../state/api.js';
import { openDocument, type OpenDocument } from '../../state/documents.js';
import { useQuery, type Answer } from '../../state/query.js';
import type { SpanHeadRead } from './span-head.js';

/** Texts may hold much memory. */
const KEPT_MS = 30_000;

/** What of a span may be large, as a document with a text or value of each name. */
export function useSpanTexts({ id, trace_id, created_at }: SpanHeadRead): Answer<OpenDocument> {
  const fields = 'input_data,output_data,attributes';
  return useDocumentAt('/spans', { id, trace_id, fields, limit: 1 }, created_at);
}

/**
 * The answer of a call as a document, read in a worker when it is large.
 * @param version differs when the answer does
 */
export function useDocumentAt(path: string, query: Parameters, version: string): Answer<OpenDocument> {
  return useQuery({
    key: [path, 'document', query, version],
    ask: async (signal) => openDocument(await (await request(path, { query, signal })).arrayBuffer()),
    keptMs: KEPT_MS,
  });
}
