import { DomainError } from '../../engine/errors.js';
import type { VersionSelector } from './prompt.js';
import type { PromptStore } from './prompt-store.js';

/** @throws DomainError `not_found` */
export function requirePrompt(store: Pick<PromptStore, 'hasPrompt'>, projectId: string, slug: string): void {
  if (!store.hasPrompt(projectId, slug)) throw new DomainError('not_found', 'There is no prompt with this slug');
}

/** The error where a prompt has no such version. */
export function noVersion(selector: VersionSelector): DomainError {
  return new DomainError('not_found', missing(selector));
}

function missing(selector: VersionSelector): string {
  switch (selector.by) {
    case 'number':
      return `The prompt has no version ${selector.version}`;
    case 'hash':
      return 'The prompt has no version with this content hash';
    case 'tag':
      return `The prompt has no tag ${selector.tag}`;
  }
}
