import { useId } from 'preact/hooks';
import { measuresOf } from '../../../../engine/traces/model/list/statistics.js';
import { scoreOf } from '../../../../engine/traces/model/list/columns.js';
import { CHART_KINDS } from '../../../../features/dashboards/dashboard.js';
import type { ScoreDefinitionRead } from '../../../../features/scores/schema.js';
import type { Chart } from '../../../model/dashboard.js';
import { fieldLabel, LISTS, type ListName } from '../../../model/list-query.js';
import { measuredScores, splitsOf } from '../../../model/score-chart.js';
import { Field } from '../../parts/field.js';
import { TokenField } from '../../parts/token-field.js';

interface ChartFieldsProps {
  readonly draft: Chart;
  readonly scores: readonly ScoreDefinitionRead[];
  readonly onChange: (more: Partial<Chart>) => void;
}

const KINDS: Readonly<Record<string, string>> = {
  lines: 'Lines over time',
  bars: 'Bars over time',
  number: 'Numbers',
  table: 'Table',
};
const BUCKETS: Readonly<Record<string, string>> = {
  ...{ '1m': '1 minute', '5m': '5 minutes', '15m': '15 minutes', '1h': '1 hour', '6h': '6 hours' },
  ...{ '1d': '1 day', '1w': '1 week' },
};

/** The fields of a chart. */
export function ChartFields({ draft, scores, onChange }: ChartFieldsProps) {
  const list = LISTS[draft.list];
  const measures = [...measuresOf(list), ...measuredScores(scores).map(([measure]) => measure)];
  const known = (measure: string) => measures.includes(measure) || scoreOf(measure) !== null;
  const isOverTime = draft.kind === 'lines' || draft.kind === 'bars';
  return (
    <>
      <Field label="Title">
        <input
          class="input"
          autocomplete="off"
          autofocus
          maxLength={200}
          value={draft.title}
          onInput={(event) => onChange({ title: event.currentTarget.value })}
        />
      </Field>
      <Select
        label="Chart"
        value={draft.kind}
        options={CHART_KINDS.map((kind) => [kind, KINDS[kind] ?? kind])}
        onChange={(kind) => onChange({ kind: kind as Chart['kind'] })}
      />
      <Select
        label="List"
        value={draft.list}
        options={Object.keys(LISTS).map((name) => [name, fieldLabel(name)])}
        onChange={(name) => onChange({ list: name as ListName })}
      />
      <Field label="Filters" hint="As in the URL of the list, such as span_kind=llm&models=gpt-4o">
        <input
          class="input"
          autocomplete="off"
          maxLength={4_000}
          value={draft.query}
          onInput={(event) => onChange({ query: event.currentTarget.value })}
        />
      </Field>
      <TokenField
        label="Measures"
        hint={`${measuresOf(list).join(', ')} or scores.<name>`}
        values={draft.measures}
        suggested={measures}
        refuse={(measure) => (known(measure) ? null : 'Unknown measure')}
        onChange={(next) => onChange({ measures: [...next] })}
      />
      {draft.kind !== 'number' && (
        <GroupBy
          value={draft.group_by ?? ''}
          suggested={splitsOf(list, scores).map(([name]) => name)}
          onChange={(name) => onChange({ group_by: name === '' ? null : name })}
        />
      )}
      {isOverTime && (
        <Select
          label="Interval"
          value={draft.bucket ?? ''}
          options={[['', 'Automatic'], ...Object.entries(BUCKETS)]}
          onChange={(bucket) => onChange({ bucket: bucket === '' ? null : bucket })}
        />
      )}
    </>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}

/** A choice of few; one that it does not know is kept. */
function Select({ label, value, options, onChange }: SelectProps) {
  const isKnown = options.some(([known]) => known === value);
  return (
    <Field label={label}>
      <select class="input" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {!isKnown && <option value={value}>{value}</option>}
        {options.map(([known, text]) => (
          <option key={known} value={known}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface GroupByProps {
  readonly value: string;
  readonly suggested: readonly string[];
  readonly onChange: (name: string) => void;
}

function GroupBy({ value, suggested, onChange }: GroupByProps) {
  const id = useId();
  return (
    <>
      <Field label="Group by" hint="A field, tags.<key> or scores.<name>; leave empty for no grouping">
        <input
          class="input"
          list={id}
          autocomplete="off"
          maxLength={1_100}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value.trim())}
        />
      </Field>
      <datalist id={id}>
        {suggested.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
