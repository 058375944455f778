import type { CompletionPageRead } from '../../../../features/completions/http/schema.js';
import { NOTHING } from '../../../model/format.js';
import { payloadLine } from '../../../model/payload-line.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Cost, Took, When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Status } from '../../parts/kind.js';
import { Pager } from '../../parts/pager.js';
import { RangePicker } from '../../parts/range-picker.js';
import { Answered, Empty } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { hrefOf, hrefWith, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { offsetAsked, parametersAsked, rangeAsked } from './asked.js';
import { Choice } from './choice.js';
import { ofPrompt, useJudges, versionIn } from './data.js';
import type { TabProps } from './tab-props.js';

type Completion = CompletionPageRead['completions'][number];

const PAGE = 50;
const FILTERS = ['version', 'feedback', 'verdict', 'judge_id'] as const;

/** The completions of the prompt, with what people and judges said of them. */
export function CompletionsTab({ slug, latest }: TabProps) {
  const offset = offsetAsked();
  const query = { ...parametersAsked([...FILTERS, 'sort_order']), limit: String(PAGE), offset: String(offset) };
  const answer = useQuery({
    key: ['/prompts', slug, 'completions', query],
    ask: (signal) =>
      call('GET /projects/:project_id/prompts/:prompt_slug/completions', {
        params: { prompt_slug: slug },
        query,
        signal,
      }),
  });
  return (
    <div class="stack">
      <div class="line apart">
        <Filters latest={latest} />
        <CopyAsCurl path={ofPrompt(slug, '/completions')} query={query} />
      </div>
      <Answered answer={answer}>
        {({ completions, total }) => (
          <div class="stack many-columns">
            {completions.length === 0 ? <NoCompletions /> : <CompletionTable completions={completions} />}
            <Pager offset={offset} limit={PAGE} shown={completions.length} total={total} />
          </div>
        )}
      </Answered>
    </div>
  );
}

function Filters({ latest }: { readonly latest: number }) {
  const judges = useJudges().data ?? [];
  return (
    <div class="line">
      <RangePicker range={rangeAsked()} />
      <VersionChoice latest={latest} none />
      <Choice
        label="Feedback"
        parameter="feedback"
        any="any"
        values={[
          ['up', 'thumbs up'],
          ['down', 'thumbs down'],
          ['none', 'none yet'],
        ]}
      />
      <Choice
        label="Judges"
        parameter="verdict"
        any="any verdict"
        values={[
          ['passed', 'passed'],
          ['failed', 'failed'],
          ['none', 'not evaluated'],
        ]}
      />
      {judges.length > 0 && (
        <Choice label="by" parameter="judge_id" any="any judge" values={judges.map(({ id, name }) => [id, name])} />
      )}
      <Choice label="Order" parameter="sort_order" any="newest first" values={[['asc', 'oldest first']]} />
    </div>
  );
}

/** A version to filter by: a number, as there may be thousands. */
export function VersionChoice({ latest, none = false }: { readonly latest: number; readonly none?: boolean }) {
  const asked = versionIn(place.value.query.get('version'));
  const first = Math.max(1, latest - 49);
  const numbers = Array.from({ length: latest - first + 1 }, (_, index) => latest - index);
  if (asked !== null && asked < first) numbers.push(asked);
  return (
    <Choice
      label="Version"
      parameter="version"
      any="any"
      values={[
        ...numbers.map((version) => [String(version), `v${version}`] as const),
        ...(none ? [['none', 'no version'] as const] : []),
      ]}
    />
  );
}

function NoCompletions() {
  const set = [...FILTERS, 'range', 'from', 'to'].filter((name) => place.value.query.has(name));
  if (set.length === 0)
    return (
      <Empty title="No completions yet">
        <p>Spans that name the prompt by its slug, or a version by its ID, appear here.</p>
      </Empty>
    );
  return (
    <Empty title="No completions match">
      <p class="line">
        {set.map((name) => (
          <a key={name} class="chip" href={hrefWith({ [name]: null, offset: null })}>
            <Icon name="close" /> without {name}
          </a>
        ))}
      </p>
    </Empty>
  );
}

const COLUMNS: readonly Column<Completion>[] = [
  {
    name: 'output',
    label: 'Output',
    cell: ({ output_data, name }) => <bdi>{payloadLine(output_data ?? '', 'output') || name}</bdi>,
    full: ({ output_data }) => output_data ?? undefined,
  },
  {
    name: 'input',
    label: 'Input',
    cell: ({ input_data }) => <bdi class="soft">{payloadLine(input_data ?? '', 'input') || NOTHING}</bdi>,
    full: ({ input_data }) => input_data ?? undefined,
  },
  { name: 'status', label: 'Status', cell: ({ has_error }) => <Status error={has_error} /> },
  {
    name: 'version',
    label: 'Version',
    cell: ({ prompt_version }) =>
      prompt_version === null ? (
        NOTHING
      ) : (
        <a href={hrefWith({ version: String(prompt_version), offset: null })}>v{prompt_version}</a>
      ),
  },
  { name: 'thumbs', label: 'Thumbs', cell: (completion) => <Thumbs of={completion} /> },
  { name: 'verdicts', label: 'Verdicts', cell: (completion) => <Verdicts of={completion} /> },
  { name: 'duration', label: 'Duration', figure: true, cell: ({ duration_ms }) => <Took ms={duration_ms} /> },
  { name: 'cost', label: 'Cost', figure: true, cell: ({ cost }) => <Cost of={cost} /> },
  { name: 'started', label: 'Started', cell: ({ started_at }) => <When at={started_at} /> },
];

function CompletionTable({ completions }: { readonly completions: readonly Completion[] }) {
  return (
    <DataTable
      caption="Completions"
      columns={COLUMNS}
      rows={completions}
      idOf={({ id }) => id}
      hrefOf={({ id, trace_id }) => hrefOf({ screen: 'traces', id: trace_id, query: { span: id } })}
    />
  );
}

function Thumbs({ of: { thumbs_up, thumbs_down } }: { readonly of: Completion }) {
  if (thumbs_up + thumbs_down === 0) return <>{NOTHING}</>;
  return (
    <span class="line">
      {thumbs_up > 0 && (
        <span class="badge good">
          <Icon name="thumbs-up" /> {thumbs_up} <span class="unseen">up</span>
        </span>
      )}
      {thumbs_down > 0 && (
        <span class="badge bad">
          <Icon name="thumbs-down" /> {thumbs_down} <span class="unseen">down</span>
        </span>
      )}
    </span>
  );
}

function Verdicts({ of: { verdicts } }: { readonly of: Completion }) {
  if (verdicts.length === 0) return <>{NOTHING}</>;
  return (
    <span class="line">
      {verdicts.map(({ judge_id, judge_name, evaluation_result, score }) => (
        <a
          key={judge_id}
          class={`badge ${evaluation_result ? 'good' : 'bad'}`}
          href={hrefOf({ screen: 'judges', id: judge_id })}
        >
          {evaluation_result ? 'passed' : 'failed'}
          {score !== null && ` ${score}`}, <bdi class="clip">{judge_name}</bdi>
        </a>
      ))}
    </span>
  );
}
