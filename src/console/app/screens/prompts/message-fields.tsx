import { useRef } from 'preact/hooks';
import { moved, PLACE, type DraftMessage } from '../../../model/prompt-version.js';
import { Button } from '../../parts/button.js';

/** Roles that are offered; one of another name that a version has is kept. */
const ROLES = ['system', 'user', 'assistant', 'developer', 'tool'];
/** As many as a version may have. */
const MAX_MESSAGES = 500;

interface MessageFieldsProps {
  readonly messages: readonly DraftMessage[];
  readonly onChange: (messages: readonly DraftMessage[]) => void;
}

/** Writes the messages of a chat version: their roles, texts and order, and places for further messages. */
export function MessageFields({ messages, onChange }: MessageFieldsProps) {
  const list = useRef<HTMLDivElement>(null);
  const set = (index: number, change: Partial<DraftMessage>) =>
    onChange(messages.map((one, at) => (at === index ? { ...one, ...change } : one)));
  const focus = (index: number) =>
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>('.message-text')[index]?.focus());
  const change = (next: readonly DraftMessage[], focused: number) => {
    onChange(next);
    focus(focused);
  };
  const add = () => {
    const role = messages.at(-1)?.role === 'user' ? 'assistant' : 'user';
    change([...messages, { role, content: '' }], messages.length);
  };
  return (
    <div class="stack" ref={list}>
      {messages.map((message, index) => (
        <MessageField
          key={index}
          message={message}
          index={index}
          count={messages.length}
          onSet={(part) => set(index, part)}
          onMove={(by) => change(moved(messages, index, by), index + by)}
          onRemove={() =>
            change(
              messages.filter((_, at) => at !== index),
              Math.min(index, messages.length - 2),
            )
          }
        />
      ))}
      <div class="line">
        <Button
          icon="plus"
          refused={messages.length >= MAX_MESSAGES ? 'A version has at most 500' : null}
          onClick={add}
        >
          Add message
        </Button>
      </div>
    </div>
  );
}

interface MessageFieldProps {
  readonly message: DraftMessage;
  readonly index: number;
  readonly count: number;
  readonly onSet: (change: Partial<DraftMessage>) => void;
  readonly onMove: (by: number) => void;
  readonly onRemove: () => void;
}

function MessageField({ message: { role, content }, index, count, onSet, onMove, onRemove }: MessageFieldProps) {
  const number = index + 1;
  const roles = role === PLACE || ROLES.includes(role) ? ROLES : [...ROLES, role];
  const text = {
    'aria-label': role === PLACE ? `Name of placeholder ${number}` : `Text of message ${number}`,
    value: content,
  };
  return (
    <fieldset class="pg-message">
      <legend class="unseen">Message {number}</legend>
      <div class="line apart">
        <select
          class="input"
          aria-label={`Role of message ${number}`}
          value={role}
          onChange={({ currentTarget: { value } }) => onSet({ role: value })}
        >
          {roles.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
          <option value={PLACE}>Placeholder for messages</option>
        </select>
        <span class="line">
          <Button
            look="quiet"
            icon="up"
            label={`Move message ${number} up`}
            refused={index === 0 ? 'It is the first' : null}
            onClick={() => onMove(-1)}
          />
          <Button
            look="quiet"
            icon="down"
            label={`Move message ${number} down`}
            refused={number === count ? 'It is the last' : null}
            onClick={() => onMove(1)}
          />
          <Button
            look="quiet"
            icon="trash"
            label={`Remove message ${number}`}
            refused={count === 1 ? 'A chat version needs at least one message' : null}
            onClick={onRemove}
          />
        </span>
      </div>
      {role === PLACE ? (
        <input
          {...text}
          class="input mono message-text"
          placeholder="history"
          maxLength={128}
          onInput={({ currentTarget: { value } }) => onSet({ content: value })}
        />
      ) : (
        <textarea
          {...text}
          class="input mono message-text"
          spellcheck={false}
          rows={Math.max(3, Math.min(16, content.split('\n', 16).length))}
          onInput={({ currentTarget: { value } }) => onSet({ content: value })}
        />
      )}
    </fieldset>
  );
}
