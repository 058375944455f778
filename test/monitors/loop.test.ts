import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { restMs } from '../../src/engine/work/governor.js';
import { UNKNOWN } from '../../src/features/monitors/condition.js';
import type { Measurer } from '../../src/features/monitors/measurer.js';
import type { Monitor } from '../../src/features/monitors/monitor.js';
import { MonitorLoop } from '../../src/features/monitors/monitor-loop.js';
import { SqliteMonitorStore } from '../../src/features/monitors/store/monitor-store.js';
import { uuid } from '../harness/checked-api.js';
import { until } from '../harness/until.js';

const MONITOR: Monitor = {
  ...{ id: uuid(1), project_id: 'project', name: 'mine', revision: 1, enabled: true, muted_until: null },
  condition: {
    ...{ measure: 'count', list: 'spans', query: '', window_minutes: 5, score: null, judge_id: null },
    ...{ compared_with: 'constant', operator: 'below', threshold: 1, recovery_threshold: 1, minimum_count: 0 },
  },
  ...{ ...UNKNOWN, told: 'ok', since: 1, created_at: 1, created_by: 'user' },
};

describe('the loop that looks at monitors', function () {
  this.timeout(60_000);
  let folder: string;
  let database: Database;
  let store: SqliteMonitorStore;
  let loop: MonitorLoop | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'spanhouse-monitors-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    database.exec(`INSERT INTO projects (id, name, created_at) VALUES ('project', 'p', 0);
      INSERT INTO users (id, name, created_at) VALUES ('user', 'u', 0);`);
    store = new SqliteMonitorStore(database);
    store.insert(MONITOR, 1);
  });
  afterEach(async () => {
    await loop?.close();
    database.close();
    rmSync(folder, { recursive: true });
  });

  /** Begins to look at a project without spans. */
  function started(
    tookMs = 0,
    measureTogether?: Measurer['measureTogether'],
  ): { readonly loop: MonitorLoop; readonly looks: { from: number; to: number }[] } {
    const looks: { from: number; to: number }[] = [];
    const measure = async () => {
      const from = performance.now();
      await sleep(tookMs);
      looks.push({ from, to: performance.now() });
      return [{ figures: [[{ value: 0, count: 0, interval: null }]], isEmpty: true }];
    };
    const ignored = () => undefined;
    loop = new MonitorLoop({
      ...{ store, measurer: { measureTogether: measureTogether ?? measure } as unknown as Measurer, announce: ignored },
      onCommit: () => ignored,
      isGone: () => false,
      together: (work) => database.transaction(work)(),
      observer: { monitorsLooked: ignored, monitorFailed: ignored, monitorFired: ignored, monitorRecovered: ignored },
    });
    loop.start();
    return { loop, looks };
  }

  it('looks again when what it found could not be stored, although nothing was written', async () => {
    store.record = () => {
      Reflect.deleteProperty(store, 'record');
      throw new DomainError('unavailable', 'not now');
    };
    started();
    await until('it fires', () => store.find('project', MONITOR.id)?.state === 'firing');
  });

  it('measures each alone when several failed together, so that one fails no other', async () => {
    const bad = { ...MONITOR, id: uuid(2), name: 'bad', condition: { ...MONITOR.condition, query: 'status=error' } };
    store.insert(bad, 2);
    const asked: number[] = [];
    const { loop: looking } = started(0, async (groups) => {
      asked.push(groups.length);
      if (groups.some(({ query }) => query !== '')) throw new DomainError('unavailable', 'not this one');
      return groups.map(() => ({ figures: [[{ value: 0, count: 0, interval: null }]], isEmpty: true }));
    });
    await until('both are looked at', () => [MONITOR, bad].every((each) => looking.lastOf(each) !== null));
    expect(looking.lastOf(MONITOR)?.error).to.equal(null);
    expect(looking.lastOf(bad)?.error).to.be.a('string');
    expect(asked).to.deep.equal([2, 1, 1]);
  });

  it('rests between looks, however often a project changes its monitors', async () => {
    const began = performance.now();
    const { loop: looking, looks } = started(120);
    for (let revision = 1; revision < 5; revision += 1) {
      await until('it is looked at', () => looking.lastOf({ id: MONITOR.id, revision }) !== null);
      const condition = { ...MONITOR.condition, threshold: revision };
      store.change(MONITOR.id, { ...MONITOR, condition }, true, Date.now() * 1000);
      looking.changed('project');
    }
    expect(looks).to.have.length(4);
    // Each rest is longer than what may be skipped, so that one of three is.
    const skipped = looks.slice(1).map(({ from }, index) => {
      const before = looks[index] ?? { from: 0, to: 0 };
      return Math.max(0, restMs('follow', before.to - before.from) - (from - before.to));
    });
    const windows = 1 + Math.floor((performance.now() - began) / 10_000);
    expect(skipped.reduce((sum, each) => sum + each, 0)).to.be.below(windows * 2_000 + Math.max(...skipped) * windows);
  });
});
