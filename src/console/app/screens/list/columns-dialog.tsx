import { useState } from 'preact/hooks';
import { scoreOf, tagOf } from '../../../../engine/traces/model/list/columns.js';
import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { SCORE_PREFIX } from '../../../../engine/traces/model/list/query.js';
import type { ScoreDefinitionRead } from '../../../../features/scores/schema.js';
import { columnsOf, defaultWidth, moved, NARROWEST, WIDEST } from '../../../model/list-columns.js';
import { fieldLabel, USER_TAG } from '../../../model/list-query.js';
import { aboutScore } from '../../../model/score-draft.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { announce } from '../../state/announce.js';
import type { ChosenColumns } from './chosen-columns.js';

interface ColumnsDialogProps {
  readonly list: ListDefinition;
  readonly chosen: ChosenColumns;
  /** What the scores of the project are. */
  readonly scores: readonly ScoreDefinitionRead[];
  readonly onClose: () => void;
}

export function columnLabel(column: string): string {
  const tag = tagOf(column);
  return tag === USER_TAG ? 'User' : (tag ?? scoreOf(column) ?? fieldLabel(column));
}

/** Which columns a list shows, in which order and how wide: all that the pointer can do, too. */
export function ColumnsDialog({ list, chosen, scores, onClose }: ColumnsDialogProps) {
  const { columns, setColumns } = chosen;
  const about = new Map([
    ...scores.map((score) => [SCORE_PREFIX + score.name, `Score: ${aboutScore(score)}`] as const),
    ...Object.entries(list.fields).map(([name, { description }]) => [name, description] as const),
  ]);
  const others = [...about.keys()].filter((name) => !columns.includes(name));
  const move = (column: string, by: number) => {
    const next = moved(columns, column, by);
    setColumns(next);
    announce(`${columnLabel(column)} is column ${next.indexOf(column) + 1} of ${next.length}`);
  };
  return (
    <Dialog title="Columns" onClose={onClose}>
      <div class="stack">
        <h3>Visible, in this order</h3>
        <ul class="column-choice">
          {columns.map((column, index) => (
            <li key={column} class="line">
              <label class="line">
                <input
                  type="checkbox"
                  checked
                  disabled={columns.length === 1}
                  onChange={() => setColumns(columns.filter((other) => other !== column))}
                />
                <bdi class="clip">{columnLabel(column)}</bdi>
              </label>
              <span class="soft small clip">{about.get(column) ?? (tagOf(column) === null ? 'Score' : 'Tag')}</span>
              <Width column={column} list={list} chosen={chosen} />
              <Button
                look="quiet"
                icon="up"
                label={`Move ${columnLabel(column)} up`}
                refused={index === 0 ? 'Already first' : null}
                onClick={() => move(column, -1)}
              />
              <Button
                look="quiet"
                icon="down"
                label={`Move ${columnLabel(column)} down`}
                refused={index === columns.length - 1 ? 'Already last' : null}
                onClick={() => move(column, 1)}
              />
            </li>
          ))}
        </ul>
        <TagColumn onAdd={(column) => setColumns([...columns, column])} />
        <h3>Available</h3>
        <ul class="column-choice">
          {others.map((column) => (
            <li key={column} class="line">
              <label class="line">
                <input type="checkbox" checked={false} onChange={() => setColumns([...columns, column])} />
                <bdi class="clip">{columnLabel(column)}</bdi>
              </label>
              <span class="soft small clip">{about.get(column)}</span>
            </li>
          ))}
        </ul>
        <div class="line">
          <Button look="main" onClick={onClose}>
            Done
          </Button>
          <Button
            onClick={() => {
              chosen.reset();
              announce(`Reset to the default ${columnsOf(list, null).length} columns`);
            }}
          >
            Reset to default
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Width({ list, chosen, column }: Omit<ColumnsDialogProps, 'onClose' | 'scores'> & { readonly column: string }) {
  return (
    <input
      class="input"
      type="number"
      aria-label={`Width of ${columnLabel(column)} in pixels`}
      min={NARROWEST}
      max={WIDEST}
      step={8}
      placeholder="auto"
      value={chosen.widths.get(column) ?? (chosen.flexible.includes(column) ? '' : defaultWidth(list, column))}
      onChange={(event) => {
        const width = event.currentTarget.valueAsNumber;
        if (Number.isFinite(width)) chosen.resize(column, width);
      }}
    />
  );
}

function TagColumn({ onAdd }: { readonly onAdd: (column: string) => void }) {
  const [key, setKey] = useState('');
  return (
    <form
      class="line column-of-tag"
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim() === '') return;
        onAdd(`tags.${key.trim()}`);
        setKey('');
      }}
    >
      <Field label="Tag column">
        <input class="input" placeholder="Tag key" value={key} onInput={(event) => setKey(event.currentTarget.value)} />
      </Field>
      <Button type="submit" icon="plus">
        Add column
      </Button>
    </form>
  );
}
