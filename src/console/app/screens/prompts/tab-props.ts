import type { TagEntry } from './data.js';

export interface TabProps {
  readonly slug: string;
  readonly tags: readonly TagEntry[];
  readonly latest: number;
}
