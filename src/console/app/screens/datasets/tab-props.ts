import type { DatasetDraft } from '../../../model/dataset-draft.js';
import type { Dataset } from './data.js';

/** Changes that are not saved yet. */
export interface KeptDraft {
  readonly draft: DatasetDraft;
  readonly isFromBefore: boolean;
  readonly change: (draft: DatasetDraft) => void;
  readonly drop: (next?: DatasetDraft) => void;
}

export interface TabProps {
  readonly dataset: Dataset;
  readonly kept: KeptDraft;
}
