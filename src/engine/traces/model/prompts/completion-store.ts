import type { Span } from '../span/span.js';
import type { PromptIdentity } from './completion.js';

/** A completion: the part of its span that people are shown. */
export type Completion = Pick<Span, 'id' | 'name' | 'started_at' | 'input_data' | 'output_data' | 'attributes'>;

/** A completion as it is listed with what people said of it. Of long texts the middle is left out, which they say. */
export type RecordedCompletion = Pick<Span, 'trace_id' | 'name' | 'started_at' | 'input_data' | 'output_data'>;

/**
 * The completions of prompts among the stored spans. Each read sees every acknowledged write, and is limited in time and
 * memory. Throws DomainError `unavailable`.
 */
export interface Completions {
  /** Ids of the newest completions by start time, newest first; among very many spans, of those found in limited time. */
  newest(projectId: string, prompt: PromptIdentity, limit: number, signal?: AbortSignal): Promise<string[]>;
  /** The completion with this id; undefined when there is none, or it is none of this prompt. @param prompt null: any, or none */
  find(
    projectId: string,
    prompt: PromptIdentity | null,
    id: string,
    signal?: AbortSignal,
  ): Promise<Completion | undefined>;
  /**
   * Numbers of the prompt's versions that spans name, by the id of the span; those that name none are left out. Of spans
   * with one id, the newest counts.
   */
  versionsNamed(
    projectId: string,
    prompt: PromptIdentity,
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, number>>;
  /** Those of some ids that spans have, in their order. */
  stored(projectId: string, ids: readonly string[], signal?: AbortSignal): Promise<string[]>;
  /** The slug of a prompt that a span names; null: none, undefined: there is no span with this id. Of several, the newest counts. */
  slugNamed(projectId: string, id: string, signal?: AbortSignal): Promise<string | null | undefined>;
  /** Spans that are there, by id; of spans with one id, the newest. */
  recorded(projectId: string, ids: readonly string[], signal?: AbortSignal): Promise<Map<string, RecordedCompletion>>;
}

/** Longest input or output in a list of feedback, in characters; the middle of a longer one is left out. */
export const MAX_LISTED_TEXT = 1_000_000;
