import type { Static } from '@sinclair/typebox';
import type { PromptVersionRead, TagEntryRead, TagMoveRead } from '../../../../features/prompts/http/schema.js';
import { call } from '../../state/api.js';
import { useQuery, type Answer } from '../../state/query.js';

export type TagEntry = Static<typeof TagEntryRead>;

/** Most versions, tags' moves or prompts that one call answers. */
export const MAX_PAGE = 1000;
export const LATEST = 'latest';

export function useTags(slug: string): Answer<TagEntry[]> {
  return useQuery({
    key: ['/prompts', slug, 'tags'],
    ask: (signal) =>
      call('GET /projects/:project_id/prompts/:prompt_slug/tags', { params: { prompt_slug: slug }, signal }),
  });
}

/** What a tag pointed at, newest first: of `latest`, each version with when and by whom it was made. */
export function useTagHistory(slug: string, tag: string, offset = 0, limit = MAX_PAGE): Answer<TagMoveRead[]> {
  return useQuery({
    key: ['/prompts', slug, 'tags', tag, offset, limit],
    ask: (signal) =>
      call('GET /projects/:project_id/prompts/:prompt_slug/tags/:tag/history', {
        params: { prompt_slug: slug, tag },
        query: { offset, limit },
        signal,
      }),
  });
}

/** @param version null: nothing is asked */
export function useVersion(slug: string, version: number | null): Answer<PromptVersionRead> {
  return useQuery({
    key: ['/prompts', slug, 'version', version],
    ask: (signal) =>
      call('GET /v1/prompts/:prompt_slug', { params: { prompt_slug: slug }, query: { version }, signal }),
    enabled: version !== null,
    keep: false,
  });
}
