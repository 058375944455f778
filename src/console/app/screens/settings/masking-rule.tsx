import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { MaskingRead } from '../../../../features/masking/schema.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';

type Rule = MaskingRead['rules'][number];

/** What rules look for, in words. */
export const MASKING_TYPES: Readonly<Record<Rule['type'], string>> = {
  email: 'Email addresses',
  phone: 'Phone numbers',
  card: 'Payment cards',
  iban: 'IBANs',
  api_key: 'API keys',
  expression: 'Custom expression',
  path: 'Value at a JSON path',
};
const ACTIONS: Readonly<Record<Rule['action'], string>> = {
  replace: 'Replace with [name]',
  hash: 'Replace with [name:hash], the same for equal values',
  drop: 'Drop the value',
};

interface RuleDialogProps {
  /** Null: it is new. */
  readonly rule: Rule | null;
  readonly index: number;
  /** Names of other rules. */
  readonly taken: readonly string[];
  readonly onSave: (rule: Rule) => Promise<void>;
  /** Tries the rule with the others on what is stored. */
  readonly onTest: (rule: Rule) => void;
  readonly onClose: () => void;
  /** What came of a test. */
  readonly children: ComponentChildren;
}

/** Adds or edits a masking rule. */
export function RuleDialog({ rule, index, taken, onSave, onTest, onClose, children }: RuleDialogProps) {
  const [draft, setDraft] = useState({
    name: rule?.name ?? '',
    type: rule?.type ?? 'email',
    action: rule?.action ?? 'replace',
    expression: rule?.expression ?? '',
    path: rule?.path ?? '',
    countries: rule?.countries?.join(', ') ?? '',
  });
  const { type } = draft;
  const name = draft.name.trim() || type;
  const shared = (field: keyof typeof draft) => ({
    class: 'input',
    value: draft[field],
    autocomplete: 'off',
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      setDraft({ ...draft, [field]: event.currentTarget.value }),
  });
  const made = (): Rule => ({
    ...{ name, type, action: draft.action },
    expression: type === 'expression' ? draft.expression : null,
    path: type === 'path' ? draft.path : null,
    countries: type === 'phone' ? draft.countries.toUpperCase().match(/[A-Z]+/g) : null,
  });
  const send = async () => {
    await onSave(made());
    onClose();
  };
  return (
    <Dialog title={rule === null ? 'Add a masking rule' : 'Edit masking rule'} onClose={onClose}>
      <Form
        action="Save rule"
        refused={taken.includes(name) ? 'Another rule has this name' : null}
        onSend={send}
        onCancel={onClose}
      >
        {(wrong) => (
          <>
            <Field label="Masks">
              <select {...shared('type')} autofocus>
                {Object.entries(MASKING_TYPES).map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            </Field>
            {type === 'expression' && (
              <Field label="Expression" hint="RE2 syntax" wrong={about(wrong, index, 'expression')}>
                <input {...shared('expression')} maxLength={500} />
              </Field>
            )}
            {type === 'path' && (
              <Field
                label="Path"
                hint="Such as $.attributes['user.email'] or $..password"
                wrong={about(wrong, index, 'path')}
              >
                <input {...shared('path')} maxLength={500} />
              </Field>
            )}
            {type === 'phone' && (
              <Field
                label="Countries (optional)"
                hint="Of numbers without a country code, such as US, DE"
                wrong={about(wrong, index, 'countries')}
              >
                <input {...shared('countries')} />
              </Field>
            )}
            <Field label="Action">
              <select {...shared('action')}>
                {Object.entries(ACTIONS).map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            </Field>
            <Field
              label="Name"
              hint="The label that replaces a value. Leave empty to use the type"
              wrong={about(wrong, index, 'name')}
            >
              <input {...shared('name')} maxLength={32} placeholder={type} />
            </Field>
            <Button changes onClick={() => onTest(made())}>
              Try on stored spans
            </Button>
            {children}
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** What the server has against a field of the rule. */
function about(wrong: Readonly<Record<string, string>>, index: number, field: string): string | null {
  const start = `${index}, ${field}`;
  const found = wrong['rules']?.split('; ').find((each) => each.startsWith(start));
  return found?.slice(found.indexOf(': ') + 2) ?? null;
}
