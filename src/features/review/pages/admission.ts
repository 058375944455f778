import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../../engine/errors.js';
import type { ReviewService } from '../review-service.js';
import type { ProblemDetails } from '../../../http/errors.js';
import { ownOrigins } from '../../../http/own-origin.js';
import type { ErrorRenderer, Opening } from '../../../http/route.js';
import { requireOwnSite, type ReviewAccess } from './access.js';
import { PAGE_HEADERS } from './shell.js';
import type { Signals } from '../../../engine/signals/signals.js';

export interface ReviewAdmissionParts {
  readonly reviews: Pick<ReviewService, 'open'>;
  readonly access: ReviewAccess;
  readonly observer: Pick<Signals, 'reviewRequested'>;
  readonly baseUrl: () => string;
  /** A page that says what went wrong. */
  readonly message: (title: string, text: string) => string;
}

/** Checks, limits and metrics that the routes of a feedback link's page share. */
export class ReviewAdmission {
  readonly #parts: ReviewAdmissionParts;
  readonly renderError: ErrorRenderer;

  constructor(parts: ReviewAdmissionParts) {
    this.#parts = parts;
    this.renderError = (problem, request) => this.#rendered(problem, request);
  }

  /** @throws DomainError `overloaded`, `not_found`, `forbidden` */
  async admit(
    { params: { token }, headers, remoteAddress }: Opening<{ token: string }>,
    { ownSiteOnly }: { readonly ownSiteOnly: boolean },
  ): Promise<void> {
    const { access, reviews, baseUrl } = this.#parts;
    await this.#failuresCounted(async () => {
      await access.ofAddress(headers, remoteAddress);
      const { id } = reviews.open(token);
      await access.ofLink(id);
      if (ownSiteOnly) requireOwnSite(headers, ownOrigins(headers, baseUrl()));
    });
  }

  /** Answers and counts how it ended. */
  counted<T extends { readonly status: number }>(result: 'shown' | 'saved', answer: () => Promise<T>): Promise<T> {
    return this.#failuresCounted(async () => {
      const answered = await answer();
      this.#parts.observer.reviewRequested({ result: answered.status === 422 ? 'invalid' : result });
      return answered;
    });
  }

  async #failuresCounted<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#parts.observer.reviewRequested({ result: failure(error) });
      throw error;
    }
  }

  /** People get a page; programs, which ask for JSON or send it, the problem. */
  #rendered(problem: ProblemDetails, { headers }: IncomingMessage): ReturnType<ErrorRenderer> {
    const byProgram = /json/.test(headers['content-type'] ?? '') || /json/.test(headers.accept ?? '');
    if (byProgram) return undefined;
    const { title, text } = SAID[problem.status] ?? { title: problem.title, text: problem.detail };
    const content = this.#parts.message(title, text);
    return { contentType: 'text/html; charset=utf-8', content, headers: PAGE_HEADERS };
  }
}

function failure(error: unknown): ReviewResult {
  switch (error instanceof DomainError ? error.kind : 'internal') {
    case 'not_found':
      return 'not_found';
    case 'forbidden':
      return 'forbidden';
    case 'invalid':
      return 'invalid';
    case 'overloaded':
      return 'limited';
    default:
      return 'failed';
  }
}

/** By status, in the words of the people who see it. */
const SAID: Readonly<Record<number, { readonly title: string; readonly text: string }>> = {
  403: {
    title: 'Your feedback was not saved',
    text: 'It did not come from the feedback link page. Open the link again.',
  },
  404: {
    title: 'This link does not work',
    text: 'It may be mistyped, expired or revoked. Ask the person who sent it for a new one.',
  },
  413: { title: 'Your feedback was not saved', text: 'The text is too long. Go back, shorten it and save it again.' },
  429: { title: 'Too many requests', text: 'Wait a minute, then reload the page. Your saved feedback is kept.' },
  500: { title: 'Something went wrong', text: 'This is a problem on our side. Try again in a moment.' },
  503: { title: 'Temporarily unavailable', text: 'Try again in a moment. Your saved feedback is kept.' },
};

/** How a request to the page of a feedback link ended. */
export type ReviewResult = 'shown' | 'saved' | 'invalid' | 'not_found' | 'forbidden' | 'limited' | 'failed';
