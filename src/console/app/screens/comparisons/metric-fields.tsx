import type { DraftRule, MetricDraft } from '../../../model/comparison-draft.js';

const RULES: Readonly<Record<DraftRule, string>> = {
  none: 'not compared',
  report: 'only reported',
  no_regression: 'fails when it is worse beyond chance',
  not_worse: 'passes when it is not worse by',
  at_least: 'passes when it is at least',
};
const isRule = (text: string): text is DraftRule => Object.hasOwn(RULES, text);

interface MetricFieldsProps {
  readonly drafts: readonly MetricDraft[];
  readonly onChange: (drafts: readonly MetricDraft[]) => void;
}

/** The metrics that both experiments have, each with what it must be. */
export function MetricFields({ drafts, onChange }: MetricFieldsProps) {
  const change = (name: string, changes: Partial<MetricDraft>) =>
    onChange(drafts.map((draft) => (draft.name === name ? { ...draft, ...changes } : draft)));
  return (
    <fieldset class="labelled">
      <legend>Metrics</legend>
      <ul class="metric-fields">
        {drafts.map((draft) => (
          <MetricField key={draft.name} draft={draft} onChange={(changes) => change(draft.name, changes)} />
        ))}
      </ul>
      <p class="soft small">
        A margin is in the unit of the metric (0.03 of a share are 3 points), or a share of the baseline, such as 10%.
      </p>
    </fieldset>
  );
}

interface MetricFieldProps {
  readonly draft: MetricDraft;
  readonly onChange: (changes: Partial<MetricDraft>) => void;
}

function MetricField({ draft, onChange }: MetricFieldProps) {
  const { rule, margin, value, isOrdered, label: name = draft.name } = draft;
  const rules = Object.entries(RULES).filter(([one]) => isOrdered || one === 'none' || one === 'report');
  const entered = rule === 'not_worse' ? 'margin' : rule === 'at_least' ? 'value' : null;
  return (
    <li>
      <bdi class="clip" title={name}>
        {name}
      </bdi>
      <span class="line">
        <select
          class="input"
          aria-label={`Rule of ${name}`}
          value={rule}
          onChange={({ currentTarget }) => isRule(currentTarget.value) && onChange({ rule: currentTarget.value })}
        >
          {rules.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
        {entered !== null && (
          <input
            class="input"
            size={8}
            aria-label={entered === 'margin' ? `Margin of ${name}` : `What ${name} must reach`}
            placeholder={entered === 'margin' ? '0.03 or 10%' : 'such as 0.8'}
            autocomplete="off"
            value={entered === 'margin' ? margin : value}
            onInput={({ currentTarget }) => onChange({ [entered]: currentTarget.value })}
          />
        )}
      </span>
    </li>
  );
}
