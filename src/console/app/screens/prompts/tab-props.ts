import type { TagEntry } from './versions.js';

export interface TabProps {
  readonly slug: string;
  readonly tags: readonly TagEntry[];
  readonly latest: number;
}
