import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { count, line, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { EVENT_TYPES } from './event.js';
import { WEBHOOK_KINDS } from './webhook.js';

/** Most destinations of a project. */
export const MAX_WEBHOOKS = 20;
const MAX_TARGET = 2_000;

const name = line(200, 'Name of the destination.');
const kind = oneOf(
  WEBHOOK_KINDS,
  '`webhook`: signed JSON; `slack`: a message for an incoming webhook of Slack, or of anything compatible; `email`.',
);
const target = Type.String({
  minLength: 1,
  maxLength: MAX_TARGET,
  description: 'An http:// or https:// URL, or an email address.',
});
const events = Type.Array(oneOf(EVENT_TYPES, 'Type of an event.'), {
  maxItems: EVENT_TYPES.length,
  description: 'Types of events that it receives; empty: all.',
});
const enabled = Type.Boolean({ description: 'Whether it receives events.' });

export const WebhookInput = Type.Object(
  { name, kind, target, events: optional(events), enabled: optional(enabled) },
  { $id: 'WebhookInput', description: 'A new destination of events.' },
);
export type WebhookInput = Static<typeof WebhookInput>;

export const WebhookPatch = Type.Object(
  { name: optional(name), target: optional(target), events: optional(events), enabled: optional(enabled) },
  { $id: 'WebhookPatch', description: 'What to change; absent fields stay.' },
);
export type WebhookPatch = Static<typeof WebhookPatch>;

const READ = {
  id: uuid('Id of the destination.'),
  ...{ name, kind },
  target: Type.String({
    description: 'URL or email address. Of a URL, only scheme and host are shown, as the rest may be a secret.',
  }),
  ...{ events, enabled },
  waiting: count('Number of deliveries that wait.'),
  dropped: count('Number of events that were dropped because too many waited.'),
  failures: count('Number of attempts in a row that failed.'),
  created_at: time('When the destination was created.'),
  created_by: uuid('User who created it.'),
};

export const WebhookRead = Type.Object(READ, { $id: 'Webhook', description: 'A destination of events.' });
export type WebhookRead = Static<typeof WebhookRead>;

const secret = orNull(
  Type.String({ description: 'Secret of the signatures, shown only now; null: its kind is not signed.' }),
);

export const CreatedWebhookRead = Type.Object(
  { ...READ, secret },
  { $id: 'CreatedWebhook', description: 'A destination, with its secret.' },
);
export type CreatedWebhookRead = Static<typeof CreatedWebhookRead>;

export const DeliveryRead = Type.Object(
  {
    id: Type.String({ description: 'Id of the delivery.' }),
    event: oneOf([...EVENT_TYPES, 'test'], 'Type of the event.'),
    state: oneOf(
      ['waiting', 'delivered', 'given_up'],
      '`given_up`: it failed for a day, or the destination was disabled.',
    ),
    attempts: count('Number of attempts.'),
    next_at: orNull(time('When the next attempt is due; null: there is none.')),
    tried_at: orNull(time('When the last attempt began; null: there was none.')),
    status: orNull(Type.Integer({ description: 'Status of its response; null: there was none.' })),
    ms: orNull(count('How many milliseconds it took.')),
    response: orNull(Type.String({ description: 'The beginning of the response, at most 200 characters.' })),
    error: orNull(Type.String({ description: 'Why it failed; null: it did not.' })),
    created_at: time('When the event happened.'),
  },
  { $id: 'WebhookDelivery', description: 'An event for a destination, and the result of the last attempt.' },
);
export type DeliveryRead = Static<typeof DeliveryRead>;
