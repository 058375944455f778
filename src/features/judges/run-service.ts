import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { DomainError, type Issue } from '../../engine/errors.js';
import { fitting } from '../../engine/validation/fitting.js';
import { compileClosed, invalid } from '../../engine/validation/validation.js';
import type { Judge } from './judge.js';
import type { JudgeService } from './judge-service.js';
import type { Window } from '../../engine/schema/page.js';
import { queueQuota } from './queue-quota.js';
import { mismatches, neverEvaluated, type IdentifyPrompt } from './matching.js';
import { currentRun, type CurrentRun, type RunDraft, type RunState } from './run.js';
import type { SpanPlace, SpanReader, SpanTraits } from '../../engine/traces/model/judged/span-reader.js';
import type { RunStore } from './run-store.js';
import type { QueuedResults, ResultRuns } from './result-runs.js';
import { RunInput, type RunsRetriedRead } from './run-schema.js';
import type { WholeRuns } from './whole-runs.js';

export interface CurrentRunPage {
  readonly runs: readonly CurrentRun[];
  readonly total: number;
}

/** What was queued: runs of spans, or of results of an experiment, which may be very many. */
export interface QueuedRuns {
  readonly drafts: readonly RunDraft[];
  readonly results: QueuedResults | null;
}

export interface RunServiceOptions {
  readonly runs: Pick<RunStore, 'enqueue' | 'queued' | 'list' | 'retryFailed' | 'toRetry'>;
  readonly judges: Pick<JudgeService, 'require' | 'requireEver' | 'notRunnableReason'>;
  readonly spans: Pick<SpanReader, 'traits' | 'newest'>;
  readonly wholes: Pick<WholeRuns, 'named' | 'newest'>;
  readonly identifyPrompt: IdentifyPrompt;
  readonly results: Pick<ResultRuns, 'run'>;
  readonly queueMax: number;
  /** Ids of the runs that are running. */
  readonly running: () => readonly string[];
  /** Called after runs were queued. */
  readonly onQueued: () => void;
}

const checkInput = compileClosed(RunInput);
/** What says what is meant. */
const WHICH = ['span_ids', 'trace_ids', 'session_ids', 'backfill', 'experiment_id'] as const;
/** The judges that what is named by ids is for. */
const SUBJECTS = { span_ids: 'span', trace_ids: 'trace', session_ids: 'session' } as const;
/** Failed runs that are queued again in one transaction. */
const RETRIED_TOGETHER = 500;
/** Spans read together, and at most looked at, to find the newest completions of a prompt. */
const PAGE = 2_000;
const MAX_PAGES = 100;

/** Evaluations on request, and the queue. Everything is inside the caller's project. */
export class RunService {
  readonly #options: RunServiceOptions;

  constructor(options: RunServiceOptions) {
    this.#options = options;
  }

  /**
   * Queues an evaluation of each span, trace or session, all of them or none; or of the results of an experiment, as many as there is room for.
   * @returns what was queued
   * @throws DomainError `invalid`, `not_found`; `conflict` when the judge cannot run; `overloaded` when the queue is full
   */
  async run(projectId: string, judgeId: string, body: unknown): Promise<QueuedRuns> {
    const judge = this.#options.judges.require(projectId, judgeId);
    const sent = fitting(checkInput, body);
    const given = WHICH.filter((name) => sent.values[name] != null || sent.isMisfit(name));
    const input = sent.require([
      ...(given.length === 1 ? [] : [{ pointer: '', detail: `must have one of ${WHICH.join(', ')}` }]),
      ...unfit(judge, sent.values),
      ...(sent.values.judge_version != null && sent.values.experiment_id == null && !sent.isMisfit('experiment_id')
        ? [{ pointer: '/judge_version', detail: 'can only be used with experiment_id' }]
        : []),
    ]);
    const { experiment_id, judge_version } = input;
    this.#requireRunnable(judge);
    if (experiment_id != null) {
      const asked = { experimentId: experiment_id, judgeVersion: judge_version ?? null };
      return { drafts: [], results: await this.#options.results.run(judge, asked) };
    }
    const drafts = (await this.#subjects(judge, input)).map((subject): RunDraft => ({
      ...subject,
      id: randomUUID(),
      project_id: projectId,
      judge_id: judgeId,
      origin: 'requested',
    }));
    this.#requireRoom(projectId, drafts.length);
    this.#options.runs.enqueue(drafts, Date.now() * 1000);
    this.#options.onQueued();
    return { drafts, results: null };
  }

  /**
   * Queues again what failed, as much as there is room for.
   * @throws DomainError `not_found`; `conflict` when the judge cannot run; `overloaded` when the queue is full
   */
  async retryFailed(projectId: string, judgeId: string): Promise<RunsRetriedRead> {
    const { runs, judges, queueMax, onQueued } = this.#options;
    // What fails again meanwhile is not tried once more.
    const before = Date.now() * 1000;
    let queued = 0;
    for (let together = RETRIED_TOGETHER; together === RETRIED_TOGETHER; queued += together) {
      this.#requireRunnable(judges.require(projectId, judgeId));
      const room = queueQuota(projectId, runs.queued(), queueMax);
      together = runs.retryFailed(judgeId, before, Math.min(room, RETRIED_TOGETHER));
      if (together > 0) onQueued();
      // Others have their turn.
      await setImmediate();
    }
    const left = runs.toRetry(judgeId, before);
    if (queued === 0 && left > 0) throw noRoom(0);
    return { queued, left };
  }

  /** Newest first; also of a deleted judge. @throws DomainError `not_found` */
  list(projectId: string, judgeId: string, state: RunState | null, window: Window): CurrentRunPage {
    this.#options.judges.requireEver(projectId, judgeId);
    const running = this.#options.running();
    const { runs, total } = this.#options.runs.list(judgeId, state, running, window);
    return { runs: runs.map((run) => currentRun(run, running)), total };
  }

  #requireRoom(projectId: string, wanted: number): void {
    const { runs, queueMax } = this.#options;
    const room = queueQuota(projectId, runs.queued(), queueMax);
    if (wanted > room) throw noRoom(room);
  }

  #requireRunnable(judge: Judge): void {
    const reason = this.#options.judges.notRunnableReason(judge);
    // Whether the key is still refused, a call finds out; without a budget, what is queued waits.
    if (reason !== null && reason.kind !== 'key_refused' && reason.kind !== 'budget_spent')
      throw new DomainError('conflict', `The judge cannot run. ${reason.text}`);
  }

  /** What is to be evaluated: each span, trace or session once. */
  async #subjects(judge: Judge, sent: RunInput): Promise<Pick<RunDraft, keyof SpanPlace | 'subject_id'>[]> {
    const { project_id, subject } = judge;
    const { span_ids, backfill } = sent;
    if (subject === 'span')
      return (
        span_ids == null ? await this.#newest(judge, backfill ?? 0) : await this.#named(project_id, span_ids)
      ).map(placeOf);
    const { wholes } = this.#options;
    const ids = sent[`${subject}_ids`];
    const found = await (ids == null
      ? wholes.newest(judge, subject, backfill ?? 0)
      : wholes.named(project_id, subject, ids));
    return found.map(({ id, span }) => ({ ...span, subject_id: id }));
  }

  async #named(projectId: string, ids: readonly string[]): Promise<SpanTraits[]> {
    const found = await this.#options.spans.traits(projectId, [...new Set(ids)]);
    const issues = ids.flatMap((id, index) => {
      const span = found.get(id);
      if (span === undefined) return [{ pointer: `/span_ids/${index}`, detail: 'there is no span with this id' }];
      const never = neverEvaluated(span);
      return never === null ? [] : [{ pointer: `/span_ids/${index}`, detail: never.detail }];
    });
    if (issues.length > 0) throw invalid(issues);
    return [...found.values()];
  }

  /** Matching spans, latest start first. The store applies the other filters; that of the prompt is applied here. */
  async #newest(judge: Judge, count: number): Promise<SpanTraits[]> {
    const { spans, identifyPrompt } = this.#options;
    const { filters, project_id } = judge;
    const prompt = filters.prompt_slug === null ? undefined : identifyPrompt(project_id, filters.prompt_slug);
    if (filters.prompt_slug !== null && prompt === undefined) return [];
    const limit = filters.prompt_slug === null ? count : PAGE;
    const found: SpanTraits[] = [];
    for (let page = 0, before: SpanPlace | null = null; page < MAX_PAGES; page += 1) {
      const read: SpanTraits[] = await spans.newest(project_id, filters, limit, before);
      found.push(...read.filter((span) => mismatches(span, filters, prompt).length === 0));
      const last = read.at(-1);
      if (found.length >= count || read.length < limit || last === undefined) break;
      before = placeOf(last);
    }
    return found.slice(0, count);
  }
}

/** What is named is not what the judge evaluates. */
function unfit({ subject }: Judge, values: Partial<RunInput>): Issue[] {
  const issues = (['span_ids', 'trace_ids', 'session_ids'] as const)
    .filter((name) => values[name] != null && SUBJECTS[name] !== subject)
    .map((name) => ({
      pointer: `/${name}`,
      detail: `is for judges of ${SUBJECTS[name]}s; this judge evaluates ${subject}s`,
    }));
  if (subject !== 'session' || values.experiment_id == null) return issues;
  return [
    ...issues,
    { pointer: '/experiment_id', detail: 'is for judges of spans or traces; this judge evaluates sessions' },
  ];
}

function noRoom(room: number): DomainError {
  return new DomainError('overloaded', `The queue has room for only ${room} more evaluations of this project`, {
    retryAfterSeconds: 10,
  });
}

function placeOf({ id, trace_id, started_at }: SpanTraits): SpanPlace {
  return { span_id: id, trace_id, span_started_at: started_at };
}
