import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import type { ScoreValue } from '../../../../engine/traces/model/score/score.js';
import type { ListRow } from '../../../model/list-columns.js';
import { propertiesOf, scoreProperty, tagProperty, TEXT_LIMIT, type Condition } from '../../../model/list-query.js';
import { Dialog } from '../../parts/dialog.js';
import { Icon } from '../../parts/icon.js';
import { nameOf } from './cells.js';

interface FilterByRowProps {
  readonly list: ListDefinition;
  readonly row: ListRow;
  readonly columns: readonly string[];
  readonly onChoose: (condition: Condition) => void;
  readonly onClose: () => void;
}

/** Filters by a cell of a row: every value of it that the list can be filtered by. */
export function FilterByRow({ list, row, columns, onChoose, onClose }: FilterByRowProps) {
  return (
    <Dialog title="Filter by" onClose={onClose}>
      <p class="soft clip">
        Values of <bdi>{nameOf(row)}</bdi>
      </p>
      <ul class="goals">
        {conditionsOfRow(list, row, columns).map((condition, index) => (
          <li key={condition.parameter + condition.value}>
            <button
              type="button"
              class="goal"
              autofocus={index === 0}
              onClick={() => {
                onClose();
                onChoose(condition);
              }}
            >
              <Icon name="filter" />
              <span class="soft">{condition.words}</span>
              <bdi class="clip">{condition.value}</bdi>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function conditionsOfRow(list: ListDefinition, row: ListRow, columns: readonly string[]): Condition[] {
  const ofFields = propertiesOf(list).flatMap((property): Condition[] => {
    const value = property.field === null ? null : row[property.field];
    if (value === null || value === undefined || value === '' || typeof value === 'object') return [];
    const text = String(value);
    // A cut text is no value that the list has.
    return text.length > TEXT_LIMIT ? [] : [{ ...property, value: text }];
  });
  const tags = (row['tags'] ?? {}) as Readonly<Record<string, string>>;
  const ofTags = Object.entries(tags).map(([key, value]) => ({ ...tagProperty(key), value }));
  const scores = Object.entries((row['scores'] ?? {}) as Readonly<Record<string, ScoreValue>>)
    .map(([name, value]) => ({ ...scoreProperty(name), value: String(value) }))
    .filter(({ value }) => value.length <= TEXT_LIMIT);
  // What is seen comes first.
  const place = ({ field }: Condition) => {
    const at = columns.indexOf(field ?? '');
    return at < 0 ? columns.length : at;
  };
  return [...ofFields, ...ofTags, ...scores].sort((a, b) => place(a) - place(b));
}
