import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DomainError } from '../../src/domain/errors.js';
import type { CalculatedSpan, CalculatedSpans } from '../../src/domain/price/calculated-spans.js';
import { RepriceService } from '../../src/domain/price/reprice-service.js';
import { readMigrationFiles } from '../../src/storage/migration-files.js';
import { schemaDirectory } from '../../src/storage/schema-files.js';
import { openDatabase, type Database } from '../../src/storage/sqlite/database.js';
import { migrate } from '../../src/storage/sqlite/migrations.js';
import { SqliteRepriceStore } from '../../src/storage/sqlite/reprice-store.js';

describe('jobs that price spans anew', function () {
  this.timeout(20_000);
  let folder: string;
  let database: Database;
  let service: RepriceService;
  /** Pages, in the order in which they were read: project and size. */
  const pages: [project: string, limit: number][] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-reprice-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    database.exec(
      `INSERT INTO projects (id, name, created_at) VALUES ('broken', 'b', 0), ('long', 'l', 0), ('short', 's', 0)`,
    );
    pages.length = 0;
  });
  afterEach(async () => {
    await service.close();
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

  function open(): RepriceService {
    service = new RepriceService({
      store: new SqliteRepriceStore(database),
      spans,
      price: () => null,
      attachments: {} as never,
      observer: { repriceAdvanced: () => undefined, repriceFinished: () => undefined, repriceFailed: () => undefined },
      maxAttempts: 4,
      retryBaseMs: 5,
      pageSize: 64,
    });
    return service;
  }
  const ended = async (projectId: string, id: string) => {
    for (;;) {
      const job = service.get(projectId, id);
      if (job.finished_at !== null) return job;
      await sleep(5);
    }
  };

  it('go on page by page in turn, and none that fails keeps another waiting', async () => {
    open();
    const broken = service.create('broken', {});
    service.create('long', {});
    const short = service.create('short', {});
    expect(await ended('short', short.id)).to.include({ status: 'done', examined: 1 });
    expect(pages.filter(([project]) => project === 'long').length, 'pages of another before').to.be.lessThan(6);
    const { status, error } = await ended('broken', broken.id);
    expect([status, error]).to.deep.equal(['failed', 'Given up after 4 attempts: a store did not answer']);
    const tried = pages.filter(([project]) => project === 'broken').map(([, limit]) => limit);
    expect(tried, 'fewer spans each time').to.deep.equal([64, 16, 4, 1]);
  });
});
