import type { ModelBinding, PromptSummary, SelectedVersion, TagMove } from '../prompt.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import type { ModelBindingRead, PromptSummaryRead, PromptVersionRead, TagMoveRead } from './schema.js';

export function toVersionRead(version: SelectedVersion): PromptVersionRead {
  return {
    id: version.id,
    version_id: version.id,
    prompt_id: version.prompt_id,
    task_id: version.prompt_id,
    prompt: version.slug,
    content: version.content,
    // A text alone is answered as it always was.
    ...(version.messages !== null && { messages: [...version.messages] }),
    ...(Object.keys(version.config).length > 0 && { config: version.config }),
    content_hash: version.content_hash,
    version: version.version,
    model_id: version.model_id,
    tag: version.tag,
    is_latest: version.version === version.latest_version,
    metadata: version.metadata,
    created_at: formatTimestamp(version.created_at),
    updated_at: formatTimestamp(version.updated_at),
  };
}

/** The JSON of a version. */
export type VersionJson = (version: SelectedVersion) => string;

/** Makes the JSON of each version once for as long as the service keeps that version in memory and answers it. */
export function rememberVersionJson(): VersionJson {
  const texts = new WeakMap<SelectedVersion, string>();
  return (version) => {
    const known = texts.get(version);
    if (known !== undefined) return known;
    const json = JSON.stringify(toVersionRead(version));
    texts.set(version, json);
    return json;
  };
}

export function toModelRead({ model_id, provider }: ModelBinding): ModelBindingRead {
  return { model_id, provider, model: model_id };
}

export function toMoveRead({ version, at, by }: TagMove): TagMoveRead {
  return { version, pinned_at: formatTimestamp(at), pinned_by: { id: by.id, email: by.email, name: by.name } };
}

export function toSummaryRead(prompt: PromptSummary): PromptSummaryRead {
  return {
    id: prompt.id,
    prompt_id: prompt.id,
    slug: prompt.slug,
    version_count: prompt.version_count,
    latest_version: prompt.latest_version,
    tags: [...prompt.tags],
    created_at: formatTimestamp(prompt.created_at),
    updated_at: formatTimestamp(prompt.updated_at),
  };
}
