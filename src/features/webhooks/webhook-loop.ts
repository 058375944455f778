import { DomainError } from '../../engine/errors.js';
import type { Signals } from '../../engine/signals/signals.js';
import type { Micros } from '../../engine/timestamp.js';
import { RETRIES, retryDelay } from '../../engine/work/backoff.js';
import { BackgroundLoop } from '../../engine/work/background-loop.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import { unlessAborted } from '../../engine/work/unless-aborted.js';
import { MailQuota } from './sending/mail-quota.js';
import type { Attempt, DueDelivery, WebhookStore } from './webhook.js';

/** The destination, or its mail server, will never take a delivery: another attempt would only be one more refusal. */
export class RefusedForGood extends Error {}

/**
 * Sends one delivery. @returns what was answered @throws Error that says why there was no response, for the log of deliveries; its
 * cause is for the log of the server alone
 */
export type Send = (
  due: DueDelivery,
  signal: AbortSignal,
) => Promise<{ readonly status: number | null; readonly response: string | null }>;

export interface WebhookLoopParts {
  readonly store: WebhookStore;
  readonly send: Send;
  readonly isGone: (projectId: string) => boolean;
  readonly observer: Pick<Signals, 'webhookDelivered' | 'webhookFailed' | 'webhookGivenUp' | 'webhooksFailed'>;
}

/** Deliveries at once: of a project, and each to another destination, so that a slow one holds up nobody else. */
const TURNS = { atOnce: 32, perParty: 4 };
const LOOKED_AT = 1_000;
const LOOK_MS = 60_000;
/** What could not be delivered for so long is given up. */
const GIVEN_UP_AFTER: Micros = 86_400e6;

/**
 * Delivers what waits, one delivery of a destination at a time. What fails waits longer each time, and so does its destination: after
 * each pause, what was tried least is tried first, so that one bad delivery holds up no other.
 */
export class WebhookLoop {
  readonly #parts: WebhookLoopParts;
  readonly #loop: BackgroundLoop;
  readonly #mails = new MailQuota();
  readonly #turns = new FairSemaphore('webhook deliveries', TURNS);
  /** Destinations whose delivery is under way, or waits for its turn. */
  readonly #underWay = new Map<string, Promise<void>>();
  /** Deliveries in a row of which the store did not take what became of them. */
  #unstored = 0;

  constructor(parts: WebhookLoopParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({
      round: () => this.#round(),
      onFailure: (error) => parts.observer.webhooksFailed({ error }),
    });
  }

  /** To be called at the start, and when something was noted or a destination changed. */
  wake(): void {
    this.#loop.wake();
  }

  /** What is under way is given up, and tried again after the next start. */
  async close(): Promise<void> {
    await this.#loop.close(new DomainError('unavailable', 'The server is stopping'));
    await Promise.all(this.#underWay.values());
  }

  #round(): number {
    const { store, isGone } = this.#parts;
    const now = Date.now() * 1000;
    for (const due of store.due(now, LOOKED_AT)) {
      const { id, project_id } = due.webhook;
      // Deliveries of a deleted project stay due until they are purged.
      if (this.#underWay.has(id) || isGone(project_id)) continue;
      const delivery = this.#inTurn(due).finally(() => {
        this.#underWay.delete(id);
        this.#loop.wake();
      });
      this.#underWay.set(id, delivery);
    }
    const nextAt = store.nextAt(now);
    return nextAt === null ? LOOK_MS : Math.min(LOOK_MS, Math.max(0, nextAt / 1000 - Date.now()));
  }

  async #inTurn(due: DueDelivery): Promise<void> {
    const { signal } = this.#loop;
    try {
      await this.#turns.run(due.webhook.project_id, () => this.#deliver(due, signal), signal);
      this.#unstored = 0;
    } catch (error) {
      if (signal.aborted) return;
      this.#parts.observer.webhooksFailed({ error });
      // What was sent and could not be noted is due again at once: its destination must not hear of it without a pause.
      this.#unstored += 1;
      await this.#loop.rest(retryDelay(this.#unstored, RETRIES.work));
    }
  }

  async #deliver(due: DueDelivery, signal: AbortSignal): Promise<void> {
    const { store, isGone, observer } = this.#parts;
    const { id, project_id: project } = due.webhook;
    if (isGone(project)) return;
    const waitMs = due.webhook.kind === 'email' ? await this.#mails.take(project) : 0;
    if (waitMs > 0) {
      store.pause(id, (Date.now() + waitMs) * 1000);
      return;
    }
    const { attempt, isFinal = false, reason = null } = await this.#attempt(due, signal);
    if (signal.aborted) return;
    if (attempt.error === null) {
      store.delivered(due, attempt);
      observer.webhookDelivered({ seconds: attempt.ms / 1000 });
      return;
    }
    observer.webhookFailed({ project, id, status: attempt.status, seconds: attempt.ms / 1000, reason });
    if (isFinal) {
      if (store.refused(due, attempt)) observer.webhookGivenUp({ project, id, deliveries: 1 });
      return;
    }
    const now = Date.now() * 1000;
    const givenUp = store.failed(due, attempt, {
      next_at: now + retryDelay(due.attempts + 1, RETRIES.large) * 1000,
      paused_to: now + retryDelay(due.webhook.failures + 1, RETRIES.large) * 1000,
      given_up_to: now - GIVEN_UP_AFTER,
    });
    if (givenUp > 0) observer.webhookGivenUp({ project, id, deliveries: givenUp });
  }

  async #attempt(due: DueDelivery, signal: AbortSignal): Promise<Attempted> {
    const tried_at = Date.now() * 1000;
    const began = performance.now();
    const took = () => Math.round(performance.now() - began);
    try {
      const { status, response } = await unlessAborted(this.#parts.send(due, signal), signal);
      const isTaken = status === null || (status >= 200 && status < 300);
      return { attempt: { tried_at, ms: took(), status, response, error: isTaken ? null : refusalOf(status) } };
    } catch (error) {
      const message = inOneLine(error instanceof Error ? error.message : String(error), 200);
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : null;
      return {
        attempt: { tried_at, ms: took(), status: null, response: null, error: message },
        isFinal: error instanceof RefusedForGood,
        reason: cause === null ? null : inOneLine(cause, 300),
      };
    }
  }
}

interface Attempted {
  readonly attempt: Attempt;
  /** Whether no other attempt is made. */
  readonly isFinal?: boolean;
  /** What lies behind it, for the log of the server. */
  readonly reason?: string | null;
}

function inOneLine(text: string, most: number): string {
  return text
    .replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ')
    .slice(0, most)
    .toWellFormed();
}

function refusalOf(status: number): string {
  return status >= 300 && status < 400
    ? `The destination redirects (${status}): name the address that it redirects to`
    : `The destination answered ${status}`;
}
