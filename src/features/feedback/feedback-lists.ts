import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import type { PromptIdentities, PromptIdentity } from '../../engine/traces/model/prompts/completion.js';
import type { Completions, RecordedCompletion } from '../../engine/traces/model/prompts/completion-store.js';
import type { Window } from '../../engine/schema/page.js';
import { invalid } from '../../engine/validation/validation.js';
import type {
  AuthoredFeedback,
  FeedbackFilter,
  FeedbackPages,
  FeedbackPlace,
  FeedbackSelection,
  FeedbackSubject,
} from './feedback-pages.js';

/** Feedback links, as far as a list needs them. */
export interface Links {
  /** What a link is for. @throws DomainError `unavailable` */
  find(
    projectId: string,
    linkId: string,
  ): { readonly prompt_id: string | null; readonly span_ids: readonly string[] | null } | undefined;
}

export interface FeedbackListsParts {
  readonly pages: FeedbackPages;
  readonly prompts: Pick<PromptIdentities, 'ofSlug' | 'ofId'>;
  readonly completions: Pick<Completions, 'versionsNamed' | 'recorded'>;
  readonly links: Links;
}

export interface FeedbackQuery {
  readonly filter: FeedbackFilter;
  /** Number of the prompt version that the completion was made with; null: any or none. */
  readonly version: number | null;
  readonly window: Window;
  readonly descending: boolean;
  readonly withCompletions: boolean;
}

export interface ListedFeedback extends AuthoredFeedback {
  /** Null when the span names none, or is not there. */
  readonly prompt_version: number | null;
  /** Undefined: it was not asked for; null: the span is not there. */
  readonly completion: RecordedCompletion | null | undefined;
}

/** A page of feedback: how many there are in all, and the items as they are read. */
export interface FeedbackPage {
  readonly total: number;
  readonly items: AsyncIterable<readonly ListedFeedback[]>;
}

/** What a list is of: a prompt of a project, or some of its spans. */
interface Listed {
  readonly projectId: string;
  readonly prompt: PromptIdentity | null;
  readonly subject: FeedbackSubject;
}

/** Completions looked up at once: more take fewer passes over the spans; their ids fit a quarter of a longest URL. */
const PLACES_AT_ONCE = 5_000;
/** Most feedback whose completions are looked up to find those of one version. */
const MAX_LOOKED_UP = 100_000;
/** Arrivals looked at together: each is a row that may be far from the others. */
const ARRIVALS_AT_ONCE = 500;
/** Feedback whose states are read at once. */
const CHANGES_AT_ONCE = 100;
/** Items read at once: few, as each may be as large as texts may be long. */
const ITEMS_AT_ONCE = 10;

/** Lists of the feedback on prompts. */
export class FeedbackLists {
  readonly #parts: FeedbackListsParts;

  constructor(parts: FeedbackListsParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found` for an unknown prompt or version; `invalid`, `unavailable` */
  ofPrompt(projectId: string, slug: string, query: FeedbackQuery, signal?: AbortSignal): Promise<FeedbackPage> {
    return this.#list(ofPrompt(projectId, this.#parts.prompts.ofSlug(projectId, slug)), query, signal);
  }

  /** Also of a link that is revoked or expired. @throws DomainError as `ofPrompt` */
  ofLink(projectId: string, linkId: string, query: FeedbackQuery, signal?: AbortSignal): Promise<FeedbackPage> {
    const link = this.#parts.links.find(projectId, linkId);
    if (link === undefined) throw new DomainError('not_found', 'There is no feedback link with this id');
    const ofLink = { ...query, filter: { ...query.filter, linkId } };
    const { prompt_id, span_ids } = link;
    if (span_ids !== null)
      return this.#list({ projectId, prompt: null, subject: { projectId, spanIds: span_ids } }, ofLink, signal);
    const prompt = prompt_id === null ? undefined : this.#parts.prompts.ofId(projectId, prompt_id);
    return this.#list(ofPrompt(projectId, prompt), ofLink, signal);
  }

  /** Feedback of a project in pages, that which came last first. */
  async *exported(
    projectId: string,
    selection: { readonly promptId: string | null; readonly filter: FeedbackFilter },
  ): AsyncGenerator<readonly AuthoredFeedback[]> {
    let before: number | null = null;
    for (let more = true; more;) {
      const arrivals = this.#parts.pages.arrivals(projectId, selection, before, ARRIVALS_AT_ONCE);
      const ids = arrivals.filter(({ matches }) => matches).map(({ id }) => id);
      for (let from = 0; from < ids.length; from += ITEMS_AT_ONCE) {
        const some = ids.slice(from, from + ITEMS_AT_ONCE);
        const items = this.#parts.pages.read(some);
        yield some.flatMap((id) => items.get(id) ?? []);
      }
      more = arrivals.length === ARRIVALS_AT_ONCE;
      before = arrivals.at(-1)?.arrival ?? before;
      await nextTurn();
    }
  }

  /** The version of the newest state of any feedback. @throws DomainError `unavailable` */
  version(): number {
    return this.#parts.pages.version();
  }

  /** Feedback by the versions of its states, behind one and up to another, with where it ends. @throws DomainError `unavailable` */
  changed(
    projectId: string,
    selection: { readonly promptId: string | null; readonly filter: FeedbackFilter },
    after: number,
    upTo: number,
  ): { readonly items: readonly AuthoredFeedback[]; readonly to: number } {
    const { pages } = this.#parts;
    const found = pages.versions(projectId, selection, { after, upTo }, CHANGES_AT_ONCE);
    const matching = found.filter(({ matches }) => matches);
    const items = pages.read(matching.map(({ id }) => id));
    const to = found.length === CHANGES_AT_ONCE ? (found.at(-1)?.version ?? upTo) : upTo;
    return { items: matching.flatMap(({ id }) => items.get(id) ?? []), to };
  }

  async #list(of: Listed, query: FeedbackQuery, signal?: AbortSignal): Promise<FeedbackPage> {
    const { filter, version, window, descending, withCompletions } = query;
    const selection: FeedbackSelection = { subject: of.subject, filter, descending };
    const { places, total } =
      version === null
        ? this.#parts.pages.page(selection, window)
        : await this.#pageOfVersion(of, selection, version, window, signal);
    const versions =
      version === null
        ? await this.#versionsOf(of, places, signal)
        : new Map(places.map(({ completion_id }) => [completion_id, version]));
    return { total, items: this.#read(of, places, { versions, withCompletions }, signal) };
  }

  /**
   * Which version a completion was made with stands in its span, which may come after the feedback: all of the feedback
   * is walked through, in the order of the list, and its spans are asked.
   */
  async #pageOfVersion(
    of: Listed,
    selection: FeedbackSelection,
    version: number,
    { limit, offset }: Window,
    signal?: AbortSignal,
  ): Promise<{ readonly places: FeedbackPlace[]; readonly total: number }> {
    const { pages } = this.#parts;
    if (of.prompt === null) throw invalid([{ pointer: '?version', detail: 'does not apply to a link for spans' }]);
    if (![...of.prompt.versions.values()].includes(version))
      throw new DomainError('not_found', `The prompt has no version ${version}`);
    if (pages.count(selection) > MAX_LOOKED_UP)
      throw invalid([
        {
          pointer: '?version',
          detail: `covers at most ${MAX_LOOKED_UP} records: narrow start_date and end_date`,
        },
      ]);
    const places: FeedbackPlace[] = [];
    let last: FeedbackPlace | undefined;
    do {
      const part = pages.behind(selection, last ?? null, PLACES_AT_ONCE);
      const versions = await this.#versionsOf(of, part, signal);
      places.push(...part.filter(({ completion_id }) => versions.get(completion_id) === version));
      last = part.length < PLACES_AT_ONCE ? undefined : part.at(-1);
    } while (last !== undefined);
    return { places: places.slice(offset, offset + limit), total: places.length };
  }

  /** Numbers of the versions that completions were made with, by completion. */
  async #versionsOf(
    { projectId, prompt }: Listed,
    places: readonly FeedbackPlace[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, number>> {
    const ids = [...new Set(places.map(({ completion_id }) => completion_id))];
    return ids.length === 0 || prompt === null
      ? new Map()
      : this.#parts.completions.versionsNamed(projectId, prompt, ids, signal);
  }

  async *#read(
    { projectId }: Listed,
    places: readonly FeedbackPlace[],
    {
      versions,
      withCompletions,
    }: { readonly versions: ReadonlyMap<string, number>; readonly withCompletions: boolean },
    signal?: AbortSignal,
  ): AsyncGenerator<readonly ListedFeedback[]> {
    const { pages, completions } = this.#parts;
    for (let from = 0; from < places.length; from += ITEMS_AT_ONCE) {
      const part = places.slice(from, from + ITEMS_AT_ONCE);
      const spans = withCompletions
        ? await completions.recorded(projectId, [...new Set(part.map(({ completion_id }) => completion_id))], signal)
        : null;
      const found = pages.read(part.map(({ id }) => id));
      // What was deleted since the page was chosen is left out.
      yield part.flatMap(({ id, completion_id }) => {
        const item = found.get(id);
        if (item === undefined) return [];
        const completion = spans === null ? undefined : (spans.get(completion_id) ?? null);
        return [{ ...item, prompt_version: versions.get(completion_id) ?? null, completion }];
      });
      await nextTurn();
    }
  }
}

function ofPrompt(projectId: string, prompt: PromptIdentity | undefined): Listed {
  if (prompt === undefined) throw new DomainError('not_found', 'There is no prompt with this slug');
  return { projectId, prompt, subject: { promptId: prompt.id } };
}
