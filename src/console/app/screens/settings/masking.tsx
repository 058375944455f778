import { useState } from 'preact/hooks';
import type { MaskingRead, MaskingTestRead } from '../../../../features/masking/schema.js';
import { count, counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Confirm } from '../../parts/dialog.js';
import { Answered, Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';
import { MASKING_TYPES, RuleDialog } from './masking-rule.js';

type Rule = MaskingRead['rules'][number];

const PATH = () => ofProject('/masking');

/** What personal data is masked before it is stored. */
export function Masking() {
  const answer = useQuery({ key: [PATH()], ask: (signal) => call('GET /projects/:project_id/masking', { signal }) });
  return (
    <section class="stack" aria-labelledby="masking">
      <div class="line apart">
        <h2 id="masking">Masking</h2>
        <CopyAsCurl path={PATH()} />
      </div>
      <p class="soft">
        Rules mask personal data before spans are stored. They apply to new data; stored spans do not change.
      </p>
      <Answered answer={answer} rows={2}>
        {({ rules }) => <Rules rules={rules} />}
      </Answered>
    </section>
  );
}

function Rules({ rules }: { readonly rules: readonly Rule[] }) {
  /** Index of the rule that is edited; one behind the last: it is new. */
  const [edited, setEdited] = useState<number | null>(null);
  const [removing, setRemoving] = useState<Rule | null>(null);
  const [test, setTest] = useState<MaskingTestRead | null>(null);
  const { busy, failure, run } = useAction();
  const put = async (changed: readonly Rule[]) => {
    await call('PUT /projects/:project_id/masking', { body: { rules: [...changed] } });
    announce('Masking rules saved');
    setTest(null);
    await changedAt(PATH());
  };
  const withRule = (rule: Rule, index: number) => [...rules.slice(0, index), rule, ...rules.slice(index + 1)];
  const tryOut = (tried: readonly Rule[]) =>
    run(async () => setTest(await call('POST /projects/:project_id/masking:test', { body: { rules: [...tried] } })));
  const edit = (index: number | null) => {
    setTest(null);
    setEdited(index);
  };
  const tested = (
    <>
      {failure !== null && <Failure error={failure} />}
      {test !== null && <Tested test={test} />}
    </>
  );
  const names = rules.filter((_rule, index) => index !== edited).map(({ name }) => name);
  return (
    <>
      <div class="line">
        <Button icon="plus" changes onClick={() => edit(rules.length)}>
          Add rule
        </Button>
        {rules.length > 0 && (
          <Button changes busy={busy} onClick={() => tryOut(rules)}>
            Test on stored spans
          </Button>
        )}
      </div>
      {rules.length === 0 ? (
        <p class="soft">No rules yet: everything is stored as it is sent.</p>
      ) : (
        <DataTable
          caption="Masking rules"
          columns={columnsOf(rules, edit, setRemoving)}
          rows={rules}
          idOf={({ name }) => name}
        />
      )}
      {removing !== null && (
        <Confirm
          title="Delete this rule?"
          action="Delete rule"
          onConfirm={() => {
            setRemoving(null);
            run(() => put(rules.filter((rule) => rule !== removing)));
          }}
          onClose={() => setRemoving(null)}
        >
          <p>
            From now on, values that <bdi>{removing.name}</bdi> masks are stored as they are sent.
          </p>
        </Confirm>
      )}
      {edited === null ? (
        tested
      ) : (
        <RuleDialog
          rule={rules[edited] ?? null}
          index={edited}
          taken={names}
          onSave={(rule) => put(withRule(rule, edited))}
          onTest={(rule) => tryOut(withRule(rule, edited))}
          onClose={() => edit(null)}
        >
          {tested}
        </RuleDialog>
      )}
    </>
  );
}

const REPLACEMENTS: Readonly<Record<Rule['action'], (name: string) => string>> = {
  replace: (name) => `[${name}]`,
  hash: (name) => `[${name}:hash]`,
  drop: () => 'nothing',
};

function columnsOf(
  rules: readonly Rule[],
  edit: (index: number) => void,
  remove: (rule: Rule) => void,
): Column<Rule>[] {
  return [
    { name: 'name', label: 'Rule', cell: ({ name }) => <bdi>{name}</bdi> },
    {
      name: 'type',
      label: 'Masks',
      cell: ({ type, expression, path, countries }) => (
        <>
          {MASKING_TYPES[type]} <bdi class="soft">{expression ?? path ?? countries?.join(', ')}</bdi>
        </>
      ),
    },
    { name: 'becomes', label: 'Replaced with', cell: ({ name, action }) => REPLACEMENTS[action](name) },
    {
      name: 'actions',
      label: 'Actions',
      cell: (rule) => (
        <span class="line">
          <Button
            icon="edit"
            look="quiet"
            changes
            label={`Edit ${rule.name}`}
            onClick={() => edit(rules.indexOf(rule))}
          />
          <Button icon="trash" look="quiet" changes label={`Delete ${rule.name}`} onClick={() => remove(rule)} />
        </span>
      ),
    },
  ];
}

/** What the rules would change of stored spans. */
function Tested({ test: { spans, changed, rules } }: { readonly test: MaskingTestRead }) {
  return (
    <section class="stack" aria-label="Test">
      <p role="status">
        Of the newest {counted(spans, 'span')}, the rules would change {count(changed)}. Nothing was changed.
      </p>
      {rules.map(({ name, values, excerpts, ...found }) => (
        <div key={name}>
          <strong>{name}</strong>: {counted(values, 'value')} in {counted(found.spans, 'span')}
          <ul class="named">
            {excerpts.map(({ field, before, after }, index) => (
              <li key={index}>
                <span class="soft">{field}</span> <bdi>{before}</bdi> → <bdi>{after}</bdi>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}
