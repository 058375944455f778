import type { Issue } from '../../../engine/errors.js';
import type { FeedbackLink } from '../feedback-link.js';
import type { ReviewedCompletion, ReviewService } from '../review-service.js';
import type { Reviewer, ReviewerClaim } from '../reviewer.js';
import type { ReviewTextLimits } from '../schema.js';
import { basePath } from '../../../http/base-path.js';
import type { SerializedResult } from '../../../http/route.js';
import type { From, ReviewAccess } from './access.js';
import { completionPage, type FormValues } from './completion-page.js';
import { html, type Html } from '../../../http/pages/html.js';
import type { ReviewMemory, ReviewSigner } from './review-cookie.js';
import { documentOf, messagePage, PAGE_HEADERS, pathsOf, type PagePaths } from './shell.js';
import { thanksPage } from './thanks-page.js';
import { visibleText } from './visible-text.js';

export interface ReviewPagesParts {
  readonly reviews: ReviewService;
  readonly signer: ReviewSigner;
  readonly access: Pick<ReviewAccess, 'siteOf'>;
  readonly textLimits: ReviewTextLimits;
  /** Base of the URLs handed out, without a slash at its end. */
  readonly baseUrl: () => string;
  /** Version of styles and scripts. */
  readonly assetsVersion: string;
}

/** One visit of a link that works. */
export interface Visit {
  readonly token: string;
  readonly link: FeedbackLink;
  readonly memory: ReviewMemory;
  /** Network that the visitor is in; see `ReviewSigner.siteMark`. */
  readonly site: string;
  readonly signal: AbortSignal;
}

export interface PageRequest {
  readonly c?: string;
  readonly all?: string;
  readonly done?: string;
  readonly rename?: string;
}

/** A form that was sent and refused, to be shown again. */
export interface RefusedForm {
  readonly values: FormValues;
  readonly issues: readonly Issue[];
}

const FOOTER = html`<footer>
  <p>Your feedback helps improve answers. It goes to the team that sent you this link.</p>
</footer>`;

/** The pages that a reviewer sees. */
export class ReviewPages {
  readonly #parts: ReviewPagesParts;

  constructor(parts: ReviewPagesParts) {
    this.#parts = parts;
  }

  /** A visit of somebody who opens the page: a browser that remembers nothing is a new one. */
  visit(token: string, from: From, signal: AbortSignal): Visit {
    return this.#visit(token, from, signal, () => this.#parts.signer.newHolder());
  }

  /** A visit of somebody who sends a review: who remembers nothing may never do so, and is known by the network instead. */
  visitOfSender(token: string, from: From, signal: AbortSignal): Visit {
    return this.#visit(token, from, signal, (linkId, site) => this.#parts.signer.holderOfSite(linkId, site));
  }

  #visit(token: string, from: From, signal: AbortSignal, holderOf: (linkId: string, site: string) => string): Visit {
    const { reviews, signer, access } = this.#parts;
    const link = reviews.open(token);
    const network = access.siteOf(from);
    const memory = signer.recall(from.headers.cookie, link.id);
    return {
      token,
      link,
      memory: memory ?? { name: null, round: [], holder: holderOf(link.id, network) },
      site: signer.siteMark(link.id, network),
      signal,
    };
  }

  /** The visitor as the reviewer of a name. */
  claim({ memory, site }: Visit, name: string): ReviewerClaim {
    return { name, holder: memory.holder, site };
  }

  pathsOf(token: string): PagePaths {
    return pathsOf(basePath(this.#parts.baseUrl()), token);
  }

  /** The page that was asked for: a completion, what was given, or that there is nothing. */
  async show(visit: Visit, asked: PageRequest): Promise<SerializedResult> {
    const { reviews } = this.#parts;
    const { link, memory, signal } = visit;
    const again = asked.c !== undefined || asked.done !== undefined;
    let round = again && memory.round.length > 0 ? memory.round : await reviews.recent(link, signal);
    if (asked.c !== undefined && !round.includes(asked.c)) round = await reviews.recent(link, signal);
    const known = this.#remembered(visit);
    const reviewer = asked.rename === '1' ? null : known;
    const given = known === null ? new Map<string, never>() : reviews.given(link, known, round);
    if (asked.done === undefined) {
      const wanted = asked.c !== undefined && round.includes(asked.c) ? asked.c : round.find((id) => !given.has(id));
      const found = await this.#firstFound(visit, round, wanted);
      if (found !== null) {
        const values = valuesOf(given.get(found.id), asked.rename === '1' ? (memory.name ?? '') : '');
        const page = { round, reviewer, answered: new Set(given.keys()), all: asked.all === '1', values, issues: [] };
        return this.#completion(visit, found, page, 200);
      }
    }
    if (round.length === 0 || (given.size === 0 && asked.done === undefined)) return this.#nothing(visit);
    const main = thanksPage(this.pathsOf(visit.token), known?.name ?? null, round, given);
    return this.#page(visit, 'Thank you', main, round, known, 200);
  }

  /** The form again, with what was filled in and what is wrong with it; null when there is no such completion. */
  async refused(visit: Visit, completionId: string, { values, issues }: RefusedForm): Promise<SerializedResult | null> {
    const { reviews } = this.#parts;
    const completion = await reviews.completion(visit.link, completionId, visit.signal);
    if (completion === undefined) return null;
    const round = await this.#roundWith(visit, completionId);
    const reviewer = values.reviewer_name !== '' ? null : this.#remembered(visit);
    const answered = new Set(reviewer === null ? [] : reviews.given(visit.link, reviewer, round).keys());
    return this.#completion(visit, completion, { round, reviewer, answered, all: false, values, issues }, 422);
  }

  /** Where to go after a completion was answered: the next that is open, or the thanks. */
  async saved(visit: Visit, givenName: string, completionId: string): Promise<SerializedResult> {
    const { reviews } = this.#parts;
    const round = await this.#roundWith(visit, completionId);
    const reviewer = this.#known(visit, givenName);
    const given = reviews.given(visit.link, reviewer, round);
    const position = round.indexOf(completionId);
    const inOrder = [...round.slice(position + 1), ...round.slice(0, position)];
    const next = inOrder.find((id) => !given.has(id));
    const { page } = this.pathsOf(visit.token);
    const location = next === undefined ? `${page}?done=1` : `${page}?c=${next}`;
    return {
      status: 303,
      content: '',
      contentType: 'text/plain; charset=utf-8',
      headers: {
        ...PAGE_HEADERS,
        Location: location,
        'Set-Cookie': this.#cookie(visit, reviewer.name, round),
      },
    };
  }

  /** A page that says one thing, such as what went wrong. */
  message(title: string, text: string): string {
    return messagePage({ assets: this.pathsOf('').assets, version: this.#parts.assetsVersion }, title, text);
  }

  /** The cookie by which the browser remembers the link and the reviewer's name. */
  remembered(visit: Visit, givenName: string): string {
    return this.#cookie(visit, this.#known(visit, givenName).name, visit.memory.round);
  }

  /** The round that the reviewer is in, which has this completion. */
  async #roundWith({ link, memory, signal }: Visit, id: string): Promise<readonly string[]> {
    if (memory.round.includes(id)) return memory.round;
    const recent = await this.#parts.reviews.recent(link, signal);
    return recent.includes(id) ? recent : [id, ...recent];
  }

  /** The wanted completion, or when it was deleted meanwhile, the first that is still there. */
  async #firstFound(visit: Visit, round: readonly string[], wanted: string | undefined) {
    if (wanted === undefined) return null;
    for (const id of [wanted, ...round.filter((other) => other !== wanted)]) {
      const found = await this.#parts.reviews.completion(visit.link, id, visit.signal);
      if (found !== undefined) return found;
    }
    return null;
  }

  #completion(
    visit: Visit,
    completion: ReviewedCompletion,
    page: {
      readonly round: readonly string[];
      readonly reviewer: Reviewer | null;
      readonly answered: ReadonlySet<string>;
      readonly all: boolean;
      readonly values: FormValues;
      readonly issues: readonly Issue[];
    },
    status: number,
  ): SerializedResult {
    const { round, reviewer } = page;
    const position = Math.max(0, round.indexOf(completion.id));
    const main = completionPage({
      ...page,
      paths: this.pathsOf(visit.token),
      completion,
      images: completion.images.map(({ url, label, kept }) => ({
        src: kept ? pathOf(url) : null,
        url,
        label: label ?? '',
      })),
      position,
      reviewer: reviewer?.name ?? null,
      formValue:
        reviewer === null
          ? null
          : this.#parts.signer.formValue(visit.link.id, completion.id, this.claim(visit, reviewer.name)),
      textLimits: this.#parts.textLimits,
    });
    return this.#page(visit, `${position + 1} of ${round.length}`, main, round, reviewer, status);
  }

  #nothing(visit: Visit): SerializedResult {
    const { page } = this.pathsOf(visit.token);
    const main = html`<section class="message">
      <h1 tabindex="-1">Nothing to review yet</h1>
      <p>
        ${
          visit.link.prompt_slug === null
            ? 'The answers of this link are not there any more.'
            : html`New answers of <strong>${visibleText(visit.link.prompt_slug)}</strong> will appear here.`
        }
      </p>
      <p class="actions"><a class="button quiet" href="${page}" data-swap>Check again</a></p>
    </section>`;
    return this.#page(visit, 'Nothing to review yet', main, [], null, 200);
  }

  #page(
    visit: Visit,
    title: string,
    main: Html,
    round: readonly string[],
    reviewer: Reviewer | null,
    status: number,
  ): SerializedResult {
    const paths = this.pathsOf(visit.token);
    const { name } = visit.memory;
    const slug = visit.link.prompt_slug;
    const aside = html`${slug !== null && html`<p class="topic"><span class="unseen">Prompt: </span>${visibleText(slug)}</p>`}
      ${
        reviewer !== null &&
        html`<p class="who">
          as <bdi>${visibleText(reviewer.name)}</bdi>
          <a href="${paths.page}?rename=1" data-swap>change<span class="unseen"> name</span></a>
        </p>`
      }`;
    const shell = {
      title: `${title} – Review`,
      assets: paths.assets,
      version: this.#parts.assetsVersion,
      aside,
      footer: FOOTER,
    };
    return {
      status,
      content: documentOf(shell, main),
      contentType: 'text/html; charset=utf-8',
      headers: { ...PAGE_HEADERS, 'Set-Cookie': this.#cookie(visit, name, round) },
    };
  }

  /** The reviewer that the visitor was before. */
  #remembered(visit: Visit): Reviewer | null {
    const { name } = visit.memory;
    return name === null ? null : (this.#parts.reviews.reviewer(visit.link, this.claim(visit, name)) ?? null);
  }

  /** A reviewer whose feedback was kept. */
  #known(visit: Visit, givenName: string): Reviewer {
    const reviewer = this.#parts.reviews.reviewer(visit.link, this.claim(visit, givenName));
    if (reviewer === undefined) throw new Error('A reviewer with saved feedback is missing');
    return reviewer;
  }

  #cookie({ link, token, memory: { holder } }: Visit, name: string | null, round: readonly string[]): string {
    const secure = this.#parts.baseUrl().startsWith('https:');
    const scope = { linkId: link.id, path: this.pathsOf(token).page, secure };
    return this.#parts.signer.remember({ name, holder, round }, scope);
  }
}

/** The path of a URL that this server made; not for URLs from spans, whose path may begin like another host. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function valuesOf(
  given:
    | { readonly thumbs_up: boolean; readonly reason: string | null; readonly expected_output: string | null }
    | undefined,
  name: string,
): FormValues {
  return {
    thumbs_up: given?.thumbs_up ?? null,
    reason: given?.reason ?? '',
    expected_output: given?.expected_output ?? '',
    reviewer_name: name,
  };
}
