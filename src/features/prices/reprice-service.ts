import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Issue } from '../../engine/errors.js';
import type { JobHead, JobStore } from '../../engine/work/job.js';
import type { JobRunner } from '../../engine/work/job-runner.js';
import { Normalizer } from '../../engine/schema/normalize.js';
import { fitting } from '../../engine/validation/fitting.js';
import { compileClosed } from '../../engine/validation/validation.js';
import { NOTHING_DONE, REPRICE, type RepriceCheckpoint, type RepriceJob } from './reprice-job.js';
import type { RepriceScope } from '../../engine/traces/model/prices/calculated-spans.js';
import { RepriceInput } from './schema.js';

export interface RepriceServiceOptions {
  readonly jobs: Pick<JobStore, 'list'>;
  readonly runner: Pick<JobRunner, 'create' | 'find' | 'cancel'>;
  readonly audit: AuditLog;
}

const MAX_LISTED = 100;

const checkInput = compileClosed(RepriceInput);

/** Recalculations of stored costs, as jobs of a project. */
export class RepriceService {
  readonly #options: RepriceServiceOptions;

  constructor(options: RepriceServiceOptions) {
    this.#options = options;
  }

  /** @param body a RepriceInput @throws DomainError `invalid`; `conflict` when too many are not finished */
  create(by: Principal, body: unknown): RepriceJob {
    const { project_id, user_id } = by;
    const scope = scopeOf(body);
    const about = { project_id, kind: REPRICE, subject_id: project_id, created_by: user_id };
    const { runner, audit } = this.#options;
    return audit.together(() => {
      const job = runner.create({ ...about, summary: scope, input: scope });
      audit.done({ event: 'repriceOrdered', by, project_id, subject_id: job.id });
      return repriceJobOf(job);
    });
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, id: string): RepriceJob {
    return repriceJobOf(this.#options.runner.find(projectId, REPRICE, id));
  }

  /** The newest hundred, newest first. */
  list(projectId: string): RepriceJob[] {
    return this.#options.jobs.list(projectId, REPRICE, projectId, MAX_LISTED).map(repriceJobOf);
  }

  /** @throws DomainError `not_found`; `conflict` when it has ended */
  cancel(projectId: string, id: string): RepriceJob {
    return repriceJobOf(this.#options.runner.cancel(projectId, REPRICE, id));
  }
}

/** @throws DomainError `invalid` */
function scopeOf(body: unknown): RepriceScope {
  const sent = fitting(checkInput, body);
  const issues: Issue[] = [];
  const normalizer = new Normalizer('', issues);
  const started_after = normalizer.optionalTime('started_after', sent.values.started_after);
  const started_before = normalizer.optionalTime('started_before', sent.values.started_before);
  if (started_after !== null && started_before !== null && started_before < started_after)
    normalizer.fail('started_before', 'must not be before started_after');
  const { provider = null, model = null } = sent.require(issues);
  return { started_after, started_before, provider, model };
}

function repriceJobOf(job: JobHead): RepriceJob {
  const { changed } = (job.checkpoint as RepriceCheckpoint | null) ?? NOTHING_DONE;
  return { ...job, scope: job.summary as RepriceScope, changed };
}
