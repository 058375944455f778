import { useState } from 'preact/hooks';
import type { ProjectRead } from '../../../../features/projects/http/schema.js';
import { counted } from '../../../model/format.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { Answered } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';
import { KeepShorter, NextLook } from './keep-shorter.js';

const MAX_DAYS = 36_500;

/** For how long the project keeps its traces; what would go is shown before it is kept shorter. */
export function Retention({ project }: { readonly project: ProjectRead }) {
  const set = project.retention_days;
  const [typed, setTyped] = useState(set === null ? '' : String(set));
  const [asked, setAsked] = useState<number | null>(null);
  const days = typed.trim() === '' ? null : Number(typed);
  const isWrong = days !== null && !(Number.isInteger(days) && days >= 1 && days <= MAX_DAYS);
  const isShorter = days !== null && (set === null || days < set);
  const refused = isWrong ? 'Enter 1 to 36,500 days' : days === set ? 'Already set' : null;
  const save = async (value: number | null) => {
    await call('PATCH /projects/:project_id', { body: { retention_days: value } });
    announce('Retention saved');
    await changedAt(ofProject(''));
  };
  return (
    <section class="stack" aria-labelledby="retention">
      <div class="line apart">
        <h2 id="retention">Retention</h2>
        <CopyAsCurl path={ofProject('/retention')} />
      </div>
      <Now project={project} />
      <Form
        action={isShorter ? 'Preview deletion' : 'Save'}
        refused={refused}
        onSend={async () => (isShorter ? setAsked(days) : save(days))}
      >
        <Field
          label="Days to keep traces"
          hint="Counted from the newest time in a trace; whole traces are deleted. Leave empty to keep traces forever."
          wrong={isWrong ? 'Enter a whole number from 1 to 36,500, or leave empty' : null}
        >
          <input
            class="input"
            inputMode="numeric"
            autocomplete="off"
            maxLength={6}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </Field>
      </Form>
      {asked !== null && (
        <KeepShorter
          days={asked}
          onSave={async () => {
            await save(asked);
            setAsked(null);
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </section>
  );
}

/** What is set, and what the next look removes by it. */
function Now({ project: { retention_days: set } }: { readonly project: ProjectRead }) {
  const answer = useQuery({
    key: [ofProject('/retention'), set],
    ask: (signal) => call('GET /projects/:project_id/retention', { signal }),
    enabled: set !== null,
  });
  if (set === null) return <p>Traces are kept until you delete them.</p>;
  return (
    <Answered answer={answer} rows={1}>
      {({ going, ...look }) => (
        <p>
          Traces are deleted {counted(set, 'day')} after their newest time; {counted(going.traces, 'trace')}{' '}
          {going.traces === 1 ? 'is' : 'are'} older now. <NextLook {...look} />
        </p>
      )}
    </Answered>
  );
}
