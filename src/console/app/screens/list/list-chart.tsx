import { scoreOf } from '../../../../engine/traces/model/list/columns.js';
import { joinValues } from '../../../../engine/traces/model/list/comma-values.js';
import type { ScoreDefinitionRead } from '../../../../features/scores/schema.js';
import { compact, percent } from '../../../model/format.js';
import { linesOf, measuredScores, splitsOf } from '../../../model/score-chart.js';
import { TimeChart } from '../../parts/chart.js';
import { Choice } from '../../parts/choice.js';
import { Histogram, useOverTime, type OverTimeProps } from '../../parts/histogram.js';
import { chooseRange } from '../../parts/range-picker.js';
import { Failure } from '../../parts/states.js';

interface ListChartProps extends OverTimeProps {
  readonly scores: readonly ScoreDefinitionRead[];
}

/** What a list is like over time: how many there are, or the mean of a score that the address names. */
export function ListChart({ scores, ...props }: ListChartProps) {
  const { list, query } = props;
  const score = scoreOf(query.get('chart') ?? '');
  const measures = measuredScores(scores);
  const definition = scores.find(({ name }) => name === score);
  return (
    <div class="list-chart">
      {(measures.length > 0 || score !== null) && (
        <div class="line">
          <Choice label="Chart" name="chart" any={`Number of ${list.name}`} options={measures} keepsPage />
          {score !== null && (
            <Choice label="by" name="chart_by" any="all together" options={splitsOf(list, scores)} keepsPage />
          )}
        </div>
      )}
      {score === null ? (
        <Histogram {...props} />
      ) : (
        <MeanOverTime {...props} name={score} isShare={definition?.kind === 'boolean'} />
      )}
    </div>
  );
}

interface MeanOverTimeProps extends OverTimeProps {
  readonly name: string;
  /** Whether it is a share of yes. */
  readonly isShare: boolean;
}

function MeanOverTime({ name, isShare, ...props }: MeanOverTimeProps) {
  const by = props.query.get('chart_by');
  const answer = useOverTime(props, {
    measures: joinValues([`scores.${name}`]),
    ...(by !== null && { group_by: by }),
  });
  const { data, error } = answer;
  if (error !== null) return <Failure error={error} retry={() => void answer.refetch()} />;
  if (data === undefined) return <div class="histogram" aria-busy />;
  if (data.bucket_seconds === null) return null;
  const write = isShare ? percent : compact;
  const lines = linesOf(data, name, write);
  if (lines.length === 0)
    return (
      <p class="histogram soft">
        No {props.list.name} of this list have a score <bdi>{name}</bdi> that is a number or yes or no.
      </p>
    );
  return (
    <div class="histogram" aria-busy={answer.isFetching}>
      <TimeChart
        label={`${isShare ? 'Share' : 'Mean'} of ${name} over time`}
        starts={data.buckets.map(({ start }) => start)}
        bucketSeconds={data.bucket_seconds}
        kind="lines"
        height={96}
        format={write}
        series={lines}
        onRange={(from, to) => chooseRange({ from, to })}
      />
    </div>
  );
}
