import { listRates } from '../cost-lines.js';
import type { ModelPrice } from '../model-price.js';
import type { RepriceJob } from '../reprice-job.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import { toJobRead } from '../../../http/job-presenters.js';
import type { ModelPriceRead, RepriceJobRead } from './schema.js';

export function toPriceRead({ created_at, updated_at, ...price }: ModelPrice): ModelPriceRead {
  return {
    ...price,
    list_price: listRates(price.provider, price.model),
    created_at: formatTimestamp(created_at),
    updated_at: formatTimestamp(updated_at),
  };
}

export function toRepriceRead(job: RepriceJob): RepriceJobRead {
  return {
    ...toJobRead(job),
    started_after: formatOptionalTimestamp(job.scope.started_after),
    started_before: formatOptionalTimestamp(job.scope.started_before),
    provider: job.scope.provider,
    model: job.scope.model,
    examined: job.done,
    changed: job.changed,
  };
}
