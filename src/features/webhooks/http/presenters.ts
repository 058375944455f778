import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import type { CreatedWebhookRead, DeliveryRead, WebhookRead } from '../schema.js';
import type { Delivery, ListedWebhook } from '../webhook.js';
import type { WithSecret } from '../webhook-service.js';

export function toWebhookRead(webhook: ListedWebhook): WebhookRead {
  const { id, name, kind, events, enabled, waiting, dropped, failures, created_at, created_by } = webhook;
  return {
    ...{ id, name, kind, target: shownTarget(webhook), events: [...events], enabled, waiting, dropped, failures },
    ...{ created_at: formatTimestamp(created_at), created_by },
  };
}

export function toCreatedRead({ webhook, secret }: WithSecret): CreatedWebhookRead {
  return { ...toWebhookRead(webhook), secret };
}

export function toDeliveryRead({ id, event, state, attempts, next_at, last, created_at }: Delivery): DeliveryRead {
  return {
    ...{ id, event, state, attempts, next_at: state === 'waiting' ? formatTimestamp(next_at) : null },
    tried_at: formatOptionalTimestamp(last?.tried_at ?? null),
    ...{ status: last?.status ?? null, ms: last?.ms ?? null, response: last?.response ?? null },
    error: last?.error ?? null,
    created_at: formatTimestamp(created_at),
  };
}

/** Anyone who knows the URL of an incoming webhook can post to it. */
function shownTarget({ kind, target }: ListedWebhook): string {
  return kind === 'email' ? target : `${new URL(target).origin}/…`;
}
