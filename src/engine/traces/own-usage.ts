import { MAX_GROUPS, type OwnUsage, type OwnUsageRead, type UsageOf, type UsageTimes } from './model/usage.js';
import { CALIBRATION_TAG, JUDGE_TAG, OPTIMIZATION_TAG, PLAYGROUND_TAG } from '../schema/own-calls.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { empty, literal, sql, value, type Sql } from './clickhouse/client/sql.js';
import type { ReadsInProgress } from './read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from './read/row-reader.js';
import { inProject, type ReadScope } from './read/scope.js';
import { current } from './read/visibility.js';

/** What own calls of models came to, summed over their spans. */
export class ClickHouseOwnUsage implements OwnUsage {
  readonly #rows: ReadRows;
  readonly #reads: ReadsInProgress;

  constructor(client: ClickHouseClient, reads: ReadsInProgress, limits: ReadLimits) {
    this.#rows = openReader(client, limits).rows;
    this.#reads = reads;
  }

  read(projectId: string, times: UsageTimes, signal?: AbortSignal): Promise<OwnUsageRead> {
    const wanted = { figures: false, traces: null };
    return this.#reads.ofCommitted(projectId, wanted, async ({ upTo, traces }) => {
      const scope = { projectId, upTo, unsettled: traces };
      const rows = await this.#rows<Row>(usage(scope, times), { signal });
      const [total = NONE, ...groups] = rows.map(toUsage);
      const { calls, errors, input_tokens, output_tokens, cost } = total;
      return { total: { calls, errors, input_tokens, output_tokens, cost }, groups };
    });
  }
}

interface Row extends Pick<UsageOf, 'purpose'> {
  /** Id of the judge, of the job, or of the user. */
  readonly owner: string;
  readonly calls: string;
  readonly errors: string;
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly cost: string | null;
}

const NONE: UsageOf = { purpose: 'judge', id: '', calls: 0, errors: 0, input_tokens: 0, output_tokens: 0, cost: null };

/** Sums by purpose and id, the one over everything first. A call of a trial that a judge makes is the trial's. */
function usage(scope: ReadScope, { from, to }: UsageTimes): Sql {
  const [calibration, optimization, playground, judge] = [
    CALIBRATION_TAG,
    OPTIMIZATION_TAG,
    PLAYGROUND_TAG,
    JUDGE_TAG,
  ].map(literal) as [Sql, Sql, Sql, Sql];
  return sql`SELECT
  multiIf(mapContains(tags, ${calibration}), 'calibration', mapContains(tags, ${optimization}), 'optimization',
    mapContains(tags, ${playground}), 'playground', 'judge') AS purpose,
  multiIf(purpose = 'calibration', tags[${calibration}], purpose = 'optimization', tags[${optimization}],
    purpose = 'playground', tags[${playground}], tags[${judge}]) AS owner,
  toString(count()) AS calls,
  toString(countIf(has_error)) AS errors,
  toString(sum(JSONExtractUInt(attributes, 'inputTokens'))) AS input_tokens,
  toString(sum(JSONExtractUInt(attributes, 'outputTokens'))) AS output_tokens,
  toString(sum(spans.cost)) AS cost
FROM spans
WHERE ${inProject(scope.projectId)} AND internal${bound(sql`>=`, from)}${bound(sql`<=`, to)} AND ${current(scope)}
GROUP BY GROUPING SETS ((), (purpose, owner))
ORDER BY grouping(purpose) DESC, sum(spans.cost) DESC NULLS LAST, owner
LIMIT ${value(MAX_GROUPS + 1, 'UInt64')}`;
}

function bound(comparison: Sql, at: number | null): Sql {
  return at === null
    ? empty
    : sql` AND started_at ${comparison} fromUnixTimestamp64Micro(${value(at, 'Int64')}, 'UTC')`;
}

function toUsage({ purpose, owner, calls, errors, input_tokens, output_tokens, cost }: Row): UsageOf {
  return {
    purpose,
    id: owner,
    calls: Number(calls),
    errors: Number(errors),
    input_tokens: Number(input_tokens),
    output_tokens: Number(output_tokens),
    cost: cost === null ? null : Number(cost),
  };
}
