import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ListDefinition } from '../../../engine/traces/model/list/definitions.js';
import {
  conditionsOf,
  withCondition,
  withoutCondition,
  withoutConditions,
  type Condition,
  type Property,
} from '../../model/list-query.js';
import { counted } from '../../model/format.js';
import { optionsFor, type Choice, type Suggest } from '../../model/filter-choices.js';
import { announce } from '../state/announce.js';
import { useKeys } from '../state/keys.js';
import { Button } from './button.js';
import { Icon } from './icon.js';

interface FilterBarProps {
  readonly list: ListDefinition;
  readonly query: URLSearchParams;
  readonly onChange: (query: URLSearchParams) => void;
  /** Values that a property has, the most frequent first. */
  readonly suggest: Suggest;
  /** The scores that the project has. */
  readonly scores: readonly Property[];
}

/**
 * What a list is filtered by, as chips, and one combobox (APG, list autocomplete) that adds to it: first a field with its
 * comparison, then the value. Text that is entered at once is looked for in inputs, outputs and errors, `key=value` filters by a tag.
 */
export function FilterBar({ list, query, onChange, suggest, scores }: FilterBarProps) {
  const bar = useRef<HTMLDivElement>(null);
  const conditions = conditionsOf(list, query);
  const input = () => bar.current?.querySelector('input');
  useKeys([{ keys: '/', does: 'Filter', run: () => input()?.focus() }]);
  const focusChip = (index: number) => {
    const chips = bar.current?.querySelectorAll<HTMLElement>('.chip') ?? [];
    (chips[index] ?? input())?.focus();
  };
  const remove = (condition: Condition, index: number) => {
    onChange(withoutCondition(list, query, condition));
    announce(`Filter removed: ${sentence(condition)}`);
    // The chip that goes is there until the next frame.
    requestAnimationFrame(() => focusChip(Math.min(index, conditions.length - 2)));
  };
  const onChipKey = (condition: Condition, index: number) => (event: KeyboardEvent) => {
    if (event.key === 'ArrowLeft') focusChip(Math.max(0, index - 1));
    else if (event.key === 'ArrowRight') focusChip(index + 1);
    else if (event.key === 'Backspace' || event.key === 'Delete') remove(condition, index);
    else return;
    event.preventDefault();
  };
  return (
    <div ref={bar} class="filter-bar" role="group" aria-label="Filters">
      <Icon name="filter" />
      {conditions.map((condition, index) => (
        <button
          key={`${condition.parameter}\n${condition.value}`}
          type="button"
          class="chip"
          aria-label={`${sentence(condition)}, remove`}
          title={`${sentence(condition)}: click to remove`}
          onKeyDown={onChipKey(condition, index)}
          onClick={() => remove(condition, index)}
        >
          <span class="clip">
            <span class="soft">{condition.words}</span> <bdi>{condition.value}</bdi>
          </span>
          <Icon name="close" />
        </button>
      ))}
      <Adder
        list={list}
        suggest={suggest}
        scores={scores}
        onAdd={(added) => onChange(withCondition(list, query, added))}
        onLeft={() => focusChip(conditions.length - 1)}
      />
      {conditions.length > 0 && (
        <Button
          look="quiet"
          onClick={() => {
            onChange(withoutConditions(list, query));
            input()?.focus();
          }}
        >
          Clear
        </Button>
      )}
    </div>
  );
}

const sentence = ({ words, value }: Condition) => `${words} ${value}`;

interface AdderProps extends Pick<FilterBarProps, 'list' | 'suggest' | 'scores'> {
  readonly onAdd: (condition: Condition) => void;
  /** Left arrow at the very start. */
  readonly onLeft: () => void;
}

function Adder({ list, suggest, scores, onAdd, onLeft }: AdderProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [property, setProperty] = useState<Property | null>(null);
  const [open, setOpen] = useState(false);
  /** The key of the choice that arrows went to: tags come later than fields, and between them. */
  const [active, setActive] = useState<string | null>(null);
  const choices = useChoices({ list, suggest, scores, property, text, open });
  const at = choices.findIndex(({ key }) => key === active);
  useEffect(() => document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' }), [at]);
  const reset = (shown: boolean, next: Property | null = null) => {
    setText('');
    setActive(null);
    setProperty(next);
    setOpen(shown);
  };
  const choose = (choice: Choice) => {
    reset(choice.condition === null, choice.condition === null ? choice.property : null);
    if (choice.condition !== null) onAdd(choice.condition);
  };
  const enter = () => {
    const chosen = choices[at] ?? (text === '' ? undefined : choices.find(({ typed }) => typed));
    if (chosen !== undefined) choose(chosen);
    else setOpen(true);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const atStart = input.current?.selectionStart === 0 && input.current.selectionEnd === 0;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const next = at < 0 && step < 0 ? choices.length - 1 : (at + step) % choices.length;
      if (open) setActive(choices[next]?.key ?? null);
      setOpen(true);
    } else if (event.key === 'Enter') enter();
    else if (event.key === 'Escape' && (open || property !== null || text !== '')) reset(false);
    else if (event.key === 'Backspace' && text === '' && property !== null) reset(true);
    else if ((event.key === 'ArrowLeft' || event.key === 'Backspace') && atStart && text === '') onLeft();
    else return;
    event.preventDefault();
  };
  return (
    <div class="filter-adder">
      {property !== null && <span class="soft">{property.words}</span>}
      <input
        ref={input}
        role="combobox"
        aria-label={property === null ? 'Add filter' : property.words}
        aria-autocomplete="list"
        aria-expanded={open && choices.length > 0}
        aria-controls={`${id}-list`}
        {...(at >= 0 && { 'aria-activedescendant': `${id}-${at}` })}
        aria-describedby={`${id}-hint`}
        autocomplete="off"
        spellcheck={false}
        placeholder={property === null ? 'Filter or search' : 'Value'}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setActive(null);
          setOpen(true);
        }}
        onClick={() => setOpen(true)}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <span id={`${id}-hint`} class="unseen">
        {property?.description ?? 'Plain text searches inputs, outputs and errors; key=value filters by tag.'}
      </span>
      <div class="filter-list" hidden={!open || (choices.length === 0 && property === null)}>
        <ul
          id={`${id}-list`}
          role="listbox"
          aria-label="Suggestions"
          // The input keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
        >
          {choices.map((choice, index) => (
            <li
              key={choice.key}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              onClick={() => choose(choice)}
            >
              <bdi class="clip">{choice.label}</bdi>
              {choice.note !== undefined && <span class="soft small">{choice.note}</span>}
            </li>
          ))}
        </ul>
        {property !== null && <p class="soft small">{property.description}</p>}
      </div>
      <span class="unseen" role="status">
        {open ? counted(choices.length, 'suggestion') : ''}
      </span>
    </div>
  );
}

const TYPING_MS = 120;

/** What can be chosen now; what the server suggests comes a moment later. */
function useChoices(
  asked: Pick<FilterBarProps, 'list' | 'suggest' | 'scores'> & {
    property: Property | null;
    text: string;
    open: boolean;
  },
) {
  const { list, suggest, scores, property, text, open } = asked;
  const [found, setFound] = useState<{ readonly of: string; readonly values: Awaited<ReturnType<Suggest>> }>();
  const of = property?.parameter ?? '';
  useEffect(() => {
    if (!open) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      // Without suggestions, values are entered as they are.
      suggest(property, text, abort.signal).then(
        (values) => setFound({ of, values }),
        () => undefined,
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [of, text, open]);
  return optionsFor(list, property, text, found?.of === of ? found.values : [], scores);
}
