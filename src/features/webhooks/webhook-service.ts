import { randomUUID } from 'node:crypto';
import { DomainError } from '../../engine/errors.js';
import { changesBetween, type AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Window } from '../../engine/schema/page.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import { invalid } from '../../engine/validation/validation.js';
import type { Announce } from './event.js';
import { eventPlace } from './event-place.js';
import { secretOf } from './render.js';
import { MAX_WEBHOOKS, type WebhookInput, type WebhookPatch } from './schema.js';
import type { Delivery, DeliveredType, ListedWebhook, Webhook, WebhookKind, WebhookStore } from './webhook.js';

export interface WebhookServiceParts {
  readonly store: WebhookStore;
  readonly audit: AuditLog;
  /** Of the server: what the secrets of destinations are derived from. */
  readonly secret: Buffer;
  /** Whether the operator has set a mail server. */
  readonly hasMail: boolean;
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  /** Has what waits be delivered. */
  readonly wake: () => void;
}

/** A destination with the secret that is shown once; null: its kind has none. */
export interface WithSecret {
  readonly webhook: ListedWebhook;
  readonly secret: string | null;
}

const ADDRESS = /^[^\s@<>(),;:"'\\[\]\u0000-\u001f\u007f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/;

/** Destinations of events. Everything is inside the caller's project. */
export class WebhookService {
  readonly #parts: WebhookServiceParts;

  constructor(parts: WebhookServiceParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `invalid`; `conflict` with too many, or where the server sends no mail */
  create(by: Principal, { name, kind, target, events, enabled }: WebhookInput): WithSecret {
    const { store, audit } = this.#parts;
    const { project_id, user_id } = by;
    this.#requireTarget(kind, target);
    const webhook: Webhook = {
      ...{
        id: randomUUID(),
        project_id,
        name,
        kind,
        target,
        events: [...new Set(events ?? [])],
        enabled: enabled ?? true,
      },
      ...{ generation: 1, dropped: 0, failures: 0, paused_to: 0, created_at: Date.now() * 1000, created_by: user_id },
    };
    audit.together(() => {
      if (!store.insert(webhook, MAX_WEBHOOKS))
        throw new DomainError('conflict', `A project has at most ${MAX_WEBHOOKS} destinations: delete one first`);
      audit.done({ event: 'webhookCreated', by, project_id, subject_id: webhook.id, subject_name: name });
    });
    return this.#withSecret({ ...webhook, waiting: 0 });
  }

  list(projectId: string): ListedWebhook[] {
    return this.#parts.store.list(projectId);
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, id: string): ListedWebhook {
    const webhook = this.#parts.store.find(projectId, id);
    if (webhook === undefined) throw new DomainError('not_found', 'There is no destination with this id');
    return webhook;
  }

  /** @throws DomainError `not_found`, `invalid` */
  change(by: Principal, id: string, patch: WebhookPatch): ListedWebhook {
    const { store, audit, wake } = this.#parts;
    const known = this.get(by.project_id, id);
    const target = patch.target ?? known.target;
    // Also where the operator has removed the mail server, it can be disabled.
    if (target !== known.target) this.#requireTarget(known.kind, target);
    const settings = {
      ...{ name: patch.name ?? known.name, target, events: [...new Set(patch.events ?? known.events)] },
      enabled: patch.enabled ?? known.enabled,
    };
    const { project_id } = by;
    type Settings = Pick<Webhook, 'name' | 'target' | 'events' | 'enabled'>;
    const changes = changesBetween<Settings>(known, settings, ['name', 'target', 'events', 'enabled']);
    audit.together(() => {
      store.change(id, settings, Date.now() * 1000);
      audit.done({ event: 'webhookChanged', by, project_id, subject_id: id, subject_name: settings.name, changes });
    });
    wake();
    return this.get(project_id, id);
  }

  /** Gives it another secret; the one before counts no more. @throws DomainError `not_found` */
  rotate(by: Principal, id: string): WithSecret {
    const { store, audit } = this.#parts;
    const { project_id } = by;
    const known = this.get(project_id, id);
    const generation = audit.together(() => {
      audit.done({ event: 'webhookRotated', by, project_id, subject_id: id, subject_name: known.name });
      return store.rotate(id);
    });
    return this.#withSecret({ ...known, generation });
  }

  /** @throws DomainError `not_found` */
  remove(by: Principal, id: string): void {
    const { store, audit } = this.#parts;
    const { project_id } = by;
    const { name } = this.get(project_id, id);
    audit.together(() => {
      store.remove(id);
      audit.done({ event: 'webhookDeleted', by, project_id, subject_id: id, subject_name: name });
    });
  }

  /** @throws DomainError `not_found`; `conflict` while it is disabled */
  requireTestable(projectId: string, id: string): void {
    if (!this.get(projectId, id).enabled)
      throw new DomainError('conflict', 'The destination is disabled: enable it first');
  }

  /** Has it be told something at once. @throws as {@link requireTestable}; `conflict` also when too much waits */
  test(projectId: string, id: string): ListedWebhook {
    this.requireTestable(projectId, id);
    // Without its name: the recipient may know nothing of this server, so no client chooses the words.
    const event = { type: 'test', summary: 'Test of a destination', data: { webhook_id: id } } as const;
    if (this.#note({ project_id: projectId, ...event }, id) === 0)
      throw new DomainError('conflict', 'Too many deliveries wait: the destination does not accept them');
    return this.get(projectId, id);
  }

  /** What it was told, the newest first. @throws DomainError `not_found` */
  deliveries(projectId: string, id: string, window: Window): Delivery[] {
    return this.#parts.store.deliveries(this.get(projectId, id).id, window);
  }

  readonly announce: Announce = (event) => void this.#note(event, null);

  /** @param only the one that is told; null: each that wants it @returns how many are told */
  #note(event: Omit<Parameters<Announce>[0], 'type'> & { readonly type: DeliveredType }, only: string | null): number {
    const at = Date.now() * 1000;
    const url = `${this.#parts.baseUrl()}${eventPlace(event)}`;
    const body = { id: randomUUID(), ...event, created_at: formatTimestamp(at), url };
    const told = this.#parts.store.add(body, only, at);
    // In the next turn: what is in progress may still be taken back.
    if (told > 0) setImmediate(this.#parts.wake);
    return told;
  }

  #withSecret(webhook: ListedWebhook): WithSecret {
    return { webhook, secret: webhook.kind === 'webhook' ? secretOf(this.#parts.secret, webhook) : null };
  }

  #requireTarget(kind: WebhookKind, target: string): void {
    if (kind === 'email') {
      if (!this.#parts.hasMail)
        throw new DomainError(
          'conflict',
          'This server cannot send email: the operator must set SMTP_URL and SMTP_FROM',
        );
      if (!ADDRESS.test(target)) throw invalid([{ pointer: '/target', detail: 'must be an email address' }]);
      return;
    }
    const url = URL.canParse(target) ? new URL(target) : null;
    const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
    if (url === null || !isHttp || url.username !== '' || url.password !== '')
      throw invalid([{ pointer: '/target', detail: 'must be an http:// or https:// URL without user and password' }]);
  }
}
