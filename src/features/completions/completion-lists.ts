import { DomainError } from '../../engine/errors.js';
import { inPortions } from '../../engine/work/portions.js';
import {
  requireCountable,
  type PromptIdentities,
  type PromptIdentity,
} from '../../engine/traces/model/prompts/completion.js';
import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import { invalid } from '../../engine/validation/validation.js';
import type { CompletionOpinions, JudgeVerdict, Thumbs } from './completion-opinions.js';
import type {
  CompletionSelection,
  CompletionSpan,
  CompletionTexts,
  PromptSpans,
} from '../../engine/traces/model/prompts/prompt-spans.js';
import { VersionSums, type VersionStatistics } from './version-statistics.js';

export const FEEDBACK_STATES = ['up', 'down', 'none'] as const;
export const VERDICTS = ['passed', 'failed', 'none'] as const;

/** Which completions are asked for; null: any. */
export interface CompletionFilter {
  readonly from: Micros | null;
  readonly to: Micros | null;
  /** Number of the version; `none`: those that name none of the prompt's. */
  readonly version: number | 'none' | null;
  /** `up`, `down`: someone gave it; `none`: no one gave feedback. */
  readonly feedback: (typeof FEEDBACK_STATES)[number] | null;
  /** By the latest evaluation of each judge. `passed`: all passed; `failed`: some did not; `none`: there is none. */
  readonly verdict: (typeof VERDICTS)[number] | null;
  /** The only judge whose evaluations count. */
  readonly judgeId: string | null;
}

/** A completion with what was said of it. */
export interface ListedCompletion extends CompletionSpan, CompletionTexts {
  /** Number of the version; null: it names none of the prompt's. */
  readonly prompt_version: number | null;
  readonly thumbs: Thumbs;
  readonly verdicts: readonly JudgeVerdict[];
}

export interface CompletionPage {
  readonly completions: readonly ListedCompletion[];
  readonly total: number;
}

export interface CompletionListsParts {
  readonly prompts: Pick<PromptIdentities, 'ofSlug'>;
  readonly spans: PromptSpans;
  readonly opinions: CompletionOpinions;
}

/** Most completions whose opinions are looked up to find those with some. */
export const MAX_LOOKED_UP = 100_000;
/** Longest input or output in a list, in characters. */
const MAX_TEXT = 2_000;
const NO_THUMBS: Thumbs = { up: 0, down: 0 };

/** What is said of a completion: enough of it for a filter. */
interface Said {
  readonly thumbs: Thumbs;
  readonly verdicts: readonly JudgeVerdict[];
}

/** The completions of prompts, with what people and judges said of them. */
export class CompletionLists {
  readonly #parts: CompletionListsParts;

  constructor(parts: CompletionListsParts) {
    this.#parts = parts;
  }

  /**
   * @throws DomainError `not_found` for an unknown prompt or version; `invalid` when the opinions of too many completions
   *   would have to be looked up; `conflict`, `unavailable`
   */
  async list(
    projectId: string,
    slug: string,
    filter: CompletionFilter,
    { window, descending }: { readonly window: Window; readonly descending: boolean },
    signal?: AbortSignal,
  ): Promise<CompletionPage> {
    const prompt = this.#prompt(projectId, slug);
    const { from, to } = filter;
    const version = filter.version === null ? null : versionId(prompt, filter.version);
    const of: CompletionSelection = { projectId, prompt, version, from, to, descending };
    const byOpinion = filter.feedback !== null || filter.verdict !== null;
    const { spans, total } = byOpinion
      ? await this.#pageOf(of, filter, window, signal)
      : await this.#parts.spans.page(of, window, signal);
    const said = this.#saidOf(of, filter.judgeId, spans);
    const texts = await this.#parts.spans.texts(projectId, spans, MAX_TEXT, signal);
    const completions = spans.map((span) => ({
      ...span,
      ...said(span),
      ...(texts.get(span.id) ?? { input: null, output: null }),
      prompt_version: span.version_id === null ? null : (prompt.versions.get(span.version_id) ?? null),
    }));
    return { completions, total };
  }

  /** @throws DomainError `not_found`, `conflict`, `unavailable` */
  async statistics(
    projectId: string,
    slug: string,
    { from, to }: Pick<CompletionFilter, 'from' | 'to'>,
    signal?: AbortSignal,
  ): Promise<VersionStatistics> {
    const prompt = this.#prompt(projectId, slug);
    const of: CompletionSelection = { projectId, prompt, version: null, from, to, descending: true };
    const sums = new VersionSums(prompt.versions, await this.#parts.spans.figures(of, signal));
    await this.#parts.spans.walk(
      of,
      MAX_LOOKED_UP,
      (spans) =>
        inPortions(spans, (portion) => {
          const said = this.#saidOf(of, null, portion);
          for (const span of portion) sums.add(span.version_id, said(span));
        }),
      signal,
    );
    return sums.statistics();
  }

  #prompt(projectId: string, slug: string): PromptIdentity {
    const prompt = this.#parts.prompts.ofSlug(projectId, slug);
    if (prompt === undefined) throw new DomainError('not_found', 'There is no prompt with this slug');
    requireCountable(prompt);
    return prompt;
  }

  /** A page of those with some opinion: all are looked at, in the order of the list. */
  async #pageOf(of: CompletionSelection, filter: CompletionFilter, { limit, offset }: Window, signal?: AbortSignal) {
    const spans: CompletionSpan[] = [];
    let found = 0;
    const all = await this.#parts.spans.walk(
      of,
      MAX_LOOKED_UP,
      (visited) =>
        inPortions(visited, (portion) => {
          const said = this.#saidOf(of, filter.judgeId, portion);
          for (const span of portion) {
            if (!isAsked(filter, said(span))) continue;
            if (found >= offset && found < offset + limit) spans.push(span);
            found += 1;
          }
        }),
      signal,
    );
    if (all > MAX_LOOKED_UP)
      throw invalid([
        {
          pointer: filter.feedback === null ? '?verdict' : '?feedback',
          detail: `covers at most ${MAX_LOOKED_UP} completions: narrow started_after and started_before`,
        },
      ]);
    return { spans, total: found };
  }

  #saidOf({ projectId, prompt }: CompletionSelection, judgeId: string | null, spans: readonly CompletionSpan[]) {
    const ids = [...new Set(spans.map(({ id }) => id))];
    const thumbs = this.#parts.opinions.thumbs(projectId, prompt.id, ids);
    const verdicts = this.#parts.opinions.verdicts(projectId, judgeId, ids);
    return ({ id }: CompletionSpan): Said => ({
      thumbs: thumbs.get(id) ?? NO_THUMBS,
      verdicts: verdicts.get(id) ?? [],
    });
  }
}

function versionId({ versions }: PromptIdentity, wanted: number | 'none'): string {
  if (wanted === 'none') return wanted;
  const found = [...versions].find(([, number]) => number === wanted);
  if (found === undefined) throw new DomainError('not_found', `The prompt has no version ${wanted}`);
  return found[0];
}

function isAsked({ feedback, verdict }: CompletionFilter, { thumbs, verdicts }: Said): boolean {
  const given = feedback === null || (feedback === 'none' ? thumbs.up + thumbs.down === 0 : thumbs[feedback] > 0);
  return given && (verdict === null || verdict === verdictOf(verdicts));
}

function verdictOf(verdicts: readonly JudgeVerdict[]): (typeof VERDICTS)[number] {
  if (verdicts.length === 0) return 'none';
  return verdicts.every(({ evaluation_result }) => evaluation_result) ? 'passed' : 'failed';
}
