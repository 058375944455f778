import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { DeletionService } from '../../src/features/deletion/deletion-service.js';
import { openMetadataStore, type MetadataStore } from '../../src/compose/metadata-store.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { freshDataDir } from '../harness/fresh-directory.js';
import { makeProject } from '../harness/projects.js';
import { storedSpan } from '../harness/span.js';
import { statementOf } from '../harness/statement.js';
import { openStore, type OpenedStore } from '../harness/trace-store.js';
import { openDeletions } from './service.js';

const START = Date.UTC(2026, 0, 31, 12) * 1000;

/** Nothing leaves the index of words while its merges are stopped. */
describe('a deletion while ClickHouse does not rewrite the index of words', function () {
  this.timeout(60_000);
  let dataDir: string;
  let opened: OpenedStore;
  let metadata: MetadataStore;
  let project: string;
  const span = storedSpan({ started_at: START });
  const services: DeletionService[] = [];

  before(async () => {
    dataDir = await freshDataDir('spanhouse-hidden-');
    metadata = openMetadataStore(dataDir);
    project = makeProject(dataDir).projectId;
    opened = await openStore();
    await opened.store.log.append({ projectId: project, spans: [span] });
    const at = `fromUnixTimestamp64Micro(${START}, 'UTC')`;
    await opened.client.command(
      statementOf(`INSERT INTO span_words (project_id, started_from, started_to, spans, indexed_to, complete, words, figures)
       SELECT '${project}', ${at}, ${at}, 1, 1, 1, '\\nhurdygurdy\\n', ''`),
    );
    await opened.client.command(sql`SYSTEM STOP MERGES span_words`);
  });
  after(async () => {
    for (const service of services) await service.close();
    metadata.close();
    await opened.dispose();
    await rm(dataDir, { recursive: true, force: true });
  });

  function started(): DeletionService {
    const service = openDeletions(metadata, opened.store.deletions);
    services.push(service);
    return service;
  }

  const hasWords = async () =>
    (await opened.client.query(sql`SELECT 1 FROM span_words WHERE position(words, 'hurdygurdy') > 0`)).length > 0;

  it('is answered, and waited for by no start, when nobody is shown anything of it, and completed later', async () => {
    const service = started();
    expect(await service.delete(project, { kind: 'span', id: span.id, by: null })).to.equal(true);
    expect(await opened.store.deletions.below(project, 'span', span.id)).to.equal(null);
    expect(await hasWords()).to.equal(true);
    expect(metadata.deletions.pending()).to.have.length(1);
    await service.close();

    const next = started();
    await next.resume();
    expect(metadata.deletions.pending()).to.have.length(1);
    await opened.client.command(sql`SYSTEM START MERGES span_words`);
    while (metadata.deletions.pending().length > 0) await sleep(20);
    expect(await hasWords()).to.equal(false);
  });
});
