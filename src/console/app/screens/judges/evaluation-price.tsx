import { bodyOf, draftOf } from '../../../model/judge-draft.js';
import { Cost } from '../../parts/figures.js';
import { call } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import type { JudgeTabProps } from './tab-props.js';

/** What so many evaluations would cost, by what those of a day would. */
export function EvaluationPrice({ judge, times }: JudgeTabProps & { readonly times: number }) {
  const { prompt: _, ...body } = bodyOf(draftOf(judge, ''));
  const { data } = useQuery({
    key: ['/judges:preview', judge.id, judge.updated_at],
    ask: (signal) =>
      call('POST /projects/:project_id/judges:preview', {
        body: { ...body, task_slug: judge.task_slug },
        signal,
      }),
  });
  const day = data?.estimate?.cost_per_day;
  if (day == null || !(data !== undefined && data.evaluations_per_day > 0) || !(times > 0)) return null;
  return (
    <span class="soft">
      About <Cost of={(day / data.evaluations_per_day) * times} />, based on the latest matching spans.
    </span>
  );
}
