import type { JudgeRead } from '../../../../features/judges/schema.js';
import type { PromptSummaryRead } from '../../../../features/prompts/http/schema.js';
import { call, callPage, ofProject, type ListPage } from '../../state/api.js';
import { place } from '../../state/location.js';
import { changedAt, queries, useQuery, type Answer } from '../../state/query.js';
import type { TagEntry } from './versions.js';

export const PRODUCTION = 'production';

/** A path below a prompt. */
export function ofPrompt(slug: string, path = ''): string {
  return ofProject(`/prompts/${encodeURIComponent(slug)}${path}`);
}

/** Has everything asked again that is known of prompts. */
export function promptsChanged(): Promise<void> {
  return changedAt('/prompts');
}

/** Forgets what is known of prompts, or of a part of them: of what is deleted, nothing is asked again. */
export function forget(...part: readonly unknown[]): void {
  queries.removeQueries({ queryKey: [place.value.project, '/prompts', ...part] });
}

/** A page of the prompts whose slug contains a text, with what became of them lately. */
export function usePrompts(query: ReturnType<typeof promptsAsked>): Answer<ListPage<PromptSummaryRead>> {
  return useQuery({
    key: ['/prompts', query],
    ask: (signal) => callPage('GET /projects/:project_id/prompts', { query, signal }),
  });
}

/** Since when figures of the list are. */
export const RECENT = '7d';

export function promptsAsked(q: string, offset: number, limit: number) {
  return { ...(q !== '' && { q }), include: 'figures', figures_since: RECENT, count: true, offset, limit };
}

/** The tags that someone has put to a version; `latest` follows by itself. */
export function tagsOf(tags: readonly TagEntry[], version: number): string[] {
  return tags.filter((entry) => entry.version === version).map(({ tag }) => tag);
}

/** A number of a version that stands in an address; null: none, or no number. */
export function versionIn(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}

export function useJudges(): Answer<JudgeRead[]> {
  return useQuery({
    key: ['/judges'],
    ask: (signal) => call('GET /projects/:project_id/judges', { signal }),
  });
}
