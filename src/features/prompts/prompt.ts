import type { Micros } from '../../engine/timestamp.js';
import type { Template } from './prompt-messages.js';

/** A version as it is stored. Nothing but `model_id`, and with it `updated_at`, ever changes. */
export interface StoredVersion extends Template {
  /** Lower-case UUID. */
  readonly id: string;
  readonly prompt_id: string;
  readonly slug: string;
  /** Number of the version, from 1; that of a deleted one is never given again. */
  readonly version: number;
  /** The newest version of the prompt when this was read. */
  readonly latest_version: number;
  /** Any JSON that belongs to the version. */
  readonly config: Readonly<Record<string, unknown>>;
  /** What tells the content from others, lower-case hexadecimal: see `hashOf`. */
  readonly content_hash: string;
  readonly model_id: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: Micros;
  readonly updated_at: Micros;
}

/** A version as it was asked for. */
export interface SelectedVersion extends StoredVersion {
  /** Tag by which it was asked for; null when it was by none. */
  readonly tag: string | null;
}

/** The model of a version. */
export interface ModelBinding {
  readonly model_id: string | null;
  /** Null when it is not known. */
  readonly provider: string | null;
}

/** A version that is to exist. */
export interface VersionDraft extends Template {
  readonly config: Readonly<Record<string, unknown>>;
  readonly content_hash: string;
  readonly model_id: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_by: string;
  readonly created_at: Micros;
}

/** Tags that a prompt may have, removed ones included: their history stays, and reads step over each. */
export const MAX_TAGS = 1_000;

export interface TagEntry {
  readonly tag: string;
  readonly version: number;
}

/** One move or removal of a tag, or one new version for the tag `latest`. */
export interface TagMove {
  /** Null: the tag was removed. */
  readonly version: number | null;
  readonly at: Micros;
  readonly by: { readonly id: string; readonly email: string | null; readonly name: string };
}

export interface PromptSummary {
  readonly id: string;
  readonly slug: string;
  readonly version_count: number;
  readonly latest_version: number;
  /** Ascending by name; the store leaves out `latest`, which the service puts first. */
  readonly tags: readonly TagEntry[];
  readonly created_at: Micros;
  /** When the newest version of the prompt was made. */
  readonly updated_at: Micros;
}

/** Selects a version of a prompt. */
export type VersionSelector =
  | { readonly by: 'number'; readonly version: number }
  | { readonly by: 'hash'; readonly hash: string }
  | { readonly by: 'tag'; readonly tag: string };

/** The tag that no one pins: it always follows the newest version. */
export const LATEST = 'latest';
