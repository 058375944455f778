import { readConversation, type Message, type MessagePart } from '../conversation.js';
import { roleName } from '../../../http/pages/role-name.js';
import { html, type Html } from '../../../http/pages/html.js';
import { visibleText } from './visible-text.js';

/** Characters shown of one text, messages of a conversation and parts of a message, until a reader asks for all. */
const SHORT = { characters: 4000, messages: 12, parts: 20 };
/** Even then: beyond this, no browser shows a text well. */
const LONG = { characters: 2_000_000, messages: 1000, parts: 1000 };
/** A system message longer than this begins folded. */
const FOLDED_FROM = 280;

export interface Limits {
  readonly characters: number;
  readonly messages: number;
  readonly parts: number;
}

export function limitsOf(all: boolean): Limits {
  return all ? LONG : SHORT;
}

/** Input or output of a completion. @param allHref where it is shown in full */
export function conversationView(text: string | null, limits: Limits, allHref: string): Html {
  if (text === null || text === '') return html`<p class="nothing">No text recorded.</p>`;
  const conversation = readConversation(text);
  if (conversation.kind !== 'messages')
    return html`<div class="bubble">${textView(conversation.text, limits, allHref)}</div>`;
  // The end of a conversation says most about its last answer.
  const { messages } = conversation;
  const left = messages.length > limits.messages ? messages.slice(1, messages.length - limits.messages + 1) : [];
  const shown = left.length === 0 ? messages : [...messages.slice(0, 1), ...messages.slice(1 + left.length)];
  return html`<ol class="messages">
    ${shown.map((message, index) => [
      messageView(message, limits, allHref),
      index === 0 && left.length > 0
        ? html`<li class="left-out">${leftOut(left.length, 'earlier messages', limits, allHref)}</li>`
        : null,
    ])}
  </ol>`;
}

function leftOut(count: number, what: string, limits: Limits, allHref: string): Html {
  if (limits === LONG) return html`${count} ${what} hidden.`;
  return html`<a href="${allHref}" data-swap>Show ${count} ${what}</a>`;
}

function messageView({ role, parts }: Message, limits: Limits, allHref: string): Html {
  const known = roleName(role);
  const kind = known?.toLowerCase() ?? 'other';
  const content = parts.slice(0, limits.parts).map((part) => partView(part, limits, allHref));
  if (parts.length > limits.parts)
    content.push(html`<p class="more">${leftOut(parts.length - limits.parts, 'more parts', limits, allHref)}</p>`);
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  const name = known ?? visibleText(role.slice(0, 60));
  if (kind === 'instructions' && length > FOLDED_FROM)
    return html`<li class="message-${kind}">
      <details class="bubble">
        <summary>${name}</summary>
        ${content}
      </details>
    </li>`;
  return html`<li class="message-${kind}">
    <p class="role">${name}</p>
    <div class="bubble">${content.length === 0 ? html`<p class="nothing">Empty message</p>` : content}</div>
  </li>`;
}

function partView({ kind, label, text }: MessagePart, limits: Limits, allHref: string): Html {
  if (kind === 'text') return textView(text, limits, allHref);
  return html`<div class="data">
    <p class="label">${visibleText((label ?? 'data').slice(0, 200))}</p>
    ${textView(text, limits, allHref)}
  </div>`;
}

/** Text as it is, in its own direction, cut to a length. */
function textView(text: string, { characters }: Limits, allHref: string): Html {
  const cut = text.length > characters;
  const shown = cut ? text.slice(0, characters) : text;
  return html`<div class="text" dir="auto">${visibleText(shown)}</div>
    ${cut && moreView(text.length, characters, allHref)}`;
}

function moreView(length: number, shown: number, allHref: string): Html {
  const counted = length.toLocaleString('en');
  if (shown >= LONG.characters)
    return html`<p class="more">First ${shown.toLocaleString('en')} of ${counted} characters shown.</p>`;
  return html`<p class="more">
    <a class="button quiet" href="${allHref}" data-swap>Show all ${counted} characters</a>
  </p>`;
}
