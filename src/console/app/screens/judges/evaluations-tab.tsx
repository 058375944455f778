import { useState } from 'preact/hooks';
import type { EvaluationRead } from '../../../../features/judges/schema.js';
import { counted, NOTHING, percent } from '../../../model/format.js';
import { shortVersion } from '../../../model/judge-version-text.js';
import { Button } from '../../parts/button.js';
import { Choice } from '../../parts/choice.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Pager } from '../../parts/pager.js';
import { SpanLink } from '../../parts/span-link.js';
import { Answered, Empty } from '../../parts/states.js';
import { PassOrFail } from '../../parts/verdict.js';
import { call } from '../../state/api.js';
import { hrefOf, place, setQuery } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { useExperiments } from '../experiments/data.js';
import { offsetShown, ofJudge, PAGE, useCalibration } from './data.js';
import { useEvaluations } from './lists.js';
import type { JudgeTabProps } from './tab-props.js';

/** Parameters of this view that the list of evaluations takes, by the same names. */
const FILTERS = ['evaluation_result', 'agreement', 'judge_version', 'experiment_id', 'start_date', 'end_date'] as const;
/** Experiments that can be chosen. */
const EXPERIMENTS = 50;

/** What the judge found, by verdict, version and what people said of it. */
export function EvaluationsTab({ judge }: JudgeTabProps) {
  const { query } = place.value;
  const filters = Object.fromEntries(
    FILTERS.flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : [])),
  );
  const sort_by = query.get('sort_by') === 'confidence' ? 'confidence' : 'created_at';
  const sort_order = query.get('sort_order') ?? (sort_by === 'confidence' ? 'asc' : 'desc');
  const asked = { ...filters, sort_by, sort_order, limit: PAGE, offset: offsetShown() };
  const answer = useEvaluations(judge.id, asked);
  return (
    <div class="stack">
      <div class="line apart">
        <Filters judge={judge} />
        <CopyAsCurl path={ofJudge(judge.id, '/evaluations')} query={asked} />
      </div>
      <Answered answer={answer}>
        {({ evaluations, total }) =>
          total === 0 ? (
            <Empty title="No evaluations">
              {Object.keys(filters).length > 0 ? (
                <a href={hrefOf({ screen: 'judges', id: judge.id, query: { tab: 'evaluations' } })}>Clear filters</a>
              ) : (
                <p>No evaluations yet. Check that the judge is enabled and that spans match its filters.</p>
              )}
            </Empty>
          ) : (
            <>
              <DataTable
                caption="Evaluations"
                columns={COLUMNS}
                rows={evaluations}
                idOf={({ id }) => id}
                sorting={{
                  by: sort_by,
                  descending: sort_order === 'desc',
                  onSort: (by, descending) =>
                    setQuery({ sort_by: by, sort_order: descending ? 'desc' : 'asc', offset: null }),
                }}
              />
              <Pager offset={asked.offset} limit={PAGE} shown={evaluations.length} total={total} />
            </>
          )
        }
      </Answered>
      <WhyNot judge={judge} />
    </div>
  );
}

function Filters({ judge }: JudgeTabProps) {
  const versions = useCalibration(judge.id).data?.by_version ?? [];
  const experiments = useExperiments({ limit: EXPERIMENTS }).data?.experiments ?? [];
  const { query } = place.value;
  const exact = query.get('judge_version') ?? '';
  const named = versions.map(({ version }) => [version, version] as const);
  // One that an experiment was evaluated by is named exactly.
  if (exact.includes('/')) named.unshift([exact, shortVersion(exact)]);
  const [start, end] = [query.get('start_date'), query.get('end_date')];
  return (
    <div class="line fields">
      <Choice
        label="Verdict"
        name="evaluation_result"
        options={[
          ['true', 'passed'],
          ['false', 'failed'],
        ]}
      />
      <Choice
        label="People"
        name="agreement"
        options={[
          ['disagreed', 'disagreed'],
          ['agreed', 'agreed'],
          ['unreviewed', 'unreviewed'],
        ]}
      />
      <Choice label="Version" name="judge_version" options={named} />
      <Choice label="Experiment" name="experiment_id" options={experiments.map(({ id, name }) => [id, name])} />
      <Choice
        label="Stored"
        name="start_date"
        options={[
          ['1h', 'last hour'],
          ['24h', 'last 24 hours'],
          ['7d', 'last 7 days'],
          ['30d', 'last 30 days'],
        ]}
      />
      {end !== null && (
        <Button icon="close" onClick={() => setQuery({ start_date: null, end_date: null, offset: null })}>
          {start ?? 'start'} to {end}
        </Button>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<EvaluationRead>[] = [
  { name: 'result', label: 'Verdict', cell: ({ evaluation_result }) => <PassOrFail passed={evaluation_result} /> },
  { name: 'score', label: 'Score', named: true, figure: true, cell: ({ score }) => score ?? NOTHING },
  {
    name: 'confidence',
    label: 'Confidence',
    named: true,
    figure: true,
    sort: 'confidence',
    cell: ({ confidence_score }) => percent(confidence_score),
  },
  {
    name: 'reason',
    label: 'Reason',
    cell: ({ evaluation_reason }) => <bdi>{evaluation_reason.slice(0, 300)}</bdi>,
    full: ({ evaluation_reason }) => evaluation_reason.slice(0, 4000),
  },
  {
    name: 'span',
    label: 'Span',
    named: true,
    cell: ({ span_id, trace_id }) => <SpanLink id={span_id} traceId={trace_id} />,
  },
  {
    name: 'version',
    label: 'Version',
    named: true,
    cell: ({ judge_version }) => <code>{judge_version === null ? 'external' : shortVersion(judge_version)}</code>,
    full: ({ judge_version }) => judge_version ?? 'Evaluated externally',
  },
  { name: 'origin', label: 'Origin', named: true, cell: ({ origin }) => origin },
  {
    name: 'created',
    label: 'Stored',
    named: true,
    sort: 'created_at',
    cell: ({ created_at }) => <When at={created_at} />,
  },
];

/** Why a span was or was not evaluated, for whoever has its id. */
function WhyNot({ judge }: JudgeTabProps) {
  const asked = place.value.query.get('why') ?? '';
  const [id, setId] = useState(asked);
  const answer = useQuery({
    key: ['/judges', judge.id, 'why', asked],
    ask: (signal) =>
      call('GET /projects/:project_id/judges/:judge_id/explain/:span_id', {
        params: { judge_id: judge.id, span_id: asked },
        signal,
      }),
    enabled: asked !== '',
    keep: false,
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery({ why: id.trim() === '' ? null : id.trim() });
      }}
    >
      <div class="line">
        <label class="line">
          Why was a {judge.subject} evaluated or skipped?
          <input
            class="input mono"
            size={38}
            placeholder={`${judge.subject} ID`}
            value={id}
            onInput={(event) => setId(event.currentTarget.value)}
          />
        </label>
        <Button type="submit" icon="help">
          Explain
        </Button>
      </div>
      {asked !== '' && (
        <Answered answer={answer} rows={1}>
          {({ explanation, mismatches, position, span_id }) => (
            <div role="status" class="stack">
              <p>
                {explanation} {position !== null && `${counted(position, 'evaluation')} ahead of it.`}{' '}
                <SpanLink id={span_id}>Open span</SpanLink>
              </p>
              {mismatches.map(({ filter, wanted, found }) => (
                <p key={filter}>
                  <code>{filter}</code>: expected <bdi>{wanted}</bdi>, found <bdi>{found}</bdi>
                </p>
              ))}
            </div>
          )}
        </Answered>
      )}
    </form>
  );
}
