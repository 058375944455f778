import { useDocument, useAsked } from '../../state/documents.js';
import { LongText } from '../../parts/long-text.js';
import { Icon } from '../../parts/icon.js';
import type { PlainField } from '../../../../engine/traces/model/list/fields.js';
import type { SpanHeadRead } from './span-head.js';

type Said = Pick<SpanHeadRead, 'has_error' | PlainField>;

/** What failed, before anything else. */
export function SpanError({ span }: { readonly span: Said }) {
  if (!span.has_error) return null;
  const { error_code, error_message, error_stack, code_filepath, code_lineno } = span;
  return (
    <div class="span-error stack">
      <p class="line">
        <span class="bad">
          <Icon name="error" />
        </span>
        <strong>
          <bdi>{error_code ?? 'Error'}</bdi>
        </strong>
        {code_filepath !== null && (
          <code>
            <bdi>{code_filepath}</bdi>
            {code_lineno === null ? '' : `:${code_lineno}`}
          </code>
        )}
      </p>
      {error_message === null ? (
        error_code === null && <p class="soft">No error message recorded.</p>
      ) : (
        <ErrorText text={error_message} />
      )}
      {error_stack !== null && (
        <details>
          <summary>Stack trace</summary>
          <ErrorText text={error_stack} />
        </details>
      )}
    </div>
  );
}

function ErrorText({ text }: { readonly text: string }) {
  const document = useDocument({ text });
  const shown = useAsked(() => document.ask('text', 'text'), [document]);
  return shown == null ? null : <LongText document={document} text={shown} />;
}
