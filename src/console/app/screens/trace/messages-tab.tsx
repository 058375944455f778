import { ConversationIn } from '../../parts/conversation.js';
import { Icon } from '../../parts/icon.js';
import { TextFormSwitch } from '../../parts/long-text.js';
import { Answered } from '../../parts/states.js';
import { hrefOf } from '../../state/location.js';
import type { SpanHeadRead } from './span-head.js';
import { SpanImages } from './span-images.js';
import { useSpanTexts } from './span-texts.js';

export function MessagesTab({ span }: { readonly span: SpanHeadRead }) {
  const texts = useSpanTexts(span);
  return (
    <Answered answer={texts}>
      {(document) => (
        <div class="stack">
          <div class="line">
            <TextFormSwitch />
            {span.kind === 'llm' && (
              <a class="button" href={hrefOf({ screen: 'playground', query: { span: span.id, trace: span.trace_id } })}>
                <Icon name="playground" />
                Open in playground
              </a>
            )}
          </div>
          <ConversationIn document={document} input="input_data" output="output_data" />
          <SpanImages document={document} span={span} />
        </div>
      )}
    </Answered>
  );
}
