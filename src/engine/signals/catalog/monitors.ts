import { catalogOf, measured, signal } from '../signal.js';

/** An attempt that failed. */
interface FailedDelivery {
  readonly project: string;
  readonly id: string;
  readonly status: number | null;
  readonly seconds: number;
  /** What the network or the mail server said; null: nothing more than the project is told. */
  readonly reason: string | null;
}

/** Monitors, and webhooks that are told of events. */
export const monitorCatalog = catalogOf({
  monitorsLooked: measured<{ seconds: number; monitors: number }>(({ monitorLooks, monitorDuration }, look) => {
    monitorLooks.inc(look.monitors);
    monitorDuration.observe(look.seconds);
  }),
  monitorFired: signal<{ project: string; id: string }>({
    level: 'info',
    message: 'Monitor fired',
    when: 'The monitor `monitor_id` fired, and destinations are notified.',
    log: ({ project, id }) => ({ project_id: project, monitor_id: id }),
    count: ({ monitorsFired }) => monitorsFired.inc(),
  }),
  monitorRecovered: signal<{ project: string; id: string }>({
    level: 'info',
    message: 'Monitor recovered',
    when: 'The monitor `monitor_id` stopped firing, and destinations are notified.',
    log: ({ project, id }) => ({ project_id: project, monitor_id: id }),
  }),
  monitorFailed: signal<{ project: string; error: unknown }>({
    level: 'warn',
    message: 'Could not check monitors; retrying',
    when: 'A store did not respond, a read met its limit, or filters of a monitor are no longer valid after an upgrade.',
    action: 'Nothing; if it repeats, check /readyz and the error of the monitor',
    log: ({ project, error }) => ({ project_id: project, error }),
    count: ({ monitorFailures }) => monitorFailures.inc(),
  }),
  webhookDelivered: measured<{ seconds: number }>(({ webhookDeliveries, webhookDuration }, { seconds }) => {
    webhookDeliveries.inc({ result: 'delivered' });
    webhookDuration.observe(seconds);
  }),
  webhookFailed: signal<FailedDelivery>({
    level: 'info',
    message: 'Webhook was not delivered; retrying',
    when: 'The destination `webhook_id` did not respond, or answered another `status` than 2xx; of an email, `reason` is what the mail server said.',
    log: ({ project, id, status, reason }) => ({
      ...{ project_id: project, webhook_id: id, status },
      ...(reason !== null && { reason }),
    }),
    count({ webhookDeliveries, webhookDuration }, { seconds }) {
      webhookDeliveries.inc({ result: 'failed' });
      webhookDuration.observe(seconds);
    },
  }),
  webhookGivenUp: signal<{ project: string; id: string; deliveries: number }>({
    level: 'warn',
    message: 'Webhook given up',
    when: 'The destination `webhook_id` took none of these `deliveries` for a day, or its mail server refused an email for good.',
    action: 'Tell whoever runs the project: the log of the deliveries says why',
    log: ({ project, id, deliveries }) => ({ project_id: project, webhook_id: id, deliveries }),
    count: ({ webhookDeliveries }, { deliveries }) => webhookDeliveries.inc({ result: 'given_up' }, deliveries),
  }),
  webhooksFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not deliver webhooks; retrying',
    when: 'The metadata store did not respond. Waiting deliveries are sent later.',
    action: 'Nothing; if it repeats, check /readyz and disk space',
    log: ({ error }) => ({ error }),
  }),
});
