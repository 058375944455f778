import { ConversationIn } from '../../parts/conversation.js';
import { When } from '../../parts/figures.js';
import { Kind } from '../../parts/kind.js';
import { TextFormSwitch } from '../../parts/long-text.js';
import { SpanLink } from '../../parts/span-link.js';
import { Answered } from '../../parts/states.js';
import { call, request } from '../../state/api.js';
import { openDocument } from '../../state/documents.js';
import { useQuery } from '../../state/query.js';

/** Input and output of a span, found by its id alone. */
export function SpanConversation({ id }: { readonly id: string }) {
  const ask = { id, limit: 1 };
  const head = useQuery({
    key: ['/spans', 'head', id],
    ask: (signal) => call('GET /spans', { query: { ...ask, fields: 'id,trace_id,name,kind,started_at' }, signal }),
    keep: false,
  });
  const texts = useQuery({
    key: ['/spans', 'texts', id],
    ask: async (signal) =>
      openDocument(
        await (await request('/spans', { query: { ...ask, fields: 'input_data,output_data' }, signal })).arrayBuffer(),
      ),
    keep: false,
  });
  return (
    <article class="stack review-span" aria-label="Conversation">
      <Answered answer={head} rows={1}>
        {([span]) =>
          span === undefined ? (
            <p class="bad">This span is no longer stored.</p>
          ) : (
            <div class="line apart">
              <span class="line">
                <Kind of={span.kind} />
                <SpanLink id={id} traceId={span.trace_id}>
                  <bdi>{span.name}</bdi>
                </SpanLink>
                <span class="soft small">
                  <When at={span.started_at} />
                </span>
              </span>
              <TextFormSwitch />
            </div>
          )
        }
      </Answered>
      <Answered answer={texts}>
        {(document) => <ConversationIn document={document} input="input_data" output="output_data" />}
      </Answered>
    </article>
  );
}
