import type { JudgeRead } from '../../../../features/judges/schema.js';
import { KIND } from '../../../../engine/schema/kind.js';
import { aboutSubject } from '../../../model/judge-draft.js';
import { fieldsOfPart, type FieldDraft } from '../../../model/judge-fields.js';
import { Field } from '../../parts/field.js';
import { TokenField } from '../../parts/token-field.js';
import { hrefOf } from '../../state/location.js';
import type { FieldsProps } from './fields-props.js';

interface TextProps extends FieldsProps {
  readonly name: 'name' | 'task_slug' | keyof FieldDraft;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly number?: boolean;
}

/** A setting of one line. */
function Text({ draft, change, wrong, name, label, hint, number = false }: TextProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })} wrong={wrong[name] ?? null}>
      <input
        class="input"
        {...(number && { inputMode: 'decimal' as const, size: 8 })}
        value={String(draft[name])}
        autocomplete="off"
        onInput={(event) => change({ [name]: event.currentTarget.value })}
      />
    </Field>
  );
}

const SUBJECTS: Readonly<Record<JudgeRead['subject'], string>> = {
  span: 'single spans, such as model calls',
  trace: 'whole traces, after a quiet period',
  session: 'whole sessions (conversations), after a quiet period',
};

/** What the judge evaluates, which is chosen once, and what it is shown of that. */
export function SubjectFields({ judge, ...fields }: FieldsProps & { readonly judge: JudgeRead | null }) {
  const { draft, change, wrong } = fields;
  return (
    <>
      <Field
        label="Evaluates"
        wrong={wrong['subject'] ?? null}
        {...(judge !== null && { hint: 'To evaluate something else, create another judge' })}
      >
        <select
          class="input"
          value={draft.subject}
          disabled={judge !== null}
          onChange={(event) => change(aboutSubject(draft, event.currentTarget.value as JudgeRead['subject']))}
        >
          {Object.entries(SUBJECTS).map(([subject, label]) => (
            <option key={subject} value={subject}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      {draft.subject !== 'span' && (
        <>
          <PartFields {...fields} part="whole" />
          {draft.subject === 'trace' && (
            <TokenField
              label="Kinds shown with input and output"
              hint="Other spans are shown without; leave empty for all"
              wrong={wrong['context_kinds'] ?? null}
              values={draft.context_kinds}
              suggested={['llm', 'tool', 'agent', 'chain', 'retriever']}
              refuse={(kind) => (KIND.test(kind) ? null : 'Kinds may contain a-z, 0-9 and underscores')}
              onChange={(chosen) => change({ context_kinds: chosen })}
            />
          )}
        </>
      )}
    </>
  );
}

export function InstructionFields({ judge, ...fields }: FieldsProps & { readonly judge: JudgeRead | null }) {
  const { draft, change, wrong } = fields;
  return (
    <>
      <Text {...fields} name="name" label="Name" />
      {judge === null && (
        <fieldset class="line">
          <legend>Instruction</legend>
          {(['own', 'prompt'] as const).map((way) => (
            <label key={way} class="line">
              <input
                type="radio"
                name="instruction"
                checked={draft.instruction === way}
                onChange={() => change({ instruction: way })}
              />
              {way === 'own' ? 'New text' : 'Existing prompt'}
            </label>
          ))}
        </fieldset>
      )}
      {draft.instruction === 'prompt' ? (
        <Text {...fields} name="task_slug" label="Prompt slug" />
      ) : (
        <Field
          label={judge === null ? 'Instruction text' : 'Instruction'}
          wrong={wrong['prompt'] ?? null}
          hint={
            <>
              <code>{'{{input}}'}</code>, <code>{'{{output}}'}</code>, <code>{'{{expected}}'}</code>,{' '}
              <code>{'{{name}}'}</code>, <code>{'{{kind}}'}</code>, <code>{'{{tags}}'}</code>,{' '}
              <code>{'{{attributes}}'}</code> and <code>{'{{error}}'}</code> are filled in for each span
              {draft.subject !== 'span' && (
                <>
                  : for a {draft.subject}, its root span; <code>{'{{outline}}'}</code> is the whole {draft.subject}
                </>
              )}
              .
              {judge !== null && (
                <>
                  {' '}
                  Changing the text creates a new version of the prompt{' '}
                  <a href={hrefOf({ screen: 'prompts', id: judge.task_slug })}>
                    <bdi>{judge.task_slug}</bdi>
                  </a>
                  .
                </>
              )}
            </>
          }
        >
          <textarea
            class="input mono"
            rows={8}
            value={draft.prompt}
            onInput={(event) => change({ prompt: event.currentTarget.value })}
          />
        </Field>
      )}
    </>
  );
}

export function ScaleFields(fields: FieldsProps) {
  const { draft, change, wrong } = fields;
  return (
    <>
      <Field label="Verdict" wrong={wrong['evaluation_type'] ?? null}>
        <select
          class="input"
          value={draft.evaluation_type}
          onChange={(event) =>
            change({ evaluation_type: event.currentTarget.value === 'scored' ? 'scored' : 'binary' })
          }
        >
          <option value="binary">binary: passes or fails</option>
          <option value="scored">scored: gets a score</option>
        </select>
      </Field>
      {draft.evaluation_type === 'scored' && <PartFields {...fields} part="scale" />}
    </>
  );
}

/** A part of the form as `JUDGE_FIELDS` has it: what is typed in one line, then what is checked. */
export function PartFields({ part, ...fields }: FieldsProps & { readonly part: 'whole' | 'scale' | 'model' }) {
  const { draft, change } = fields;
  const listed = fieldsOfPart(part);
  return (
    <>
      <div class="line fields">
        {listed
          .filter(({ control }) => control !== 'check')
          .map(({ name, label, hint, control }) => (
            <Text {...fields} key={name} name={name} label={label} hint={hint} number={control !== 'text'} />
          ))}
      </div>
      {listed
        .filter(({ control }) => control === 'check')
        .map(({ name, label }) => (
          <label key={name} class="line">
            <input
              type="checkbox"
              checked={draft[name] === true}
              onChange={(event) => change({ [name]: event.currentTarget.checked })}
            />
            {label}
          </label>
        ))}
    </>
  );
}
