import { Cost } from '../../parts/figures.js';
import { call } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import type { JudgeTabProps } from './tab-props.js';

/** What so many evaluations would cost, by what those of a day would. */
export function EvaluationPrice({ judge, times }: JudgeTabProps & { readonly times: number }) {
  const { data } = useQuery({
    key: ['/judges:preview', judge.id, judge.updated_at],
    ask: (signal) =>
      call('POST /projects/:project_id/judges:preview', {
        body: settingsOf(judge),
        signal,
      }),
  });
  const cost = ((data?.estimate?.cost_per_day ?? 0) / (data?.evaluations_per_day ?? 0)) * times;
  // Without spans on a day, it is no number.
  if (!(cost > 0)) return null;
  return (
    <span class="soft">
      About <Cost of={cost} />, based on the latest matching spans.
    </span>
  );
}

/** A judge as it would be created. */
function settingsOf({ id: _id, project_id: _project, ...judge }: JudgeTabProps['judge']) {
  const { runnable: _is, not_runnable_reason: _why, judged_since: _since, ...rest } = judge;
  const { created_at: _at, updated_at: _later, ...settings } = rest;
  return settings;
}
