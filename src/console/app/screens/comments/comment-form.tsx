import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';

interface CommentFormProps {
  /** The verb on the button. */
  readonly action: string;
  readonly label: string;
  readonly maxLength: number;
  readonly text?: string;
  readonly onSend: (text: string) => Promise<void>;
  readonly onCancel?: () => void;
  readonly children?: ComponentChildren;
}

/** A text in Markdown, to be sent. */
export function CommentForm({ action, label, maxLength, text = '', onSend, onCancel, children }: CommentFormProps) {
  const [typed, setTyped] = useState(text);
  const refused = typed.trim() === '' ? 'Enter a comment' : typed === text ? 'No changes' : null;
  const send = async () => {
    await onSend(typed);
    setTyped('');
  };
  return (
    <Form
      action={action}
      changes="feedback:write"
      refused={refused}
      onSend={send}
      {...(onCancel !== undefined && { onCancel })}
    >
      {(wrong) => (
        <>
          <Field label={label} hint="Markdown. Everyone in the project can read it." wrong={wrong['text'] ?? null}>
            <textarea
              class="input"
              rows={3}
              maxLength={maxLength}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </Field>
          {children}
        </>
      )}
    </Form>
  );
}
