import type { ListedFeedbackRead } from '../../../../features/feedback/list-schema.js';
import { NOTHING } from '../../../model/format.js';
import { payloadLine } from '../../../model/payload-line.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { DownloadMenu } from '../../parts/download-menu.js';
import { When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Pager } from '../../parts/pager.js';
import { Answered, Empty } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { hrefOf, hrefWith, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { offsetAsked } from './asked.js';
import { Choice } from './choice.js';
import { VersionChoice } from './completions-tab.js';
import { ofPrompt } from './data.js';
import type { TabProps } from './tab-props.js';

const PAGE = 50;
const FILTERS = ['version', 'thumbs_up', 'source_type', 'reviewer', 'judge_id', 'link_id'] as const;

/** What people said of the completions of the prompt. */
export function FeedbackTab({ slug, latest }: TabProps) {
  const offset = offsetAsked();
  const { query: asked } = place.value;
  const set = FILTERS.filter((name) => asked.has(name));
  const query = {
    ...Object.fromEntries(set.map((name) => [name, asked.get(name) ?? ''])),
    ...(asked.has('sort_order') && { sort_order: asked.get('sort_order') ?? '' }),
    include: 'completion',
    limit: PAGE,
    offset,
  };
  const answer = useQuery({
    key: ['/prompts', slug, 'feedback', query],
    ask: (signal) =>
      call('GET /projects/:project_id/prompts/:prompt_slug/feedback', { params: { prompt_slug: slug }, query, signal }),
  });
  // All of it has the id of the prompt. An export has the filters except for the version, of which feedback knows nothing.
  const id = answer.data?.feedback[0]?.prompt_id ?? null;
  const filters = set.filter((name) => name !== 'version').map((name) => [name, asked.get(name) ?? '']);
  const exported = id === null ? null : new URLSearchParams([...filters, ['prompt_id', id]]);
  return (
    <div class="stack">
      <div class="line apart">
        <div class="line">
          <VersionChoice latest={latest} />
          <Choice
            label="Thumbs"
            parameter="thumbs_up"
            any="any"
            values={[
              ['true', 'up'],
              ['false', 'down'],
            ]}
          />
          <Choice
            label="About"
            parameter="source_type"
            any="all"
            values={[
              ['human', 'completions'],
              ['judge', 'judge evaluations'],
            ]}
          />
          <Choice label="Order" parameter="sort_order" any="newest first" values={[['asc', 'oldest first']]} />
        </div>
        <div class="line">
          {exported !== null && <DownloadMenu path="/feedback:export" query={exported} label="Export" />}
          <CopyAsCurl path={ofPrompt(slug, '/feedback')} query={query} />
        </div>
      </div>
      <Answered answer={answer}>
        {({ feedback, total }) => (
          <div class="stack many-columns">
            {feedback.length === 0 ? (
              <Empty title={set.length === 0 ? 'No feedback yet' : 'No feedback matches'}>
                {set.length === 0 ? (
                  <a class="button main" href={hrefOf({ screen: 'review', query: { prompt: slug } })}>
                    Review completions
                  </a>
                ) : (
                  <p class="line">
                    {set.map((name) => (
                      <a key={name} class="chip" href={hrefWith({ [name]: null, offset: null })}>
                        <Icon name="close" /> without {name}
                      </a>
                    ))}
                  </p>
                )}
              </Empty>
            ) : (
              <DataTable
                caption="Feedback"
                columns={COLUMNS}
                rows={feedback}
                idOf={({ id }) => id}
                hrefOf={({ completion_id, completion }) =>
                  completion == null
                    ? hrefOf({ screen: 'spans', query: { id: completion_id, range: 'all' } })
                    : hrefOf({ screen: 'traces', id: completion.trace_id, query: { span: completion_id } })
                }
              />
            )}
            <Pager offset={offset} limit={PAGE} shown={feedback.length} total={total} />
          </div>
        )}
      </Answered>
    </div>
  );
}

const COLUMNS: readonly Column<ListedFeedbackRead>[] = [
  {
    name: 'completion',
    label: 'Completion',
    cell: ({ completion }) => (
      <bdi>
        {completion == null
          ? 'no longer stored'
          : payloadLine(completion.output_data ?? '', 'output') || completion.name}
      </bdi>
    ),
    full: ({ completion }) => completion?.output_data?.slice(0, 2000),
  },
  {
    name: 'thumbs',
    label: 'Thumbs',
    cell: ({ thumbs_up, judge_id }) => (
      <span class={`badge ${thumbs_up ? 'good' : 'bad'}`}>
        <Icon name={thumbs_up ? 'thumbs-up' : 'thumbs-down'} />{' '}
        {judge_id === null ? (thumbs_up ? 'up' : 'down') : thumbs_up ? 'judge was right' : 'judge was wrong'}
      </span>
    ),
  },
  {
    name: 'reason',
    label: 'Reason',
    cell: ({ reason }) => <bdi>{reason?.slice(0, 200) ?? NOTHING}</bdi>,
    full: ({ reason }) => reason ?? undefined,
  },
  {
    name: 'expected',
    label: 'Expected output',
    cell: ({ expected_output }) => <bdi>{expected_output?.slice(0, 200) ?? NOTHING}</bdi>,
    full: ({ expected_output }) => expected_output ?? undefined,
  },
  {
    name: 'version',
    label: 'Version',
    cell: ({ prompt_version }) => (prompt_version === null ? NOTHING : `v${prompt_version}`),
  },
  {
    name: 'by',
    label: 'By',
    cell: ({ created_by }) => (
      <a href={hrefWith({ reviewer: created_by.name, offset: null })}>
        <bdi>{created_by.name}</bdi>
      </a>
    ),
  },
  { name: 'when', label: 'When', cell: ({ created_at }) => <When at={created_at} /> },
];
