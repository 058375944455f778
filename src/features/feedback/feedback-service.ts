import { DomainError, type Issue } from '../../engine/errors.js';
import type { PromptIdentities } from '../../engine/traces/model/prompts/completion.js';
import { metadataIssues } from '../../engine/schema/metadata.js';
import type { MistakenIds } from '../../engine/traces/model/trace/mistaken-ids.js';
import { fitting, type Fitting } from '../../engine/validation/fitting.js';
import { compile } from '../../engine/validation/validation.js';
import type { CriterionFeedback, FeedbackContent, FeedbackDraft, StoredFeedback } from './feedback.js';
import type { FeedbackStore } from './feedback-store.js';
import type { MaskerOf } from '../masking/maskers.js';
import { maskedFeedback } from './masked-feedback.js';
import type { FeedbackJudge, JudgeLookup } from './judge-lookup.js';
import { scoreIssues, thumbIssues } from './judge-rules.js';
import { FeedbackInput } from './schema.js';
import type { Signals } from '../../engine/signals/signals.js';
import type { Announce } from '../webhooks/event.js';

/** How feedback came: through the API, or from a reviewer on the page of a feedback link. */
export type FeedbackSource = 'api' | 'link';

export interface FeedbackServiceParts {
  readonly store: Pick<FeedbackStore, 'save'>;
  readonly prompts: Pick<PromptIdentities, 'idOf'>;
  readonly judges: JudgeLookup;
  readonly masker: MaskerOf;
  readonly ids: Pick<MistakenIds, 'issues'>;
  /** The slug that a stored span names, if any. @throws DomainError `not_found`, `unavailable` */
  readonly slugOf: (projectId: string, spanId: string, signal?: AbortSignal) => Promise<string | null>;
  readonly observer: Pick<Signals, 'feedbackAccepted'>;
  /** Stores all that is stored meanwhile, or nothing of it. */
  readonly together: <T>(store: () => T) => T;
  readonly announce: Announce;
}

/** The span that feedback is about, and the user who gives it. */
export interface SpanTarget {
  readonly projectId: string;
  readonly userId: string;
  readonly completionId: string;
}

/** A span as a completion of a prompt. */
export interface FeedbackTarget extends SpanTarget {
  readonly slug: string;
}

/** Where a broken rule says that it is about the slug of the target, which is no part of the input. */
export const SLUG_POINTER = '/slug';
/** The same for the id of the completion. */
export const COMPLETION_POINTER = '/completion_id';

const checkInput = compile(FeedbackInput);

/** Takes feedback on completions and on judges' evaluations of them. */
export class FeedbackService {
  readonly #parts: FeedbackServiceParts;

  constructor(parts: FeedbackServiceParts) {
    this.#parts = parts;
  }

  /**
   * Keeps the feedback; what the same user said before of the same completion (and judge) is replaced as a whole. The
   * completion need not have arrived yet: clients send feedback at once and spans in batches.
   * @param body a FeedbackInput
   * @throws DomainError `not_found` for an unknown prompt or judge, `invalid`, also for the id of a trace or session;
   *   nothing is stored then
   */
  async submit(target: FeedbackTarget, body: unknown): Promise<StoredFeedback> {
    const { projectId, completionId } = target;
    const mistaken = await this.#parts.ids.issues(projectId, completionId, COMPLETION_POINTER, 'the completion');
    return this.keep(target, body, 'api', mistaken);
  }

  /**
   * Keeps feedback on a stored span, whether it names a prompt or not.
   * @throws DomainError `not_found` for an unknown span or judge, `invalid`; nothing is stored then
   */
  async submitOfSpan(
    target: SpanTarget,
    body: unknown,
    source: FeedbackSource,
    signal?: AbortSignal,
  ): Promise<StoredFeedback> {
    const { projectId, completionId } = target;
    const { prompts, slugOf } = this.#parts;
    const named = await slugOf(projectId, completionId, signal);
    return this.#keep(target, body, source, (judge) => {
      const slug = judge?.task_slug ?? named;
      return { promptId: slug === null ? null : (prompts.idOf(projectId, slug) ?? null), issues: [] };
    });
  }

  /**
   * As `submit`, for a completion that the caller knows.
   * @param found what else is wrong
   */
  keep(target: FeedbackTarget, body: unknown, source: FeedbackSource, found: readonly Issue[] = []): StoredFeedback {
    const { projectId, slug } = target;
    const promptId = this.#parts.prompts.idOf(projectId, slug);
    if (promptId === undefined) throw new DomainError('not_found', 'There is no prompt with this slug');
    return this.#keep(target, body, source, (judge) => ({ promptId, issues: [...found, ...slugIssues(slug, judge)] }));
  }

  #keep(
    { projectId, userId, completionId }: SpanTarget,
    body: unknown,
    source: FeedbackSource,
    about: (judge: FeedbackJudge | null) => { readonly promptId: string | null; readonly issues: readonly Issue[] },
  ): StoredFeedback {
    const { observer, masker } = this.#parts;
    const sent = fitting(checkInput, body);
    const { judge_id: judgeId } = sent.values;
    const judge = judgeId == null ? null : this.#requireJudge(projectId, judgeId);
    const { promptId, issues } = about(judge);
    const input = sent.require([...issues, ...judgeIssues(sent, judge), ...metadataIssues(sent.values.metadata)]);
    const saved = this.#save({
      ...maskedFeedback(contentOf(input), masker(projectId)),
      project_id: projectId,
      prompt_id: promptId,
      completion_id: completionId,
      user_id: userId,
      judge_id: judge?.id ?? null,
      at: Date.now() * 1000,
    });
    observer.feedbackAccepted({ source, thumbsUp: saved.thumbs_up });
    return saved;
  }

  #save(draft: FeedbackDraft): StoredFeedback {
    const { store, together, announce } = this.#parts;
    const { project_id, judge_id, completion_id, user_id } = draft;
    if (judge_id === null || draft.thumbs_up) return store.save(draft);
    return together(() => {
      const saved = store.save(draft);
      announce({
        ...{ project_id, type: 'judge.corrected', summary: 'Someone disagrees with an evaluation of a judge' },
        data: { judge_id, completion_id, feedback_id: saved.id, user_id },
      });
      return saved;
    });
  }

  #requireJudge(projectId: string, judgeId: string): FeedbackJudge {
    const judge = this.#parts.judges.find(projectId, judgeId);
    if (judge === undefined) throw new DomainError('not_found', 'There is no judge with this id');
    return judge;
  }
}

function slugIssues(slug: string, judge: FeedbackJudge | null): Issue[] {
  if (judge === null || judge.task_slug === slug) return [];
  return [{ pointer: SLUG_POINTER, detail: `must be the task_slug of the judge: ${judge.task_slug}` }];
}

/** None where there is no telling which judge or which thumb is meant. */
function judgeIssues({ values, isMisfit }: Fitting<FeedbackInput>, judge: FeedbackJudge | null): Issue[] {
  if (isMisfit('judge_id')) return [];
  const thumbs = isMisfit('thumbs_up') || isMisfit('judge_was_right') ? [] : thumbIssues(values);
  return [...thumbs, ...scoreIssues(values, judge)];
}

function contentOf(input: FeedbackInput): FeedbackContent {
  const criteria = Object.entries(input.criteria_feedback ?? {}).map(([key, value]): [string, CriterionFeedback] => [
    key,
    { expected_score: value.expected_score ?? null, reason: text(value.reason) },
  ]);
  return {
    thumbs_up: input.thumbs_up ?? input.judge_was_right === true,
    reason: text(input.reason),
    expected_output: text(input.expected_output),
    expected_score: input.expected_score ?? null,
    score_direction: input.score_direction ?? null,
    criteria_feedback: criteria.length === 0 ? null : Object.fromEntries(criteria),
    metadata: input.metadata ?? {},
  };
}

/** UTF-8, which the store keeps, has no half of a surrogate pair. */
function text(value: string | null | undefined): string | null {
  return value?.toWellFormed() ?? null;
}
