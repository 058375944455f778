import { JsonIn } from '../../parts/json-view.js';
import { Answered } from '../../parts/states.js';
import type { SpanHeadRead } from './span-head.js';
import { useSpanTexts } from './span-texts.js';

export function DataTab({ span }: { readonly span: SpanHeadRead }) {
  const texts = useSpanTexts(span);
  return (
    <Answered answer={texts}>
      {(document) => (
        <div class="stack">
          <h3>Input</h3>
          <JsonIn document={document} name="input_data" label="Input" />
          <h3>Output</h3>
          <JsonIn document={document} name="output_data" label="Output" />
        </div>
      )}
    </Answered>
  );
}
