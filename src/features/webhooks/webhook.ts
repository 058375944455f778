import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import type { EventType, WebhookEvent } from './event.js';

export const WEBHOOK_KINDS = ['webhook', 'slack', 'email'] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

/** Who is told of events of a project. */
export interface Webhook {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly kind: WebhookKind;
  /** A URL, which may be a secret, or an email address. */
  readonly target: string;
  /** Empty: all. */
  readonly events: readonly EventType[];
  readonly enabled: boolean;
  /** Of its secret: each has one. */
  readonly generation: number;
  /** Events that found too many waiting. */
  readonly dropped: number;
  /** Attempts in a row that failed. */
  readonly failures: number;
  /** Nothing is delivered before, as attempts failed. */
  readonly paused_to: Micros;
  readonly created_at: Micros;
  readonly created_by: string;
}

export interface ListedWebhook extends Webhook {
  readonly waiting: number;
}

export type WebhookSettings = Pick<Webhook, 'name' | 'target' | 'events' | 'enabled'>;

/** What a delivery is about; a test is no event of the project. */
export type DeliveredType = EventType | 'test';

/** The body of a delivery: the same at each attempt. */
export interface DeliveryBody extends Omit<WebhookEvent, 'type'> {
  readonly id: string;
  readonly type: DeliveredType;
  readonly created_at: string;
  /** Where the console shows what happened; absent: it was noted by a version that did not say. */
  readonly url?: string;
}

/** What one attempt came to. */
export interface Attempt {
  readonly tried_at: Micros;
  readonly ms: number;
  /** Null: there was no response. */
  readonly status: number | null;
  /** The beginning of what was answered. */
  readonly response: string | null;
  /** Null: it was taken. */
  readonly error: string | null;
}

export interface Delivery {
  readonly id: string;
  readonly event: DeliveredType;
  readonly state: 'waiting' | 'delivered' | 'given_up';
  readonly attempts: number;
  readonly next_at: Micros;
  readonly last: Attempt | null;
  readonly created_at: Micros;
}

/** A delivery that is due. */
export interface DueDelivery {
  /** The store's own number. */
  readonly seq: number;
  readonly webhook: Webhook;
  readonly event: DeliveredType;
  /** JSON. */
  readonly body: string;
  readonly attempts: number;
  readonly created_at: Micros;
}

/** What follows a failed attempt. */
export interface Delay {
  /** When the delivery is tried again. */
  readonly next_at: Micros;
  /** When the destination is tried again, with whatever waits. */
  readonly paused_to: Micros;
  /** What was noted at this moment or before, and still waits, is given up. */
  readonly given_up_to: Micros;
}

/** Most deliveries of a destination that wait, and that are kept when they are over. */
export const MAX_WAITING = 1_000;
export const MAX_OVER = 200;

/** Keeps destinations and what each is told. Each call is one durable transaction. @throws DomainError `unavailable` */
export interface WebhookStore {
  /** @returns false, and nothing is stored, when the project has so many */
  insert(webhook: Webhook, most: number): boolean;
  find(projectId: string, id: string): ListedWebhook | undefined;
  /** In the order in which they were made. */
  list(projectId: string): ListedWebhook[];
  /** What waits is tried again at once, or given up where it is disabled. */
  change(id: string, settings: WebhookSettings, now: Micros): void;
  /** @returns the new generation of its secret */
  rotate(id: string): number;
  remove(id: string): void;
  /**
   * Notes what those that want an event of the type are told.
   * @param only the one that is told, whatever it wants; null: each that is enabled and wants it
   * @returns how many are told
   */
  add(body: DeliveryBody, only: string | null, at: Micros): number;
  /** The delivery that is longest due of each destination, so many at most. */
  due(now: Micros, limit: number): DueDelivery[];
  /** Delivers nothing to it before a moment. */
  pause(id: string, to: Micros): void;
  /** When the next destination is due after a moment; null: nothing waits. */
  nextAt(after: Micros): Micros | null;
  delivered(due: DueDelivery, attempt: Attempt): void;
  /** A delivery that no other attempt can deliver is given up; others go on. @returns false when it is over already */
  refused(due: DueDelivery, attempt: Attempt): boolean;
  /** @returns how many deliveries were given up */
  failed(due: DueDelivery, attempt: Attempt, delay: Delay): number;
  /** The newest first. */
  deliveries(id: string, window: Window): Delivery[];
}
