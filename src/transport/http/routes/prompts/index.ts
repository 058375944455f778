import type { PromptFigureService } from '../../../../domain/prompt-figures/prompt-figures.js';
import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import type { Route } from '../../route.js';
import { bindModelRoute } from './bind-model.js';
import { deleteTagRoute } from './delete-tag.js';
import { deleteVersionRoute } from './delete-version.js';
import { ensureVersionRoute } from './ensure-version.js';
import { getLatestVersionRoute } from './get-latest-version.js';
import { getPromptRoute } from './get-prompt.js';
import { getVersionByHashRoute } from './get-version-by-hash.js';
import { getVersionModelRoute } from './get-version-model.js';
import { listPromptsRoute } from './list-prompts.js';
import { listTagHistoryRoute } from './list-tag-history.js';
import { listTagsRoute } from './list-tags.js';
import { listVersionsRoute } from './list-versions.js';
import { pinTagRoute } from './pin-tag.js';
import { rememberVersionJson } from './presenters.js';

/** Everything about prompts, their versions and tags. */
export function promptRoutes(prompts: PromptService, figures: PromptFigureService): Route[] {
  const versionJson = rememberVersionJson();
  return [
    getPromptRoute(prompts, versionJson),
    ensureVersionRoute(prompts),
    getVersionByHashRoute(prompts),
    getLatestVersionRoute(prompts, versionJson),
    getVersionModelRoute(prompts),
    listPromptsRoute(prompts, figures),
    listVersionsRoute(prompts),
    bindModelRoute(prompts),
    deleteVersionRoute(prompts),
    listTagsRoute(prompts),
    pinTagRoute(prompts),
    deleteTagRoute(prompts),
    listTagHistoryRoute(prompts),
  ];
}
