import { mkdtemp, rename, rm } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLogger } from '../../src/engine/signals/logger.js';
import { createMetrics } from '../../src/engine/signals/metrics.js';
import { quietSignals } from '../harness/signals.js';
import { bootServer } from '../harness/server.js';
import { admin } from './admin.js';
import { backupMetric, metricAbove } from './metrics.js';

const AHEAD = '20991231T000000Z';
const LAST_SUCCESS = 'last_success_timestamp_seconds';

describe('a backup that is dated ahead of the clock', function () {
  this.timeout(120_000);

  it('holds up neither further ones nor alerts, and has none pruned in its stead', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spanhouse-ahead-'));
    const to = join(folder, 'backups');
    const env = { BACKUP_EVERY: '1d', BACKUP_TO: to, BACKUP_KEEP: '1' };
    const stream = new PassThrough();
    let log = '';
    stream.on('data', (piece: Buffer) => (log += String(piece)));
    let server = await bootServer({ env });
    try {
      await metricAbove(server, LAST_SUCCESS, 0);
      await server.stop();
      const [{ id }] = await admin(server.dataDir, 'list-backups', to);
      await rename(join(to, 'backups', `${id}.json`), join(to, 'backups', `${AHEAD}.json`));

      const started = Math.floor(Date.now() / 1000);
      const logger = createLogger({ level: 'warn', format: 'json' }, stream);
      server = await bootServer({ dataDir: server.dataDir, env, logger });
      await metricAbove(server, LAST_SUCCESS, 0);
      expect(await backupMetric(server, LAST_SUCCESS)).to.be.within(started, Date.now() / 1000);
      const said = log
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter(({ event }) => event.startsWith('backup'));
      expect(said.map(({ event, backups, count }) => ({ event, backups, count }))).to.deep.equal([
        { event: 'backupDatedAhead', backups: AHEAD, count: 1 },
      ]);

      const made = await admin(server.dataDir, 'backup', to, '--keep', '1');
      expect(made).to.not.have.property('note');
      const [kept, ahead, ...others] = await admin(server.dataDir, 'list-backups', to);
      expect([kept.id, ahead.id, others]).to.deep.equal([made.id, AHEAD, []]);
      expect(kept).to.not.have.property('problem');
      expect(ahead.problem).to.contain('dated ahead of the clock');
      const pruned = await admin(server.dataDir, 'prune-backups', to, '--keep', '1');
      expect(pruned).to.include({ backups: 2 });
      expect(pruned.note).to.contain('1 of them are dated ahead');
    } finally {
      await server.dispose();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is unknown to metrics, also when the clock was set back meanwhile', async () => {
    const metrics = createMetrics();
    const events = quietSignals(metrics);
    const lastSuccess = async () => {
      const { values } = await metrics.registry.getSingleMetric(`spanhouse_backup_${LAST_SUCCESS}`)!.get();
      return values.map(({ value }) => value);
    };
    const found = (at: number) => events.backupFound({ at, ahead: [], to: '/mnt/backups' });
    found(Date.now() + 3_600_000);
    expect(await lastSuccess()).to.deep.equal([0]);
    found(1_000_000);
    expect(await lastSuccess()).to.deep.equal([1000]);
    found(500_000);
    expect(await lastSuccess(), 'the last that is known').to.deep.equal([1000]);
  });
});
