import type { RunDraft } from '../../../model/experiment-run.js';

export interface RunFieldsProps {
  readonly draft: RunDraft;
  /** What the server has against single fields, by their names on the wire. */
  readonly wrong: Readonly<Record<string, string>>;
  readonly onSet: (change: Partial<RunDraft>) => void;
}
