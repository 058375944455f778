import type { Line } from '../../signal.js';

/** What a project is set to: whom it notifies, what it shows, keeps, masks and pays. */
export const settingLines = {
  monitorCreated: { level: 'info', message: 'Monitor created', when: 'The monitor `subject_id`.' },
  monitorChanged: {
    level: 'info',
    message: 'Monitor changed',
    when: 'The monitor `subject_id`: its name or condition, or whether it is enabled or muted.',
  },
  monitorDeleted: { level: 'info', message: 'Monitor deleted', when: 'The monitor `subject_id`.' },
  webhookCreated: { level: 'info', message: 'Destination created', when: 'The destination `subject_id` of events.' },
  webhookChanged: {
    level: 'info',
    message: 'Destination changed',
    when: 'The destination `subject_id`: its name, target or events, or whether it is enabled.',
  },
  webhookRotated: {
    level: 'info',
    message: 'Secret of a destination rotated',
    when: 'The secret of the destination `subject_id` was replaced.',
  },
  webhookDeleted: { level: 'info', message: 'Destination deleted', when: 'The destination `subject_id` of events.' },
  savedViewCreated: {
    level: 'info',
    message: 'Saved view created',
    when: 'The saved view `subject_id`.',
  },
  savedViewChanged: {
    level: 'info',
    message: 'Saved view changed',
    when: 'The name, query or columns of the saved view `subject_id`.',
  },
  savedViewDeleted: {
    level: 'info',
    message: 'Saved view deleted',
    when: 'The saved view `subject_id`.',
  },
  dashboardCreated: {
    level: 'info',
    message: 'Dashboard created',
    when: 'The dashboard `subject_id`.',
  },
  dashboardChanged: {
    level: 'info',
    message: 'Dashboard changed',
    when: 'The name, window or charts of the dashboard `subject_id`.',
  },
  dashboardDeleted: {
    level: 'info',
    message: 'Dashboard deleted',
    when: 'The dashboard `subject_id`, with its charts.',
  },
  retentionChanged: {
    level: 'info',
    message: 'Project retention changed',
    when: '`retention_days` is the new value; null: forever.',
  },
  maskingSet: {
    level: 'info',
    message: 'Masking rules set',
    when: 'From then on, these rules mask data before it is stored.',
  },
  modelBudgetSet: {
    level: 'info',
    message: 'Model budget set',
    when: "What the server's own model calls may cost in a month, from then on.",
  },
  priceSet: {
    level: 'info',
    message: 'Model price set',
    when: 'A project set or replaced a price.',
  },
  priceRemoved: {
    level: 'info',
    message: 'Model price removed',
    when: 'List prices apply again.',
  },
  repriceOrdered: {
    level: 'info',
    message: 'Recalculation of costs requested',
    when: 'The job `subject_id` recalculates costs of stored spans.',
  },
} satisfies Readonly<Record<string, Line>>;
