import { cloneElement, type ComponentChildren, type VNode } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with what was entered. */
  readonly wrong?: string | null;
  /** The control: an input, a select or a text area. */
  readonly children: VNode<object>;
}

/** A labelled control of a form. */
export function Field({ label, hint, wrong = null, children }: FieldProps) {
  const id = useId();
  const described = [hint === undefined ? '' : `${id}-hint`, wrong === null ? '' : `${id}-wrong`].join(' ').trim();
  const control = cloneElement(children, {
    id,
    ...(described !== '' && { 'aria-describedby': described }),
    ...(wrong !== null && { 'aria-invalid': true }),
  });
  return (
    <div class="labelled">
      <label for={id}>{label}</label>
      {control}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="soft small">
          {hint}
        </p>
      )}
      {wrong !== null && (
        <p id={`${id}-wrong`} class="bad small">
          {wrong}
        </p>
      )}
    </div>
  );
}
