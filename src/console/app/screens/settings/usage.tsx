import type { NamedUsage } from '../../../../features/usage/own-usage.js';
import type { Usage } from '../../../../engine/traces/model/usage.js';
import { count, counted } from '../../../model/format.js';
import { boundsOf, rangeOf } from '../../../model/range.js';
import { CopyAsCurl, CopyButton } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Cost, Tile } from '../../parts/figures.js';
import { RangePicker } from '../../parts/range-picker.js';
import { Answered, Empty } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { hrefOf, hrefWith, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { Budget } from './budget.js';

/** Most judges and jobs that one answer names. */
const MAX = 1000;

const PURPOSES: Readonly<Record<string, string>> = {
  judge: 'Judge',
  calibration: 'Correction trial',
  optimization: 'Prompt optimization',
  playground: 'Playground',
};

/** What the server's own calls of models cost: judges, trials, optimizations. */
export default function OwnCalls() {
  const range = rangeOf(place.value.query);
  const query = boundsOf(range);
  const path = ofProject('/internal-usage');
  const answer = useQuery({
    key: [path, query],
    ask: (signal) => call('GET /projects/:project_id/internal-usage', { query, signal }),
  });
  return (
    <div class="stack">
      <Budget />
      <h2>Internal calls</h2>
      <div class="line apart">
        <p class="soft">Model calls by judges, trials, optimizations and the playground. Other pages exclude them.</p>
        <div class="line">
          <RangePicker range={range} />
          <CopyAsCurl path={path} query={query} />
        </div>
      </div>
      <Answered answer={answer} rows={4}>
        {({ total, groups }) =>
          total.calls === 0 ? (
            <Empty title="No internal calls in this time range">
              {range.range !== 'all' && (
                <p>
                  <a href={hrefWith({ range: 'all', from: null, to: null })}>Show all time</a>
                </p>
              )}
            </Empty>
          ) : (
            <>
              <Totals {...total} />
              <DataTable
                caption="Internal calls by purpose"
                columns={COLUMNS}
                rows={groups}
                twoLine={false}
                idOf={idOf}
              />
              <p class="soft">
                {groups.length < MAX
                  ? counted(groups.length, 'judge or job', 'judges and jobs')
                  : 'Showing the 1,000 most expensive'}
              </p>
            </>
          )
        }
      </Answered>
    </div>
  );
}

const idOf = ({ purpose, id }: NamedUsage) => `${purpose} ${id}`;

/** The list of own calls that a figure counts, in the time that is shown. */
function callsOf(more: Readonly<Record<string, string>> = {}): string {
  const time = [...place.value.query].filter(([name]) => ['range', 'from', 'to'].includes(name));
  return hrefOf({ screen: 'spans', query: { ...Object.fromEntries(time), internal: 'only', ...more } });
}

function Totals({ calls, errors, cost, input_tokens, output_tokens }: Usage) {
  return (
    <div class="tiles">
      <Tile label="Calls" href={callsOf()}>
        {count(calls)}
      </Tile>
      <Tile label="Failed" href={callsOf({ has_error: 'true' })}>
        {count(errors)}
      </Tile>
      <Tile label="Cost" href={callsOf({ sort_by: 'cost' })}>
        <Cost of={cost} />
      </Tile>
      <Tile label="Tokens" href={callsOf()} note={`${count(input_tokens)} in, ${count(output_tokens)} out`}>
        {count(input_tokens + output_tokens)}
      </Tile>
    </div>
  );
}

const COLUMNS: readonly Column<NamedUsage>[] = [
  { name: 'purpose', label: 'Purpose', cell: ({ purpose }) => PURPOSES[purpose] ?? purpose },
  {
    name: 'id',
    label: 'Judge, prompt or user',
    cell: (row) => <Subject {...row} />,
    full: ({ name, id }) => name ?? id,
  },
  {
    name: 'calls',
    label: 'Calls',
    figure: true,
    cell: ({ purpose, id, calls }) => <a href={callsOf({ [`tags.spanhouse.${purpose}`]: id })}>{count(calls)}</a>,
  },
  { name: 'errors', label: 'Failed', figure: true, cell: ({ errors }) => count(errors) },
  { name: 'input', label: 'Input tokens', figure: true, cell: ({ input_tokens }) => count(input_tokens) },
  { name: 'output', label: 'Output tokens', figure: true, cell: ({ output_tokens }) => count(output_tokens) },
  { name: 'cost', label: 'Cost', figure: true, cell: ({ cost }) => <Cost of={cost} /> },
];

/** Leads to what the calls were for; what is not there any more is known by its id. */
function Subject({ purpose, id, name, subject_id }: NamedUsage) {
  if (name === null || subject_id === null)
    return (
      <>
        <code>{id}</code> <CopyButton text={id} what="ID" />
      </>
    );
  if (purpose === 'playground') return <bdi>{name}</bdi>;
  const href =
    purpose === 'optimization'
      ? hrefOf({ screen: 'prompts', id: name, query: { tab: 'optimization', job: id } })
      : hrefOf({
          screen: 'judges',
          id: subject_id,
          query: purpose === 'calibration' ? { tab: 'trials', trial: id } : {},
        });
  return (
    <a href={href}>
      <bdi>{name}</bdi>
    </a>
  );
}
