import type { VersionStatisticsRead } from '../../../../features/completions/http/schema.js';
import { count, counted, NOTHING } from '../../../model/format.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Cost, Took } from '../../parts/figures.js';
import { RangePicker } from '../../parts/range-picker.js';
import { Rate } from '../../parts/rate.js';
import { Answered, Empty } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { hrefOf, hrefWith, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { parametersAsked, rangeAsked } from './asked.js';
import { ofPrompt, tagsOf } from './data.js';
import type { TagEntry } from './versions.js';
import type { TabProps } from './tab-props.js';
import { TagBadge } from './tag-badge.js';

type VersionFigures = VersionStatisticsRead['versions'][number];

/** What came of each version: calls, errors, cost, durations, what people and judges said. */
export function FiguresTab({ slug, tags }: TabProps) {
  const query = parametersAsked([]);
  const answer = useQuery({
    key: ['/prompts', slug, 'stats', query],
    ask: (signal) =>
      call('GET /projects/:project_id/prompts/:prompt_slug/versions:stats', {
        params: { prompt_slug: slug },
        query,
        signal,
      }),
  });
  return (
    <div class="stack">
      <div class="line apart">
        <RangePicker range={rangeAsked()} />
        <CopyAsCurl path={ofPrompt(slug, '/versions:stats')} query={query} />
      </div>
      <Answered answer={answer}>
        {({ versions, looked_up }) =>
          versions.length === 0 ? (
            <Empty title="No completions of this prompt">
              {rangeAsked().range !== 'all' && (
                <a href={hrefWith({ range: null, from: null, to: null })}>Show all time</a>
              )}
              <p>Spans that name the prompt by its slug, or a version by its ID, are counted here.</p>
            </Empty>
          ) : (
            <div class="stack">
              <FiguresTable slug={slug} tags={tags} versions={versions} />
              {looked_up.completions < looked_up.of && (
                <p>
                  Thumbs and verdicts cover the newest {count(looked_up.completions)} of{' '}
                  {counted(looked_up.of, 'completion')}; all other metrics cover all of them.
                </p>
              )}
              <p class="soft">Bars show 95% confidence intervals from 0 to 1: fewer completions, wider intervals.</p>
            </div>
          )
        }
      </Answered>
    </div>
  );
}

interface FiguresTableProps {
  readonly slug: string;
  readonly tags: readonly TagEntry[];
  readonly versions: readonly VersionFigures[];
}

function FiguresTable({ slug, tags, versions }: FiguresTableProps) {
  const judges = new Map(versions.flatMap((one) => one.judges.map((judge) => [judge.judge_id, judge.judge_name])));
  const { query } = place.value;
  const range = Object.fromEntries(
    ['range', 'from', 'to'].flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : [])),
  );
  const list = (version: number | null, more: Readonly<Record<string, string>> = {}) =>
    hrefOf({
      screen: 'prompts',
      id: slug,
      query: { tab: 'completions', version: version === null ? 'none' : String(version), ...range, ...more },
    });
  const columns: Column<VersionFigures>[] = [
    {
      name: 'version',
      label: 'Version',
      cell: ({ version }) => (
        <span class="line">
          {version === null ? 'no version' : `v${version}`}
          {version !== null && tagsOf(tags, version).map((tag) => <TagBadge key={tag} tag={tag} />)}
        </span>
      ),
    },
    {
      name: 'calls',
      label: 'Calls',
      figure: true,
      cell: ({ version, calls }) => <a href={list(version)}>{count(calls)}</a>,
    },
    {
      name: 'errors',
      label: 'Errors',
      figure: true,
      cell: ({ version, errors }) =>
        version === null ? (
          count(errors)
        ) : (
          <a
            href={hrefOf({
              screen: 'spans',
              query: {
                prompt_slug: slug,
                prompt_version: String(version),
                has_error: 'true',
                ...(Object.keys(range).length === 0 ? { range: 'all' } : range),
              },
            })}
          >
            {count(errors)}
          </a>
        ),
    },
    { name: 'cost', label: 'Cost', figure: true, cell: ({ cost }) => <Cost of={cost} /> },
    {
      name: 'each',
      label: 'Cost per call',
      figure: true,
      cell: ({ cost, calls }) => <Cost of={cost === null ? null : cost / calls} />,
    },
    { name: 'p50', label: 'p50', figure: true, cell: ({ duration_ms }) => <Took ms={duration_ms.p50} /> },
    { name: 'p95', label: 'p95', figure: true, cell: ({ duration_ms }) => <Took ms={duration_ms.p95} /> },
    {
      name: 'tokens',
      label: 'Tokens (in, out)',
      figure: true,
      cell: ({ input_tokens, output_tokens }) => `${count(input_tokens)}, ${count(output_tokens)}`,
    },
    {
      name: 'thumbs',
      label: 'Thumbs up',
      cell: ({ version, thumbs: { up, down, rate, rate_interval } }) =>
        up + down === 0 ? (
          NOTHING
        ) : (
          <span class="line">
            <Rate of={rate} interval={rate_interval} />
            <span class="soft">
              <a href={list(version, { feedback: 'up' })}>{count(up)} up</a>,{' '}
              <a href={list(version, { feedback: 'down' })}>{count(down)} down</a>
            </span>
          </span>
        ),
    },
    ...[...judges].map(([id, name]) => ({
      name: id,
      label: `Passed ${name}`,
      cell: ({ version, judges: all }: VersionFigures) => {
        const judge = all.find(({ judge_id }) => judge_id === id);
        if (judge === undefined || judge.evaluated === 0) return NOTHING;
        return (
          <span class="line">
            <Rate of={judge.rate} interval={judge.rate_interval} />
            <span class="soft">
              <a href={list(version, { verdict: 'passed', judge_id: id })}>{count(judge.passed)}</a> of{' '}
              {count(judge.evaluated)}
            </span>
          </span>
        );
      },
    })),
  ];
  return (
    <DataTable
      caption="Metrics by version"
      twoLine={false}
      columns={columns}
      rows={versions}
      idOf={({ version }) => String(version)}
      hrefOf={({ version }) => list(version)}
    />
  );
}
