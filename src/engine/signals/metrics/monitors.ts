import { REQUEST_SECONDS, type MetricMaker } from './maker.js';

/** Monitors, and the webhooks that tell of them. */
export function monitorMetrics({ histogram, counter }: MetricMaker) {
  return {
    monitorLooks: counter('spanhouse_monitor_checks_total', 'Monitors that were checked.'),
    monitorDuration: histogram(
      'spanhouse_monitor_check_duration_seconds',
      'Duration of a check of monitors that are measured together.',
      REQUEST_SECONDS,
    ),
    monitorsFired: counter('spanhouse_monitors_fired_total', 'How often monitors fired.'),
    monitorFailures: counter('spanhouse_monitor_failures_total', 'Looks at monitors that failed; each is retried.'),
    webhookDeliveries: counter(
      'spanhouse_webhook_deliveries_total',
      'Attempts to deliver webhooks, and deliveries that were given up, by result.',
      ['result'],
    ),
    webhookDuration: histogram(
      'spanhouse_webhook_duration_seconds',
      'Duration of an attempt to deliver a webhook.',
      REQUEST_SECONDS,
    ),
  };
}
