import { Button } from '../../parts/button.js';
import { LongText } from '../../parts/long-text.js';
import { Answered } from '../../parts/states.js';
import { copy } from '../../state/announce.js';
import { useAsked, type OpenDocument } from '../../state/documents.js';
import type { SpanHeadRead } from './span-head.js';
import { useDocumentAt } from './span-texts.js';

/** The span as the API answers it. */
export function RawTab({ span: { id, trace_id, created_at } }: { readonly span: SpanHeadRead }) {
  const answer = useDocumentAt(`/spans/${id}`, { trace_id }, created_at);
  return <Answered answer={answer}>{(document) => <Raw document={document} />}</Answered>;
}

function Raw({ document }: { readonly document: OpenDocument }) {
  const text = useAsked(() => document.ask('text', 'raw'), [document]);
  if (text == null) return null;
  return (
    <div class="stack">
      <div class="line">
        <Button
          icon="copy"
          onClick={() =>
            void Promise.resolve(document.ask('slice', 'raw', 0, text.length)).then((raw) => copy(raw, 'Span'))
          }
        >
          Copy
        </Button>
      </div>
      <LongText document={document} text={text} />
    </div>
  );
}
