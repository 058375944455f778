import { useState } from 'preact/hooks';
import type { ModelBudgetRead } from '../../../../features/budget/schema.js';
import { counted } from '../../../model/format.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { Field } from '../../parts/field.js';
import { Cost, When } from '../../parts/figures.js';
import { Form } from '../../parts/form.js';
import { Answered } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';

const MAX_LIMIT = 1_000_000_000;

/** What the server's own calls of models may cost in a month, and what is spent of it. */
export function Budget() {
  const path = ofProject('/model-budget');
  const answer = useQuery({
    key: [path],
    ask: (signal) => call('GET /projects/:project_id/model-budget', { signal }),
  });
  return (
    <section class="stack" aria-labelledby="budget">
      <div class="line apart">
        <h2 id="budget">Monthly model budget</h2>
        <CopyAsCurl path={path} />
      </div>
      <Answered answer={answer} rows={2}>
        {(budget) => (
          <>
            <Spent {...budget} />
            <Limit key={String(budget.monthly_limit)} set={budget.monthly_limit} />
          </>
        )}
      </Answered>
    </section>
  );
}

function Spent({ monthly_limit, spent, calls, unpriced_calls, waiting_reason, resets_at }: ModelBudgetRead) {
  return (
    <>
      <p>
        Spent this month: <Cost of={spent} />
        {monthly_limit !== null && (
          <>
            {' '}
            of <Cost of={monthly_limit} />
          </>
        )}{' '}
        in {counted(calls, 'call')}. Resets <When at={resets_at} />.
      </p>
      {unpriced_calls > 0 && (
        <p class="soft">{counted(unpriced_calls, 'call')} without a known cost, not counted toward the budget.</p>
      )}
      {waiting_reason !== null && (
        <p class="bad" role="status">
          {waiting_reason}.
        </p>
      )}
    </>
  );
}

function Limit({ set }: { readonly set: number | null }) {
  const [typed, setTyped] = useState(set === null ? '' : String(set));
  const limit = typed.trim() === '' ? null : Number(typed);
  const isWrong = limit !== null && !(limit >= 0 && limit <= MAX_LIMIT);
  const refused = isWrong ? 'Enter an amount in US dollars' : limit === set ? 'No changes' : null;
  const save = async () => {
    await call('PUT /projects/:project_id/model-budget', { body: { monthly_limit: limit } });
    announce('Budget saved');
    await changedAt(ofProject('/model-budget'));
  };
  return (
    <Form action="Save budget" refused={refused} onSend={save}>
      <Field
        label="US dollars per month"
        hint="For judges, trials, optimizations, experiment runs and the playground. When it is spent, evaluations and jobs wait. Leave empty for no limit."
        wrong={isWrong ? 'Enter an amount, or leave empty' : null}
      >
        <input
          class="input"
          inputMode="decimal"
          autocomplete="off"
          maxLength={12}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </Field>
    </Form>
  );
}
