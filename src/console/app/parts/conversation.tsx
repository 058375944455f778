import { useState } from 'preact/hooks';
import { roleName } from '../../../http/pages/role-name.js';
import { counted } from '../../model/format.js';
import type { ShownMessage, ShownPart } from '../../model/text-document.js';
import { useAsked, useDocument, type OpenDocument } from '../state/documents.js';
import { Button } from './button.js';
import { Icon } from './icon.js';
import { LongText } from './long-text.js';
import { Skeleton } from './states.js';

/** Of more messages than these, the first and the last ones are shown at first. */
const SHOWN_MESSAGES = 16;
const SHOWN_PARTS = 20;
/** Instructions longer than this begin folded. */
const FOLDED_FROM = 280;

/** Input and output of a span as people read them. `TextFormSwitch` (long-text.tsx) chooses markdown or plain for all. */
export function Conversation({ input, output }: { readonly input: string | null; readonly output: string | null }) {
  const document = useDocument({ input, output });
  return <ConversationIn document={document} input="input" output="output" />;
}

interface ConversationInProps {
  readonly document: OpenDocument;
  /** Names of the texts in the document. */
  readonly input: string;
  readonly output: string;
}

/** The same of a document that is open already. */
export function ConversationIn({ document, input, output }: ConversationInProps) {
  const messages = useAsked(() => document.ask('conversation', [input, output]), [document, input, output]);
  if (messages === undefined) return <Skeleton rows={6} />;
  return (
    <div class="conversation">
      <Messages title="Input" messages={messages.filter((message) => message.of === input)} document={document} />
      <Messages title="Output" messages={messages.filter((message) => message.of === output)} document={document} />
    </div>
  );
}

interface MessagesProps {
  readonly title: string;
  readonly messages: readonly ShownMessage[];
  readonly document: OpenDocument;
}

function Messages({ title, messages, document }: MessagesProps) {
  const [all, setAll] = useState(false);
  const hidden = all ? 0 : Math.max(0, messages.length - SHOWN_MESSAGES);
  const shown = hidden === 0 ? messages : [...messages.slice(0, 1), ...messages.slice(1 + hidden)];
  return (
    <section class="messages">
      <h3>{title}</h3>
      {messages.length === 0 && <p class="soft">No text recorded.</p>}
      {shown.map((message, index) => (
        <>
          {index === 1 && hidden > 0 && (
            <Button icon="expand" onClick={() => setAll(true)}>
              Show {counted(hidden, 'earlier message')}
            </Button>
          )}
          <Message message={message} document={document} />
        </>
      ))}
    </section>
  );
}

export function Message({
  message: { role, parts },
  document,
}: {
  readonly message: ShownMessage;
  readonly document: OpenDocument;
}) {
  const [all, setAll] = useState(false);
  const name = roleName(role);
  const content = (
    <>
      {parts.length === 0 && <p class="soft">Empty message</p>}
      {(all ? parts : parts.slice(0, SHOWN_PARTS)).map((part, index) => (
        <Part key={index} part={part} document={document} />
      ))}
      {!all && parts.length > SHOWN_PARTS && (
        <Button icon="expand" onClick={() => setAll(true)}>
          Show {counted(parts.length - SHOWN_PARTS, 'more part')}
        </Button>
      )}
    </>
  );
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  const label = name ?? role.slice(0, 60);
  if (name === 'Instructions' && length > FOLDED_FROM)
    return (
      <details class="message of-instructions">
        <summary>
          {label} <span class="soft small">{counted(length, 'character')}</span>
        </summary>
        {content}
      </details>
    );
  return (
    <div class={`message of-${name?.toLowerCase() ?? 'other'}`}>
      {label !== '' && (
        <p class="role">
          <bdi>{label}</bdi>
        </p>
      )}
      {content}
    </div>
  );
}

function Part({ part, document }: { readonly part: ShownPart; readonly document: OpenDocument }) {
  const { kind, label, purpose, text, result } = part;
  if (purpose === 'reasoning')
    return (
      <details class="part">
        <summary>
          Reasoning <span class="soft small">{counted(text.length, 'character')}</span>
        </summary>
        <LongText document={document} text={text} prose />
      </details>
    );
  if (kind === 'text') return <LongText document={document} text={text} prose />;
  return (
    <div class="part">
      <p class="part-label">
        {(purpose === 'call' || purpose === 'result') && (
          <span class="kind-tool">
            <Icon name="tool" />
          </span>
        )}
        <bdi>{(label ?? 'data').slice(0, 200)}</bdi>
      </p>
      <LongText document={document} text={text} />
      {result !== null && (
        <>
          <p class="part-label">result</p>
          <LongText document={document} text={result} />
        </>
      )}
    </div>
  );
}
