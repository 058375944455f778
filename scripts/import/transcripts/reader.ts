import type { Members } from '../members.js';
import type { SentSpan } from '../step.js';

/** Reads the lines of one transcript, in their order. */
export interface TranscriptReader {
  /** @param from where the line begins @returns spans that are complete */
  line(line: Members, from: number): readonly SentSpan[];
  /** Spans of the turn that is under way: it may go on later. */
  end(): readonly SentSpan[];
  /** Where the turn under way begins, and what a reader has to know that begins there. */
  readonly place: { readonly from: number; readonly context: unknown };
  /** Images that were left out so far. */
  readonly images: number;
}

export interface TranscriptKind {
  /** Value of the tag that marks its spans. */
  readonly mark: string;
  /** Folder below the home of the user. */
  readonly folder: readonly string[];
  /** @param context of an earlier reader of the same file; null: it reads from the beginning */
  reader(file: string, context: unknown): TranscriptReader;
}

/** Tags of a transcript, without those that nobody said. */
export function tagsOf(tags: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tags).flatMap(([name, value]) => (value === null ? [] : [[name, value.slice(0, MAX_TAG)]])),
  );
}

const MAX_TAG = 1000;
/** Characters of a name of a session or trace, of an error. */
export const MAX_NAME = 100;
export const MAX_ERROR = 1000;

export const iso = (milliseconds: number) => new Date(milliseconds).toISOString();
