import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { NO_AUDIT_LOG } from '../../src/engine/identity/audit.js';
import { DomainError } from '../../src/engine/errors.js';
import type { CalculatedSpan, CalculatedSpans } from '../../src/engine/traces/model/prices/calculated-spans.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { JobRunner } from '../../src/engine/work/job-runner.js';
import { RETRIES } from '../../src/engine/work/backoff.js';
import { REPRICE } from '../../src/features/prices/reprice-job.js';
import { RepriceService } from '../../src/features/prices/reprice-service.js';
import { repriceWork } from '../../src/features/prices/reprice-work.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteJobStore } from '../../src/engine/work/store/job-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';

const BY = { user_id: 'user', key_id: 'key', scopes: new Set<never>(), role: null, sign_in_id: null };

describe('jobs that price spans anew', function () {
  this.timeout(20_000);
  let folder: string;
  let database: Database;
  let runner: JobRunner;
  let service: RepriceService;
  /** Pages, in the order in which they were read: project and size. */
  const pages: [project: string, limit: number][] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-reprice-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    database.exec(
      `INSERT INTO projects (id, name, created_at) VALUES ('broken', 'b', 0), ('long', 'l', 0), ('short', 's', 0);
       INSERT INTO users (id, name, created_at) VALUES ('user', 'u', 0)`,
    );
    pages.length = 0;
  });
  afterEach(async () => {
    await runner.close();
    database.close();
    await rm(folder, { recursive: true });
  });

  /** Spans without end in one project, few in another, none that can be read in the third. */
  const spans: CalculatedSpans = {
    count: async () => 10,
    async open(projectId) {
      return {
        async page(_scope, _after, limit) {
          pages.push([projectId, limit]);
          await sleep(1);
          if (projectId === 'broken') throw new DomainError('unavailable', 'the query met its limit of time');
          const count = projectId === 'long' ? limit : 1;
          return Array.from({ length: count }, () => ({ cost: null, attributes: {} }) as unknown as CalculatedSpan);
        },
        read: async () => [],
        replace: async () => [],
        close: () => undefined,
      };
    },
  };

  function open(from = spans): void {
    const jobs = new SqliteJobStore(database);
    runner = new JobRunner({
      store: jobs,
      observer: { jobFinished: () => undefined, jobFailed: () => undefined, jobRetried: () => undefined },
      limits: { atOnce: 1, ofProject: 1, maxAttempts: 4 },
      retry: { ...RETRIES.work, firstMs: 5 },
    });
    const work = repriceWork({
      spans: from,
      price: () => null,
      modelName: (_project, provider, model) => ({ provider, model }),
      attachments: {
        inspect: async (sound) => ({ flaws: [], sound, found: new Map(), media: new Map() }),
        detach: async (_project, { sound }) => ({
          spans: sound,
          stored: () => Promise.resolve(),
          failed: () => Promise.resolve(),
        }),
      },
      observer: { repriceAdvanced: () => undefined },
      pageSize: 64,
    });
    runner.register(REPRICE, work);
    runner.start();
    service = new RepriceService({ jobs, runner, audit: NO_AUDIT_LOG });
  }
  const create = (project_id: string) => service.create({ ...BY, project_id }, {});
  const ended = async (projectId: string, id: string) => {
    for (;;) {
      const job = service.get(projectId, id);
      if (job.finished_at !== null) return job;
      await sleep(5);
    }
  };

  it('go on page by page in turn, and none that fails keeps another waiting', async () => {
    open();
    const broken = create('broken');
    create('long');
    const short = create('short');
    expect(await ended('short', short.id)).to.include({ state: 'done', done: 1 });
    const before = pages.slice(
      0,
      pages.findIndex(([project]) => project === 'short'),
    );
    expect(before.filter(([project]) => project === 'long').length, 'pages of another before').to.be.lessThan(6);
    const { state, error } = await ended('broken', broken.id);
    expect([state, error]).to.deep.equal(['failed', 'Failed after 4 attempts: a store did not respond']);
    const tried = pages.filter(([project]) => project === 'broken').map(([, limit]) => limit);
    expect(tried, 'fewer spans each time').to.deep.equal([64, 16, 4, 1]);
  });

  /** Spans with a wrong cost, each too large to be stored together with another; every other attempt to store one fails. */
  function failingSpans(count: number): CalculatedSpans {
    const costs: (number | null)[] = Array.from({ length: count }, () => 1);
    let attempts = 0;
    return {
      count: async () => count,
      open: async () => ({
        page: async () =>
          costs.map((cost, version) => ({ version, cost, bytes: 1e9, attributes: {} }) as unknown as CalculatedSpan),
        read: async (some) =>
          (some as readonly CalculatedSpan[]).map(({ version, cost }) => ({
            version,
            span: { cost } as unknown as Span,
          })),
        async replace(some) {
          attempts += 1;
          if (attempts % 2 === 0) throw new DomainError('unavailable', 'the store does not answer');
          for (const { version, span } of some) costs[version] = span.cost;
          return some.map(() => 1);
        },
        close: () => undefined,
      }),
    };
  }

  it('count every span that got another cost, also when the rest of its page fails', async () => {
    open(failingSpans(3));
    const job = create('short');
    expect(await ended('short', job.id)).to.include({ state: 'done', changed: 3 });
  });

  it('count what they changed before they are given up', async () => {
    open(failingSpans(10));
    const job = create('short');
    expect(await ended('short', job.id)).to.include({ state: 'failed', changed: 4 });
  });

  it('end when they are cancelled, and others go on', async () => {
    open();
    const long = create('long');
    while (service.get('long', long.id).done < 200) await sleep(5);
    const cancelled = service.cancel('long', long.id);
    expect(cancelled).to.include({ state: 'cancelled', total: 10 });
    expect(() => service.cancel('long', long.id)).to.throw(DomainError, 'already ended');
    expect(await ended('short', create('short').id)).to.include({ state: 'done', done: 1 });
    const pagesOfLong = () => pages.filter(([project]) => project === 'long').length;
    const before = pagesOfLong();
    await sleep(20);
    expect(pagesOfLong()).to.equal(before);
    expect(service.get('long', long.id).state).to.equal('cancelled');
  });

  it('count what was being changed when they are cancelled', async () => {
    open({
      ...failingSpans(3),
      async open(projectId) {
        const revision = await failingSpans(3).open(projectId);
        return {
          ...revision,
          async replace(some) {
            service.cancel('short', job.id);
            return revision.replace(some);
          },
        };
      },
    });
    const job = create('short');
    await ended('short', job.id);
    await runner.close();
    expect(service.get('short', job.id)).to.include({ state: 'cancelled', changed: 1, done: 0 });
  });
});
