import type { JudgeDraft } from '../../../model/judge-draft.js';

export interface FieldsProps {
  readonly draft: JudgeDraft;
  readonly change: (change: Partial<JudgeDraft>) => void;
  /** What the server found wrong, by field. */
  readonly wrong: Readonly<Record<string, string>>;
}
