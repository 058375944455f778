import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { MAILS_PER_HOUR } from '../../src/features/webhooks/sending/mail-quota.js';
import { SqliteWebhookStore } from '../../src/features/webhooks/store/webhook-store.js';
import { WebhookLoop } from '../../src/features/webhooks/webhook-loop.js';
import { uuid } from '../harness/checked-api.js';
import { until } from '../harness/until.js';
import { webhook } from './destination.js';

describe('mails of a project', function () {
  this.timeout(60_000);

  it('wait once there were many in an hour, and keep nothing else', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spanhouse-mails-'));
    const database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    database.exec(`INSERT INTO projects (id, name, created_at) VALUES ('project', 'p', 0), ('other', 'o', 0);
      INSERT INTO users (id, name, created_at) VALUES ('user', 'u', 0);`);
    const store = new SqliteWebhookStore(database);
    const ofUser = { created_by: 'user' };
    const destinations = [
      webhook({ id: uuid(1), ...ofUser, project_id: 'project', kind: 'email', target: 'a@example.com' }),
      webhook({ id: uuid(2), ...ofUser, project_id: 'project', kind: 'slack', target: 'https://example.com' }),
      webhook({ id: uuid(3), ...ofUser, project_id: 'other', kind: 'email', target: 'a@example.com' }),
    ];
    for (const each of destinations) store.insert(each, 20);
    const tell = (project_id: string, number: number) =>
      store.add(
        { id: uuid(number), project_id, type: 'test', summary: 's', data: {}, created_at: '2026-01-01T00:00:00Z' },
        null,
        Date.now() * 1000,
      );
    for (let number = 0; number < MAILS_PER_HOUR + 5; number += 1) tell('project', 10 + number);
    tell('other', 9);
    const sent: string[] = [];
    const ignored = () => undefined;
    const loop = new WebhookLoop({
      store,
      send: ({ webhook: { id } }) => {
        sent.push(id);
        return Promise.resolve({ status: null, response: null });
      },
      isGone: () => false,
      observer: {
        ...{ webhookDelivered: ignored, webhookFailed: ignored, webhookGivenUp: ignored },
        webhooksFailed: ({ error }) => expect.fail(String(error)),
      },
    });
    try {
      loop.wake();
      const paused = () => store.find('project', uuid(1))?.paused_to ?? 0;
      await until('mails wait', () => paused() > 0 && store.due(Date.now() * 1000, 1).length === 0);
      const count = (id: string) => sent.filter((each) => each === id).length;
      expect([1, 2, 3].map((number) => count(uuid(number)))).to.deep.equal([MAILS_PER_HOUR, MAILS_PER_HOUR + 5, 1]);
      expect(store.find('project', uuid(1))).to.include({ waiting: 5, failures: 0, dropped: 0 });
      expect(paused() / 1000 - Date.now()).to.be.within(60_000, 3_600_000);
    } finally {
      await loop.close();
      database.close();
      rmSync(folder, { recursive: true });
    }
  });
});
