import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { JUDGE_TAG } from '../../src/engine/schema/own-calls.js';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { openMetadataStore, type MetadataStore } from '../../src/compose/metadata-store.js';
import { freshDataDir } from '../harness/fresh-directory.js';
import { makeProject } from '../harness/projects.js';
import { storedSpan } from '../harness/span.js';
import { openStore, type OpenedStore } from '../harness/trace-store.js';
import { PLAIN_JUDGE } from '../judges/fixture.js';
import { allOf, openDeletions } from './service.js';

const SENT_AT_ONCE = 10_000;
/** Calls that may be noted in one turn of the event loop. */
const NOTED = 2_000;
const NOW = Date.now() * 1000;

/** A span that so many calls of judges showed. */
export function shownByCalls(calls: number): void {
  describe(`a span that ${calls} calls of judges showed`, function () {
    this.timeout(180_000);
    remove(calls);
  });
}

function remove(calls: number): void {
  let dataDir: string;
  let opened: OpenedStore;
  let metadata: MetadataStore;
  let database: Database;

  before(async () => {
    dataDir = await freshDataDir('spanhouse-shown-');
    metadata = openMetadataStore(dataDir);
    database = openDatabase(join(dataDir, DATABASE_FILE));
    opened = await openStore();
  });
  after(async () => {
    database.close();
    metadata.close();
    await opened.dispose();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('is deleted with all of them, which are noted by portions @slow', async () => {
    const { projectId: project, userId: user } = makeProject(dataDir);
    const judge = randomUUID();
    metadata.judges.insert(
      {
        ...{ id: judge, project_id: project, name: 'one', task_slug: 'one', ...PLAIN_JUDGE },
        ...{ judged_since: 0, created_at: NOW, created_by: user, updated_at: NOW, deleted_at: null },
      },
      null,
    );
    const span = storedSpan();
    await opened.store.log.append({ projectId: project, spans: [span] });
    for (let sent = 0; sent < calls; sent += SENT_AT_ONCE) {
      const traces = Array.from({ length: 10 }, () => randomUUID());
      await opened.store.log.append({
        projectId: project,
        spans: Array.from({ length: Math.min(SENT_AT_ONCE, calls) }, (_, index) =>
          storedSpan({
            trace_id: traces[index % 10] ?? '',
            tags: { [JUDGE_TAG]: judge },
            attributes: { shown: span.id },
          }),
        ),
      });
    }
    const run = (statement: string) => database.prepare<object>(statement).run({ project, user, judge, span: span.id });
    run("INSERT INTO prompts (id, project_id, slug, created_at) VALUES ('prompt', @project, 'one', 1)");
    run(`INSERT INTO feedback (id, project_id, prompt_id, completion_id, user_id, judge_id, thumbs_up, metadata, created_at, updated_at)
      VALUES ('said', @project, 'prompt', @span, @user, @judge, 1, '{}', 1, 1)`);

    let most = 0;
    const store = metadata.deletions;
    const note = store.note.bind(store);
    store.note = (deletion, items) => {
      most = Math.max(most, items.length);
      note(deletion, items);
    };
    const service = openDeletions(metadata, opened.store.deletions);
    try {
      expect(await service.delete(project, { kind: 'span', id: span.id, by: null })).to.equal(true);
    } finally {
      await service.close();
    }
    expect(most).to.be.within(1, NOTED);
    expect(await allOf(opened.store.deletions.callsShowing(project, [judge], [span.id]))).to.deep.equal([]);
  });
}
