import type { AttachmentService, SpanImage } from '../attachment/attachment-service.js';
import { DomainError, type Issue } from '../errors.js';
import type { StoredFeedback } from '../feedback/feedback.js';
import type { FeedbackService } from '../feedback/feedback-service.js';
import type { FeedbackStore } from '../feedback/feedback-store.js';
import type { FeedbackRead } from '../feedback/schema.js';
import type { PromptIdentities, PromptIdentity } from '../prompt/completion.js';
import type { Completion, Completions } from '../prompt/completion-store.js';
import type { Micros } from '../time/timestamp.js';
import { invalid } from '../validation/validation.js';
import type { FeedbackLink } from './feedback-link.js';
import type { LinkService } from './link-service.js';
import type { LinkStore } from './link-store.js';
import type { ReviewInput } from './schema.js';

export interface ReviewServiceParts {
  readonly links: Pick<LinkService, 'open'>;
  readonly store: Pick<LinkStore, 'guest'>;
  readonly prompts: Pick<PromptIdentities, 'ofId'>;
  readonly completions: Completions;
  readonly attachments: Pick<AttachmentService, 'imagesOf'>;
  readonly feedback: Pick<FeedbackService, 'submit'>;
  readonly given: Pick<FeedbackStore, 'ofUser'>;
  readonly now?: () => Micros;
}

/** A reviewer without an account, known by the name given on one link. */
export interface Reviewer {
  readonly name: string;
  readonly user_id: string;
}

/** A completion as a reviewer sees it. */
export interface ReviewedCompletion extends Completion {
  readonly images: readonly Pick<SpanImage, 'url' | 'label' | 'kept'>[];
}

/** Completions that one reviewer is asked about. */
const ROUND_LENGTH = 20;
const MAX_REVIEWERS = 1000;
/** What is wrong with a review of nobody. */
export const NAMELESS: Issue = {
  pointer: '/reviewer_name',
  detail: 'must be given once, so that people know who it was',
};

/** What reviewers do on a feedback link. Nothing but completions of the link's prompt is ever reached. */
export class ReviewService {
  readonly #parts: ReviewServiceParts;
  readonly #now: () => Micros;

  constructor(parts: ReviewServiceParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => Date.now() * 1000);
  }

  /** @throws DomainError `not_found`, the same for unknown, expired and revoked tokens */
  open(token: string): FeedbackLink {
    return this.#parts.links.open(token);
  }

  /** Ids of the prompt's recent completions, newest first. */
  recent(link: FeedbackLink, signal?: AbortSignal): Promise<string[]> {
    return this.#parts.completions.newest(link.project_id, this.#prompt(link), ROUND_LENGTH, signal);
  }

  /** Undefined when there is no such completion, or not of this prompt. */
  async completion(link: FeedbackLink, id: string, signal?: AbortSignal): Promise<ReviewedCompletion | undefined> {
    const found = await this.#parts.completions.find(link.project_id, this.#prompt(link), id, signal);
    if (found === undefined) return undefined;
    return { ...found, images: await this.#images(link, id, signal) };
  }

  /** The reviewer of this name, made when missing. @throws DomainError `invalid` for an empty name, or on a full link */
  reviewer(link: FeedbackLink, givenName: string): Reviewer {
    const name = normalised(givenName);
    if (name === '') throw invalid([NAMELESS]);
    const key = name.toLowerCase();
    const userId = this.#parts.store.guest(link.id, name, key, this.#now(), MAX_REVIEWERS);
    if (userId === undefined)
      throw invalid([
        { pointer: '/reviewer_name', detail: `is one more than the ${MAX_REVIEWERS} that a link may have` },
      ]);
    return { name, user_id: userId };
  }

  /** What the reviewer has said of these completions, by completion. */
  given(link: FeedbackLink, reviewer: Reviewer, ids: readonly string[]): Map<string, StoredFeedback> {
    const found = this.#parts.given.ofUser(link.project_id, reviewer.user_id, ids);
    return new Map(found.map((feedback) => [feedback.completion_id, feedback]));
  }

  /** @throws DomainError `invalid`, also for a completion that is none of this prompt */
  async submit(link: FeedbackLink, name: string, input: ReviewInput, signal?: AbortSignal): Promise<FeedbackRead> {
    const completionId = input.completion_id.toLowerCase();
    const found = await this.#parts.completions.find(link.project_id, this.#prompt(link), completionId, signal);
    if (found === undefined)
      throw invalid([{ pointer: '/completion_id', detail: 'must be a completion of this prompt' }]);
    const { user_id: userId } = this.reviewer(link, name);
    const { project_id: projectId, prompt_slug: slug } = link;
    return this.#parts.feedback.submit(
      { projectId, userId, slug, completionId },
      { thumbs_up: input.thumbs_up, reason: said(input.reason), expected_output: said(input.expected_output) },
      'link',
    );
  }

  #prompt(link: FeedbackLink): PromptIdentity {
    const prompt = this.#parts.prompts.ofId(link.project_id, link.prompt_id);
    if (prompt === undefined) throw new Error('A prompt that a feedback link names is gone');
    return prompt;
  }

  async #images(link: FeedbackLink, id: string, signal?: AbortSignal): Promise<ReviewedCompletion['images']> {
    try {
      return await this.#parts.attachments.imagesOf(link.project_id, id, signal);
    } catch (error) {
      // It was deleted since it was found.
      if (error instanceof DomainError && error.kind === 'not_found') return [];
      throw error;
    }
  }
}

/** Names that look alike are alike: white space, composition and invisible characters do not tell people apart. */
function normalised(name: string): string {
  return name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}

/** Forms send what was not filled in as empty text, and lines with CR LF. */
function said(text: string | null | undefined): string | null {
  const lines = text?.replaceAll('\r\n', '\n') ?? '';
  return lines.trim() === '' ? null : lines;
}
