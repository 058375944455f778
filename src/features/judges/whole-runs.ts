import { invalid } from '../../engine/validation/validation.js';
import { isBounded } from '../../engine/traces/model/judged/filters.js';
import { isCountable, requireCountable } from '../../engine/traces/model/prompts/completion.js';
import type {
  FoundWhole,
  WholeFilters,
  WholeKind,
  WholeOutline,
  WholeReader,
} from '../../engine/traces/model/judged/whole-reader.js';
import type { Judge } from './judge.js';
import type { IdentifyPrompt } from './matching.js';

export interface WholeRunsParts {
  readonly wholes: Pick<WholeReader, 'outlines' | 'newestWholes'>;
  readonly identifyPrompt: IdentifyPrompt;
}

/** Finds the traces and sessions that run calls name. Everything is inside the caller's project. */
export class WholeRuns {
  readonly #parts: WholeRunsParts;

  constructor(parts: WholeRunsParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `invalid` for those that are not there, or that no judge evaluates; `unavailable` */
  async named(projectId: string, kind: WholeKind, ids: readonly string[]): Promise<FoundWhole[]> {
    const found = await this.#parts.wholes.outlines(projectId, kind, [...new Set(ids)]);
    requireWholes(found, { kind, ids, field: `${kind}_ids` });
    return [...found.values()];
  }

  /** Those with a matching span, latest start of it first. @throws DomainError `invalid`, `unavailable` */
  async newest(judge: Judge, kind: WholeKind, count: number): Promise<FoundWhole[]> {
    const asked = filtersOf(judge, this.#parts.identifyPrompt);
    if (asked === null) return [];
    return this.#parts.wholes.newestWholes(judge.project_id, kind, asked, count);
  }
}

/** @param field that names them @throws DomainError `invalid` unless each is there and may be judged */
export function requireWholes(
  found: ReadonlyMap<string, WholeOutline>,
  { kind, ids, field }: { readonly kind: WholeKind; readonly ids: readonly string[]; readonly field: string },
): void {
  const issues = ids.flatMap((id, index) => {
    const whole = found.get(id);
    const pointer = `/${field}/${index}`;
    if (whole === undefined) return [{ pointer, detail: `there is no ${kind} with this id that has spans` }];
    return whole.internal
      ? [{ pointer, detail: 'contains calls of the server itself, which are never evaluated' }]
      : [];
  });
  if (issues.length > 0) throw invalid(issues);
}

/**
 * The filters of a judge with what its prompt is named by; null: there is no such prompt, and nothing matches.
 * @throws DomainError `conflict` for a prompt with too many versions
 */
export function filtersOf(judge: Judge, identifyPrompt: IdentifyPrompt): WholeFilters | null {
  const asked = statedFilters(judge, identifyPrompt);
  if (asked?.prompt != null) requireCountable(asked.prompt);
  return asked;
}

/**
 * The filters by which it is asked of a whole session, once it is quiet, whether a span of it matches: the span that matches may
 * have come before the one that names the session. Undefined: new spans are asked alone, as it cannot be asked of the session,
 * or the judge evaluates something else.
 */
export function filtersOfSessions(judge: Judge, identifyPrompt: IdentifyPrompt): WholeFilters | null | undefined {
  if (judge.subject !== 'session' || !isBounded([judge.filters])) return undefined;
  const asked = statedFilters(judge, identifyPrompt);
  return asked?.prompt == null || isCountable(asked.prompt) ? asked : undefined;
}

function statedFilters({ project_id, filters }: Judge, identifyPrompt: IdentifyPrompt): WholeFilters | null {
  if (filters.prompt_slug === null) return { filters, prompt: null };
  const prompt = identifyPrompt(project_id, filters.prompt_slug);
  return prompt === undefined ? null : { filters, prompt };
}
