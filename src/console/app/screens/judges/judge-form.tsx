import { useState } from 'preact/hooks';
import type { JudgeRead } from '../../../../features/judges/schema.js';
import type { JudgeDraft } from '../../../model/judge-draft.js';
import { wrongFields } from '../../../model/wrong-fields.js';
import { Button } from '../../parts/button.js';
import { Failure } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { ApiError } from '../../state/api.js';
import { CriteriaFields } from './criteria-fields.js';
import { FilterFields } from './filter-fields.js';
import { JudgePreview } from './judge-preview.js';
import { InstructionFields, PartFields, ScaleFields, SubjectFields } from './setting-fields.js';

interface JudgeFormProps {
  /** Null: it is to be made. */
  readonly judge: JudgeRead | null;
  /** The text of its instruction as it is. */
  readonly promptBefore: string;
  readonly draft: JudgeDraft;
  readonly onChange: (draft: JudgeDraft) => void;
  readonly action: string;
  readonly onSave: () => Promise<void>;
}

/** The settings of a judge, and beside them what a judge with these settings would do. */
export function JudgeForm({ judge, promptBefore, draft, onChange, action, onSave }: JudgeFormProps) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const wrong = failure instanceof ApiError ? wrongFields(failure.problem.errors) : {};
  const change = (changed: Partial<JudgeDraft>) => onChange({ ...draft, ...changed });
  const save = async () => {
    setBusy(true);
    setFailure(null);
    try {
      await onSave();
    } catch (error) {
      setFailure(error);
      announce('Not saved: fix the invalid settings', { bad: true });
    }
    setBusy(false);
  };
  const fields = { draft, change, wrong };
  return (
    <div class="judge-editor">
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) void save();
        }}
      >
        <SubjectFields {...fields} judge={judge} />
        <InstructionFields {...fields} judge={judge} />
        <ScaleFields {...fields} />
        <CriteriaFields {...fields} />
        <FilterFields {...fields} />
        <PartFields {...fields} part="model" />
        {failure !== null && <Failure error={failure} />}
        <div class="line">
          <Button type="submit" look="main" changes busy={busy}>
            {action}
          </Button>
        </div>
      </form>
      <JudgePreview judge={judge} promptBefore={promptBefore} draft={draft} change={change} />
    </div>
  );
}
