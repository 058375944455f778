import type { PromptIdentity } from './completion.js';
import type { Window } from '../../../schema/page.js';
import type { Micros } from '../../../timestamp.js';

/** Completions of a prompt. What is null does not restrict. */
export interface CompletionSelection {
  readonly projectId: string;
  readonly prompt: PromptIdentity;
  /** Id of the version that they were made with, the first of the prompt's that they name; `none`: they name none. */
  readonly version: string | null;
  /** When they started, both inclusive. */
  readonly from: Micros | null;
  readonly to: Micros | null;
  readonly descending: boolean;
}

/** A completion without its texts. */
export interface CompletionSpan {
  readonly id: string;
  readonly trace_id: string;
  readonly started_at: Micros;
  readonly name: string;
  readonly has_error: boolean;
  readonly duration_ms: number | null;
  readonly cost: number | null;
  readonly version_id: string | null;
}

export interface CompletionTexts {
  readonly input: string | null;
  readonly output: string | null;
}

/** What the completions of a version came to. */
export interface CallFigures {
  readonly version_id: string | null;
  readonly calls: number;
  readonly errors: number;
  /** US dollars; null when no call has a known cost. */
  readonly cost: number | null;
  readonly duration_ms: { readonly p50: number | null; readonly p95: number | null };
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** The spans that are completions of prompts, by start time. Each read is of one moment. @throws DomainError `unavailable` */
export interface PromptSpans {
  page(
    of: CompletionSelection,
    window: Window,
    signal?: AbortSignal,
  ): Promise<{ readonly spans: readonly CompletionSpan[]; readonly total: number }>;
  /**
   * Visits completions, as many as `max`, portion by portion in their order.
   * @returns how many there are
   */
  walk(
    of: CompletionSelection,
    max: number,
    visit: (spans: readonly CompletionSpan[]) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<number>;
  /** Texts of spans that are there, by id; the middle of long ones is left out. */
  texts(
    projectId: string,
    spans: readonly CompletionSpan[],
    max: number,
    signal?: AbortSignal,
  ): Promise<Map<string, CompletionTexts>>;
  figures(of: CompletionSelection, signal?: AbortSignal): Promise<readonly CallFigures[]>;
}
