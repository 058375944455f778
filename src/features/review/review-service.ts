import type { AttachmentService, SpanImage } from '../images/attachment-service.js';
import { DomainError, type Issue } from '../../engine/errors.js';
import { isFair } from '../../engine/work/fair-quota.js';
import type { StoredFeedback } from '../feedback/feedback.js';
import type { FeedbackService } from '../feedback/feedback-service.js';
import type { FeedbackStore } from '../feedback/feedback-store.js';
import type { PromptIdentities, PromptIdentity } from '../../engine/traces/model/prompts/completion.js';
import type { Completion, Completions } from '../../engine/traces/model/prompts/completion-store.js';
import { invalid } from '../../engine/validation/validation.js';
import type { FeedbackLink } from './feedback-link.js';
import type { LinkService } from './link-service.js';
import { RECORD_BYTES, type LinkStore } from './link-store.js';
import { guestKeyOf, normalizedName, type Reviewer, type ReviewerClaim } from './reviewer.js';
import type { ReviewInput } from './schema.js';

export interface ReviewServiceParts {
  readonly links: Pick<LinkService, 'open'>;
  readonly store: Pick<LinkStore, 'guest' | 'makeGuest' | 'holdings'>;
  readonly prompts: Pick<PromptIdentities, 'ofId'>;
  readonly completions: Completions;
  readonly attachments: Pick<AttachmentService, 'imagesOf'>;
  readonly feedback: Pick<FeedbackService, 'keep' | 'submitOfSpan'>;
  readonly given: Pick<FeedbackStore, 'ofUser'>;
  readonly limits: ReviewLimits;
}

/** Limits of each link. One network has at most as much as is left free, or it could keep others out. */
export interface ReviewLimits {
  readonly maxReviewers: number;
  /** Bytes of all feedback by a link. */
  readonly maxBytes: number;
}

/** A completion as a reviewer sees it. */
export interface ReviewedCompletion extends Completion {
  readonly images: readonly Pick<SpanImage, 'url' | 'label' | 'kept'>[];
}

/** Completions that one reviewer is asked about. */
const ROUND_LENGTH = 20;
/** Issue of a review without a name. */
export const NAMELESS: Issue = {
  pointer: '/reviewer_name',
  detail: 'must be given once, to identify the reviewer',
};

const TOO_MANY: Issue = {
  pointer: '/reviewer_name',
  detail: 'would exceed the number of reviewers that this link accepts from your network',
};
const TOO_MUCH: Issue = { pointer: '', detail: 'accepts no more feedback from your network' };

/** Reviews on a feedback link. Nothing but completions of the link's prompt, or the link's spans, is ever reached. */
export class ReviewService {
  readonly #parts: ReviewServiceParts;

  constructor(parts: ReviewServiceParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found`, the same for unknown, expired and revoked tokens */
  open(token: string): FeedbackLink {
    return this.#parts.links.open(token);
  }

  /** Ids of the prompt's recent completions, newest first, or of the link's spans in its order. */
  recent(link: FeedbackLink, signal?: AbortSignal): Promise<string[]> {
    if (link.span_ids !== null) return this.#parts.completions.stored(link.project_id, link.span_ids, signal);
    return this.#parts.completions.newest(link.project_id, this.#prompt(link), ROUND_LENGTH, signal);
  }

  /** A completion of the link's prompt, or a span of it; undefined when there is none with this id. */
  async completion(link: FeedbackLink, id: string, signal?: AbortSignal): Promise<ReviewedCompletion | undefined> {
    const found = await this.#find(link, id, signal);
    if (found === undefined) return undefined;
    return { ...found, images: await this.#images(link, id, signal) };
  }

  /** The reviewer that a visitor is, once there is feedback of theirs. */
  reviewer(link: FeedbackLink, claim: ReviewerClaim): Reviewer | undefined {
    const userId = this.#parts.store.guest(link.id, guestKeyOf(claim));
    return userId === undefined ? undefined : { name: normalizedName(claim.name), user_id: userId };
  }

  /** The reviewer's feedback on these completions, by completion. */
  given(link: FeedbackLink, reviewer: Reviewer, ids: readonly string[]): Map<string, StoredFeedback> {
    const found = this.#parts.given.ofUser(link.project_id, reviewer.user_id, ids);
    return new Map(found.map((feedback) => [feedback.completion_id, feedback]));
  }

  /** Stores a review. @throws DomainError `invalid`, also for a completion of another prompt, and on a full link */
  async submit(
    link: FeedbackLink,
    claim: ReviewerClaim,
    input: ReviewInput,
    signal?: AbortSignal,
  ): Promise<StoredFeedback> {
    if (normalizedName(claim.name) === '') throw invalid([NAMELESS]);
    const { completion_id: completionId } = input;
    const found = await this.#find(link, completionId, signal);
    if (found === undefined)
      throw invalid([
        {
          pointer: '/completion_id',
          detail: `must be a ${link.span_ids === null ? 'completion of this prompt' : 'span of this link'}`,
        },
      ]);
    const texts = { reason: said(input.reason), expected_output: said(input.expected_output) };
    const { user_id: userId } = this.#admitted(link, claim, completionId, texts);
    const { project_id: projectId, prompt_slug: slug } = link;
    const review = { thumbs_up: input.thumbs_up, ...texts };
    const target = { projectId, userId, completionId };
    if (slug === null) return this.#parts.feedback.submitOfSpan(target, review, 'link', signal);
    return this.#parts.feedback.keep({ ...target, slug }, review, 'link');
  }

  #find(link: FeedbackLink, id: string, signal?: AbortSignal): Promise<Completion | undefined> {
    const { completions } = this.#parts;
    if (link.span_ids === null) return completions.find(link.project_id, this.#prompt(link), id, signal);
    return link.span_ids.includes(id)
      ? completions.find(link.project_id, null, id, signal)
      : Promise.resolve(undefined);
  }

  /** The reviewer, made when missing, if the link has room for the feedback. @throws DomainError `invalid` */
  #admitted(link: FeedbackLink, claim: ReviewerClaim, completionId: string, texts: Texts): Reviewer {
    const { store, limits } = this.#parts;
    const known = this.reviewer(link, claim);
    const before = known === undefined ? undefined : this.given(link, known, [completionId]).get(completionId);
    const growth = bytesOf(texts) - (before === undefined ? 0 : bytesOf(before));
    const { reviewers, bytes } = store.holdings(link.id, claim.site);
    if (known === undefined && !isFair({ limit: limits.maxReviewers, ...reviewers }, 1)) throw invalid([TOO_MANY]);
    if (growth > 0 && !isFair({ limit: limits.maxBytes, ...bytes }, growth)) throw invalid([TOO_MUCH]);
    if (known !== undefined) return known;
    const name = normalizedName(claim.name);
    const guest = { key: guestKeyOf(claim), name, site: claim.site, at: Date.now() * 1000 };
    return { name, user_id: store.makeGuest(link.id, guest) };
  }

  #prompt(link: FeedbackLink): PromptIdentity {
    const prompt = link.prompt_id === null ? undefined : this.#parts.prompts.ofId(link.project_id, link.prompt_id);
    if (prompt === undefined) throw new Error('A prompt referenced by a feedback link is missing');
    return prompt;
  }

  async #images(link: FeedbackLink, id: string, signal?: AbortSignal): Promise<ReviewedCompletion['images']> {
    try {
      return await this.#parts.attachments.imagesOf(link.project_id, { spanId: id, traceId: null }, signal);
    } catch (error) {
      // The completion was deleted since it was found.
      if (error instanceof DomainError && error.kind === 'not_found') return [];
      throw error;
    }
  }
}

type Texts = Pick<StoredFeedback, 'reason' | 'expected_output'>;

function bytesOf({ reason, expected_output }: Texts): number {
  return RECORD_BYTES + Buffer.byteLength(reason ?? '') + Buffer.byteLength(expected_output ?? '');
}

/** A text as forms send it, with LF for CR LF; null for an empty one, which was not filled in. */
function said(text: string | null | undefined): string | null {
  const lines = text?.replaceAll('\r\n', '\n') ?? '';
  return lines.trim() === '' ? null : lines;
}
