import type { Webhook } from '../../src/features/webhooks/webhook.js';

/** A destination as it is stored. */
export function webhook(more: Pick<Webhook, 'id' | 'project_id' | 'kind' | 'target' | 'created_by'>): Webhook {
  return {
    ...{ name: 'mine', events: [], enabled: true, generation: 1, dropped: 0, failures: 0, paused_to: 0 },
    ...{ created_at: 1, ...more },
  };
}
