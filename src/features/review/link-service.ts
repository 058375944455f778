import { randomUUID } from 'node:crypto';
import { DomainError } from '../../engine/errors.js';
import { isLoopback } from '../../engine/models/loopback.js';
import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import { createToken, hashOfToken } from '../../engine/identity/token.js';
import type { PromptIdentities } from '../../engine/traces/model/prompts/completion.js';
import type { Completions } from '../../engine/traces/model/prompts/completion-store.js';
import { invalid } from '../../engine/validation/validation.js';
import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import type { CreatedLink, FeedbackLink, ListedLink } from './feedback-link.js';
import type { LinkStore } from './link-store.js';
import { defaultDays, type LinkInput, type LinkPatch } from './schema.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface LinkServiceParts {
  readonly store: LinkStore;
  readonly prompts: Pick<PromptIdentities, 'idOf'>;
  readonly completions: Pick<Completions, 'stored'>;
  /** URL that the link with a token is shared by. */
  readonly urlOf: (token: string) => string;
  readonly observer: Pick<Signals, 'linkOpensHereOnly'>;
  readonly audit: AuditLog;
}

const DAY: Micros = 24 * 3600 * 1e6;

/** Links by which people without an account give feedback. */
export class LinkService {
  readonly #parts: LinkServiceParts;

  constructor(parts: LinkServiceParts) {
    this.#parts = parts;
  }

  /**
   * The answer is the only place where the URL ever stands.
   * @throws DomainError `not_found` for an unknown prompt, `invalid`, also for spans that are not stored
   */
  async create(by: Principal, input: LinkInput): Promise<CreatedLink> {
    const { project_id, user_id } = by;
    const about = await this.#about(project_id, input);
    const { token, hash } = createToken();
    const created_at = Date.now() * 1000;
    const link = {
      id: randomUUID(),
      project_id,
      prompt_id: about.prompt_id,
      link_type: about.span_ids === null ? 'prompt_completion' : 'span',
      span_ids: about.span_ids,
      created_at,
      expires_at: created_at + (input.expires_in_days ?? defaultDays) * DAY,
    } as const;
    const { store, audit } = this.#parts;
    audit.together(() => {
      store.insert({ ...link, token_hash: hash, created_by: user_id });
      const subject_name = about.prompt_slug === null ? {} : { subject_name: about.prompt_slug };
      audit.done({ event: 'linkMade', by, project_id, subject_id: link.id, ...subject_name });
    });
    const url = this.#parts.urlOf(token);
    const opens_here_only = isLoopback(new URL(url).hostname);
    if (opens_here_only) this.#parts.observer.linkOpensHereOnly({ project: project_id, link: link.id });
    return { ...link, prompt_slug: about.prompt_slug, revoked_at: null, url, opens_here_only };
  }

  /** What a new link is for. */
  async #about(
    projectId: string,
    { prompt_slug = null, span_ids: spans = null, link_type: type = null }: LinkInput,
  ): Promise<Pick<FeedbackLink, 'prompt_id' | 'prompt_slug' | 'span_ids'>> {
    if (spans === null && prompt_slug === null) throw invalid([{ pointer: '/prompt_slug', detail: 'is required' }]);
    if (spans !== null && prompt_slug !== null)
      throw invalid([{ pointer: '/span_ids', detail: 'must be absent if prompt_slug is given' }]);
    const isMeant = spans === null ? 'prompt_completion' : 'span';
    if (type !== null && type !== isMeant)
      throw invalid([{ pointer: '/link_type', detail: `must be ${isMeant}, or absent` }]);
    if (prompt_slug !== null) {
      const prompt_id = this.#parts.prompts.idOf(projectId, prompt_slug);
      if (prompt_id === undefined) throw new DomainError('not_found', 'There is no prompt with this slug');
      return { prompt_id, prompt_slug, span_ids: null };
    }
    const stored = new Set(await this.#parts.completions.stored(projectId, spans ?? []));
    const issues = (spans ?? []).flatMap((id, index) =>
      stored.has(id) ? [] : [{ pointer: `/span_ids/${index}`, detail: 'must be the id of a stored span' }],
    );
    if (issues.length > 0) throw invalid(issues);
    return { prompt_id: null, prompt_slug: null, span_ids: [...new Set(spans)] };
  }

  list(projectId: string, window: Window): ListedLink[] {
    return this.#parts.store.list(projectId, window);
  }

  /** Also a link that works no longer. @throws DomainError `not_found` */
  get(projectId: string, id: string): ListedLink {
    const link = this.#parts.store.listed(projectId, id);
    if (link === undefined) throw new DomainError('not_found', 'There is no feedback link with this id');
    return link;
  }

  /** Also opens one again that has expired. @throws DomainError `not_found`; `conflict` for a revoked one */
  update(by: Principal, id: string, { expires_in_days }: LinkPatch): ListedLink {
    const { project_id: projectId } = by;
    const { store, audit } = this.#parts;
    return audit.together(() => {
      const expired = store.expire(projectId, id, Date.now() * 1000 + expires_in_days * DAY);
      const link = this.get(projectId, id);
      if (!expired) throw new DomainError('conflict', 'The link is permanently revoked: create a new one');
      const changes = [{ field: 'expires_in_days', to: expires_in_days }];
      audit.done({ event: 'linkChanged', by, project_id: projectId, subject_id: link.id, changes });
      return link;
    });
  }

  /** Revokes a link; revoking it again changes nothing. @throws DomainError `not_found` */
  revoke(by: Principal, id: string): void {
    const { project_id } = by;
    const { store, audit } = this.#parts;
    audit.together(() => {
      if (!store.revoke(project_id, id, Date.now() * 1000))
        throw new DomainError('not_found', 'There is no feedback link with this id');
      audit.done({ event: 'linkRevoked', by, project_id, subject_id: id });
    });
  }

  /** The link of a token that works. @throws DomainError `not_found`, the same for unknown, expired and revoked ones */
  open(token: string): FeedbackLink {
    const hash = hashOfToken(token);
    const link = hash === null ? undefined : this.#parts.store.findByTokenHash(hash);
    if (link === undefined || link.revoked_at !== null || link.expires_at <= Date.now() * 1000)
      throw new DomainError('not_found', 'This feedback link does not work or has expired');
    return link;
  }
}
