import { parseSelection } from '../http/list-query.js';
import type { IdentityService } from '../engine/identity/identity-service.js';
import type { Announce } from '../features/webhooks/event.js';
import { Measurer, MONITORED_LISTS, type MeasurerParts } from '../features/monitors/measurer.js';
import { MonitorLoop } from '../features/monitors/monitor-loop.js';
import { MonitorService } from '../features/monitors/monitor-service.js';
import { rendered, mailOf, secretOf } from '../features/webhooks/render.js';
import { createHttpSender } from '../features/webhooks/sending/http-sender.js';
import { createMailSender } from '../features/webhooks/sending/mail-sender.js';
import { WebhookLoop, type Send } from '../features/webhooks/webhook-loop.js';
import { WebhookService } from '../features/webhooks/webhook-service.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

/** The name of the server's secret that those of destinations are derived from. */
const SECRET = 'webhooks';

export interface OpenedWebhooks {
  readonly service: WebhookService;
  /** Call once projects are known that were deleted. */
  readonly start: (identity: Pick<IdentityService, 'isGone'>) => void;
}

/** Destinations of events, which those that cause events tell of them. */
export function openWebhooks(context: Context, { metadata, audit }: Storage): OpenedWebhooks {
  const { config, events, closers } = context;
  const secret = metadata.secret(SECRET);
  let isGone: IdentityService['isGone'] = () => false;
  const loop = new WebhookLoop({
    store: metadata.webhooks,
    send: createSend(context, secret),
    isGone: (projectId) => isGone(projectId),
    observer: events,
  });
  let hasBegun = false;
  const wake = () => (hasBegun ? loop.wake() : undefined);
  const hasMail = config.mail !== null;
  return {
    service: new WebhookService({ store: metadata.webhooks, audit, secret, hasMail, baseUrl: context.baseUrl, wake }),
    start(identity) {
      isGone = (projectId) => identity.isGone(projectId);
      closers.push(() => loop.close());
      hasBegun = true;
      loop.wake();
    },
  };
}

function createSend({ config, closers }: Context, secret: Buffer): Send {
  const post = createHttpSender({ allowedAddresses: config.webhookAddresses });
  const mail = config.mail === null ? null : createMailSender(config.mail);
  if (mail !== null) closers.push(() => mail.close());
  return async (due, signal) => {
    const { webhook } = due;
    if (webhook.kind !== 'email')
      return post(webhook.target, rendered(due, secretOf(secret, webhook), Date.now()), signal);
    if (mail === null) throw new Error('The operator has set no mail server (SMTP_URL and SMTP_FROM)');
    await mail.send(webhook.target, mailOf(due));
    return { status: null, response: null };
  };
}

/** Monitors, and the loop that looks at them. */
export function openMonitors(
  { events, closers }: Context,
  { metadata, traces, audit }: Storage,
  { announce, identity }: { readonly announce: Announce; readonly identity: Pick<IdentityService, 'isGone'> },
): MonitorService {
  const { monitors: store, countedOpinions: opinions } = metadata;
  const parse: MeasurerParts['parse'] = (list, query) =>
    parseSelection(MONITORED_LISTS[list], new URLSearchParams(query));
  const measurer = new Measurer({ statistics: traces.statistics, opinions, parse });
  const loop = new MonitorLoop({
    ...{ store, measurer, announce, observer: events },
    onCommit: (projectId, listener) => traces.tails.onCommit(projectId, listener),
    isGone: (projectId) => identity.isGone(projectId),
    together: (work) => metadata.together(work),
  });
  closers.push(() => loop.close());
  loop.start();
  return new MonitorService({ store, opinions, parse, measurer, loop, audit });
}
