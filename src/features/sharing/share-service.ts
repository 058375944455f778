import { randomUUID } from 'node:crypto';
import { DomainError } from '../../engine/errors.js';
import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import { createToken, hashOfToken } from '../../engine/identity/token.js';
import { isLoopback } from '../../engine/models/loopback.js';
import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import type { Signals } from '../../engine/signals/signals.js';
import type { BesideTraces } from '../traces/beside-traces.js';
import type { ShareLinkInput } from './schema.js';
import {
  DEFAULT_SHARE_DAYS,
  TRACE_PARTS,
  type CreatedShareLink,
  type ListedShareLink,
  type ShareLink,
  type ShareLinkDraft,
  type ShareStore,
} from './share-link.js';

export interface ShareServiceParts {
  readonly store: ShareStore;
  readonly beside: Pick<BesideTraces, 'keep'>;
  /** URL that the link with a token is shared by. */
  readonly urlOf: (token: string) => string;
  readonly observer: Pick<Signals, 'linkOpensHereOnly'>;
  readonly audit: AuditLog;
}

const DAY: Micros = 24 * 3600 * 1e6;
/** For so long links that ended are listed, where there are many. */
const ENDED_KEPT = 90 * DAY;
const MOST = { ofTrace: 50, ofProject: 1_000, kept: 10_000 };
const TOO_MANY = {
  ofTrace: `A trace has at most ${MOST.ofTrace} share links that work: revoke one first`,
  ofProject: `A project has at most ${MOST.ofProject} share links that work: revoke some first`,
  kept: `A project keeps at most ${MOST.kept} share links of the last 90 days, including those that ended: retry later`,
};

/** Links by which people without an account read one trace. */
export class ShareService {
  readonly #parts: ShareServiceParts;

  constructor(parts: ShareServiceParts) {
    this.#parts = parts;
  }

  /**
   * The answer is the only place where the URL ever stands.
   * @throws DomainError `not_found` unless the trace is stored; `conflict` where links are not allowed, or there are too many
   */
  async create(by: Principal, traceId: string, input: ShareLinkInput): Promise<CreatedShareLink> {
    const { store, beside, audit } = this.#parts;
    const { project_id } = by;
    this.#requireAllowed(project_id);
    const { token, hash } = createToken();
    const created_at = Date.now() * 1000;
    const chosen = input.left_out ?? [];
    const link = {
      ...{ id: randomUUID(), project_id, trace_id: traceId, created_at },
      left_out: TRACE_PARTS.filter((part) => chosen.includes(part)),
      expires_at: created_at + (input.expires_in_days ?? DEFAULT_SHARE_DAYS) * DAY,
    };
    const insert = (after_deletion: number) =>
      audit.together(() => {
        this.#insert({ ...link, token_hash: hash, created_by: by.user_id, after_deletion });
        audit.done({ event: 'shareLinkMade', by, project_id, subject_id: link.id });
      });
    await beside.keep({ project_id, trace_id: traceId, span_id: null }, insert, () =>
      audit.together(() => {
        store.remove(link.id);
        audit.done({ event: 'shareLinkRevoked', by, project_id, subject_id: link.id });
      }),
    );
    const url = this.#parts.urlOf(token);
    const opens_here_only = isLoopback(new URL(url).hostname);
    if (opens_here_only) this.#parts.observer.linkOpensHereOnly({ project: project_id, link: link.id });
    return { ...this.#get(project_id, link.id), url, opens_here_only };
  }

  /** Those of a project, also those that ended, the newest first. @param traceId only of this trace */
  list(projectId: string, traceId: string | null, window: Window): ListedShareLink[] {
    return this.#parts.store.list(projectId, traceId, window);
  }

  /** Revokes a link; revoking it again changes nothing. @throws DomainError `not_found` */
  revoke(by: Principal, id: string): void {
    const { project_id } = by;
    const { store, audit } = this.#parts;
    audit.together(() => {
      if (!store.revoke(project_id, id, Date.now() * 1000)) throw missing();
      audit.done({ event: 'shareLinkRevoked', by, project_id, subject_id: id });
    });
  }

  /** Whether links of a project work, and can be made. */
  isAllowed(projectId: string): boolean {
    return this.#parts.store.isAllowed(projectId);
  }

  allow(by: Principal, allowed: boolean): void {
    const { project_id } = by;
    const { store, audit } = this.#parts;
    audit.together(() => {
      const before = store.isAllowed(project_id);
      if (before === allowed) return;
      store.allow(project_id, allowed);
      const changes = [{ field: 'share_links', from: before, to: allowed }];
      audit.done({ event: 'sharingSet', by, project_id, changes });
    });
  }

  /** The link of a token that works. @throws DomainError `not_found`, the same for all that do not */
  open(token: string): ShareLink {
    const hash = hashOfToken(token);
    const link = hash === null ? undefined : this.#parts.store.findByTokenHash(hash);
    const works = link !== undefined && link.revoked_at === null && link.expires_at > Date.now() * 1000;
    if (!works || !this.isAllowed(link.project_id))
      throw new DomainError('not_found', 'This link does not work, or what it shows was deleted');
    return link;
  }

  /** Its trace was opened by it. */
  used({ id }: ShareLink): void {
    this.#parts.store.used(id, Date.now() * 1000);
  }

  #insert(draft: ShareLinkDraft): void {
    const met = this.#parts.store.insert(draft, { ...MOST, endedBefore: draft.created_at - ENDED_KEPT });
    if (met !== null) throw new DomainError('conflict', TOO_MANY[met]);
  }

  #requireAllowed(projectId: string): void {
    if (!this.isAllowed(projectId))
      throw new DomainError('conflict', 'Share links are switched off in this project; an admin can allow them');
  }

  #get(projectId: string, id: string): ListedShareLink {
    const link = this.#parts.store.find(projectId, id);
    if (link === undefined) throw missing();
    return link;
  }
}

function missing(): DomainError {
  return new DomainError('not_found', 'There is no share link with this id');
}
