import type { OptimizationSummaryRead } from '../../../../features/optimization/http/schema.js';
import { count } from '../../../model/format.js';
import { Icon } from '../../parts/icon.js';

export const isUnderWay = ({ status }: Pick<OptimizationSummaryRead, 'status'>) =>
  status === 'queued' || status === 'running';

export function JobState({ of: job }: { readonly of: OptimizationSummaryRead }) {
  const { status, done, total } = job;
  return (
    <span class={`badge${status === 'done' ? ' good' : status === 'failed' ? ' bad' : ''}`}>
      {isUnderWay(job) && <Icon name="running" />} {status}
      {status === 'running' && total !== null && ` ${count(done)} of ${count(total)}`}
    </span>
  );
}
