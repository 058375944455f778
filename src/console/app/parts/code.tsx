import { CopyButton } from './copy.js';

/** A program, or a part of one, to be copied. */
export function Code({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div class="code">
      <pre tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
