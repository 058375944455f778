export type EntityType = 'span' | 'trace' | 'session';

/**
 * The spans below an entity: of a trace its spans, of a session those of the traces that belong to it now.
 * Each sees every acknowledged write. Throws DomainError `unavailable`.
 */
export interface EntitySpans {
  /** Span ids in portions, each once. */
  below(
    projectId: string,
    type: 'trace' | 'session',
    id: string,
    signal?: AbortSignal,
  ): AsyncIterable<readonly string[]>;
  exists(projectId: string, type: EntityType, id: string, signal?: AbortSignal): Promise<boolean>;
}
