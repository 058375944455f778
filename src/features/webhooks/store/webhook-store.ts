import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { EventType } from '../event.js';
import {
  MAX_OVER,
  MAX_WAITING,
  type Attempt,
  type Delay,
  type Delivery,
  type DeliveryBody,
  type DueDelivery,
  type ListedWebhook,
  type Webhook,
  type WebhookSettings,
  type WebhookStore,
} from '../webhook.js';

interface Row extends Omit<Webhook, 'events' | 'enabled'> {
  readonly events: string;
  readonly enabled: 0 | 1;
}

type ListedRow = Row & Pick<ListedWebhook, 'waiting'>;
type DueRow = Row & Omit<DueDelivery, 'webhook'> & { readonly delivery_created_at: Micros };
type DeliveryRow = Omit<Delivery, 'last'> & Omit<Attempt, 'tried_at'> & { readonly tried_at: Micros | null };

const COLUMNS = [
  ...(['id', 'project_id', 'name', 'kind', 'target', 'events', 'enabled', 'generation', 'dropped'] as const),
  ...(['failures', 'paused_to', 'created_at', 'created_by'] as const),
] as const satisfies readonly (keyof Row)[];
const ALL = COLUMNS.map((name) => `w.${name}`).join(', ');
const WAITING = `(SELECT count(*) FROM webhook_deliveries AS d INDEXED BY webhook_deliveries_waiting
  WHERE d.webhook = w.seq AND d.state = 'waiting')`;

/** The delivery of a destination that is due first. */
const NEXT = `(SELECT n.seq FROM webhook_deliveries AS n INDEXED BY webhook_deliveries_waiting
  WHERE n.webhook = w.seq AND n.state = 'waiting' ORDER BY n.next_at LIMIT 1)`;
/** Of times: every one. */
const EVER = Number.MAX_SAFE_INTEGER;

interface Added {
  readonly project: string;
  readonly type: string;
  readonly only: string | null;
}

/** Longer than any pause, in microseconds: what is due later was put off by a clock that was ahead. */
const LONGEST_PAUSE = 2 * 3_600e6;

function prepare(db: Database) {
  return { ...destinationStatements(db), ...deliveryStatements(db) };
}

function destinationStatements(db: Database) {
  return {
    count: db.prepare<[string], number>('SELECT count(*) FROM webhooks WHERE project_id = ?').pluck(),
    insert: db.prepare<Row>(
      `INSERT INTO webhooks (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')})`,
    ),
    find: db.prepare<[string, string], ListedRow>(
      `SELECT ${ALL}, ${WAITING} AS waiting FROM webhooks AS w WHERE w.project_id = ? AND w.id = ?`,
    ),
    list: db.prepare<[string], ListedRow>(
      `SELECT ${ALL}, ${WAITING} AS waiting FROM webhooks AS w WHERE w.project_id = ? ORDER BY w.seq`,
    ),
    change: db.prepare<Pick<Row, 'id' | 'name' | 'target' | 'events' | 'enabled'>>(
      'UPDATE webhooks SET name = @name, target = @target, events = @events, enabled = @enabled WHERE id = @id',
    ),
    rotate: db
      .prepare<[string], number>('UPDATE webhooks SET generation = generation + 1 WHERE id = ? RETURNING generation')
      .pluck(),
    remove: db.prepare<[string]>('DELETE FROM webhooks WHERE id = ?'),
    wanting: db.prepare<Added, { seq: number; waiting: number }>(
      `SELECT w.seq, ${WAITING} AS waiting FROM webhooks AS w
       WHERE w.project_id = @project AND CASE WHEN @only IS NULL
         THEN w.enabled = 1 AND (w.events = '[]' OR EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = @type))
         ELSE w.id = @only END`,
    ),
    drop: db.prepare<[number]>('UPDATE webhooks SET dropped = dropped + 1 WHERE seq = ?'),
    succeeded: db.prepare<[string]>('UPDATE webhooks SET failures = 0, paused_to = 0 WHERE id = ?'),
    failed: db.prepare<{ id: string; paused_to: Micros }>(
      'UPDATE webhooks SET failures = failures + 1, paused_to = @paused_to WHERE id = @id',
    ),
    pause: db.prepare<{ id: string; paused_to: Micros }>('UPDATE webhooks SET paused_to = @paused_to WHERE id = @id'),
  };
}

function deliveryStatements(db: Database) {
  return {
    add: db.prepare<{ webhook: number; id: string; event: string; body: string; at: Micros }>(
      `INSERT INTO webhook_deliveries (id, webhook, event, body, state, next_at, created_at)
       VALUES (@id, @webhook, @event, @body, 'waiting', @at, @at)`,
    ),
    due: db.prepare<{ now: Micros; limit: number }, DueRow>(
      `SELECT ${ALL}, d.seq, d.event, d.body, d.attempts, d.created_at AS delivery_created_at
       FROM webhooks AS w JOIN webhook_deliveries AS d ON d.seq = ${NEXT}
       WHERE w.enabled = 1 AND (w.paused_to <= @now OR w.paused_to > @now + ${LONGEST_PAUSE})
         AND (d.next_at <= @now OR d.next_at > @now + ${LONGEST_PAUSE}) ORDER BY d.next_at LIMIT @limit`,
    ),
    nextAt: db
      .prepare<{ after: Micros }, Micros | null>(
        `SELECT min(max(d.next_at, w.paused_to)) FROM webhooks AS w JOIN webhook_deliveries AS d ON d.seq = ${NEXT}
         WHERE w.enabled = 1 AND max(d.next_at, w.paused_to) > @after`,
      )
      .pluck(),
    tried: db.prepare<Attempt & { seq: number; state: string; next_at: Micros | null }>(
      `UPDATE webhook_deliveries SET state = @state, attempts = attempts + 1, next_at = coalesce(@next_at, next_at),
         status = @status, ms = @ms, response = @response, error = @error, tried_at = @tried_at
       WHERE seq = @seq AND (state = 'waiting' OR @state = 'delivered')`,
    ),
    hurry: db.prepare<{ id: string; now: Micros }>(
      `UPDATE webhook_deliveries SET next_at = min(next_at, @now)
       WHERE webhook = (SELECT seq FROM webhooks WHERE id = @id) AND state = 'waiting'`,
    ),
    giveUp: db.prepare<{ id: string; upTo: Micros }>(
      `UPDATE webhook_deliveries SET state = 'given_up', error = coalesce(error, 'Not delivered in time')
       WHERE webhook = (SELECT seq FROM webhooks WHERE id = @id) AND state = 'waiting' AND created_at <= @upTo`,
    ),
    removeOver: db.prepare<{ id: string; most: number }>(
      `DELETE FROM webhook_deliveries WHERE seq IN (
         SELECT seq FROM webhook_deliveries WHERE webhook = (SELECT seq FROM webhooks WHERE id = @id)
           AND state <> 'waiting' ORDER BY seq DESC LIMIT -1 OFFSET @most)`,
    ),
    removeDeliveries: db.prepare<[string]>(
      'DELETE FROM webhook_deliveries WHERE webhook = (SELECT seq FROM webhooks WHERE id = ?)',
    ),
    deliveries: db.prepare<Window & { id: string }, DeliveryRow>(
      `SELECT d.id, d.event, d.state, d.attempts, d.next_at, d.created_at, d.tried_at, d.status, d.ms, d.response, d.error
       FROM webhooks AS w JOIN webhook_deliveries AS d ON d.webhook = w.seq
       WHERE w.id = @id ORDER BY d.seq DESC LIMIT @limit OFFSET @offset`,
    ),
  };
}

/** Destinations, and the outbox of each, in the SQLite file. */
export class SqliteWebhookStore implements WebhookStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  insert(webhook: Webhook, most: number): boolean {
    return transact(this.#db, () => {
      if ((this.#statements.count.get(webhook.project_id) ?? 0) >= most) return false;
      const { events, enabled } = webhook;
      this.#statements.insert.run({ ...webhook, events: JSON.stringify(events), enabled: enabled ? 1 : 0 });
      return true;
    });
  }

  find(projectId: string, id: string): ListedWebhook | undefined {
    const row = guarded(() => this.#statements.find.get(projectId, id));
    return row && toListed(row);
  }

  list(projectId: string): ListedWebhook[] {
    return guarded(() => this.#statements.list.all(projectId)).map(toListed);
  }

  change(id: string, { name, target, events, enabled }: WebhookSettings, now: Micros): void {
    const row = { id, name, target, events: JSON.stringify(events), enabled: enabled ? (1 as const) : (0 as const) };
    transact(this.#db, () => {
      this.#statements.change.run(row);
      // What waits is tried at once: it may have another target.
      this.#statements.succeeded.run(id);
      this.#statements.hurry.run({ id, now });
      if (!enabled) this.#statements.giveUp.run({ id, upTo: EVER });
    });
  }

  rotate(id: string): number {
    return guarded(() => this.#statements.rotate.get(id) ?? 0);
  }

  remove(id: string): void {
    transact(this.#db, () => {
      this.#statements.removeDeliveries.run(id);
      this.#statements.remove.run(id);
    });
  }

  add(body: DeliveryBody, only: string | null, at: Micros): number {
    const { wanting, drop, add } = this.#statements;
    return transact(this.#db, () => {
      const told = wanting.all({ project: body.project_id, type: body.type, only });
      const text = JSON.stringify(body);
      let count = 0;
      for (const { seq, waiting } of told) {
        if (waiting >= MAX_WAITING) {
          drop.run(seq);
          continue;
        }
        count += 1;
        // Each has an id of its own in the log; the event's is in the body.
        add.run({ webhook: seq, id: `${body.id}.${seq}`, event: body.type, body: text, at });
      }
      return count;
    });
  }

  due(now: Micros, limit: number): DueDelivery[] {
    const rows = guarded(() => this.#statements.due.all({ now, limit }));
    return rows.map(({ seq, event, body, attempts, delivery_created_at, ...webhook }) => ({
      ...{ seq, event, body, attempts, created_at: delivery_created_at },
      webhook: toWebhook(webhook),
    }));
  }

  pause(id: string, to: Micros): void {
    guarded(() => this.#statements.pause.run({ id, paused_to: to }));
  }

  nextAt(after: Micros): Micros | null {
    return guarded(() => this.#statements.nextAt.get({ after }) ?? null);
  }

  delivered({ seq, webhook: { id } }: DueDelivery, attempt: Attempt): void {
    const { tried, succeeded, removeOver } = this.#statements;
    transact(this.#db, () => {
      tried.run({ seq, ...attempt, state: 'delivered', next_at: null });
      succeeded.run(id);
      removeOver.run({ id, most: MAX_OVER });
    });
  }

  failed({ seq, webhook: { id } }: DueDelivery, attempt: Attempt, { next_at, paused_to, given_up_to }: Delay): number {
    const { tried, failed, giveUp, removeOver } = this.#statements;
    return transact(this.#db, () => {
      // It may have been given up meanwhile, as the destination was disabled.
      if (tried.run({ seq, ...attempt, state: 'waiting', next_at }).changes === 0) return 0;
      failed.run({ id, paused_to });
      const { changes } = giveUp.run({ id, upTo: given_up_to });
      if (changes > 0) removeOver.run({ id, most: MAX_OVER });
      return changes;
    });
  }

  refused({ seq, webhook: { id, paused_to } }: DueDelivery, attempt: Attempt): boolean {
    const { tried, failed, removeOver } = this.#statements;
    return transact(this.#db, () => {
      if (tried.run({ seq, ...attempt, state: 'given_up', next_at: null }).changes === 0) return false;
      failed.run({ id, paused_to });
      removeOver.run({ id, most: MAX_OVER });
      return true;
    });
  }

  deliveries(id: string, window: Window): Delivery[] {
    return guarded(() => this.#statements.deliveries.all({ id, ...window })).map(toDelivery);
  }
}

function toWebhook({ events, enabled, ...row }: Row): Webhook {
  return { ...row, events: JSON.parse(events) as EventType[], enabled: enabled === 1 };
}

function toListed({ waiting, ...row }: ListedRow): ListedWebhook {
  return { ...toWebhook(row), waiting };
}

function toDelivery({ tried_at, status, ms, response, error, ...row }: DeliveryRow): Delivery {
  return { ...row, last: tried_at === null ? null : { tried_at, status, ms, response, error } };
}
