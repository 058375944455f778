import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect } from 'chai';
import { DATABASE_FILE } from '../../src/engine/metadata/database.js';
import { untilGone } from '../deletion/tombstone-gc.js';
import { feedbackApi } from '../feedback/feedback-api.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { ConsoleBrowser } from '../identity/console-browser.js';
import { LinkedPrompt, Visitor } from '../review/linked-prompt.js';
import { freshIds, importInto, importNew, madeRecords, type Importing } from './made-records.js';

const HOUR = 3600 * 1e6;
/** Parts whose records name people, each with those that it belongs to. */
const NAMING = ['prompt_versions', 'tag_moves', 'feedback_links', 'judges', 'feedback', 'span_feedback'] as const;
const IN_ORDER = ['prompts', 'prompt_versions', 'tag_moves', 'feedback_links', 'judges', 'evaluations'] as const;
const ALL = [...IN_ORDER, 'feedback', 'span_feedback', 'corrections', 'comments'] as const;

describe('people whom imported records name', function () {
  this.timeout(120_000);
  let server: TestServer;
  let later = 0;
  const signIns = { now: () => Date.now() * 1000 + later, attemptsPerMinute: 1_000 };
  before(async () => {
    server = await bootServer({ signIns });
  });
  after(() => server.dispose());
  afterEach(() => {
    later = 0;
  });

  /** A project of its own in the same installation. */
  const another = (): Importing => ({ url: server.url, ...makeProject(server.dataDir) });
  const request = ({ url, key }: Importing, method: string, path: string, body?: unknown) =>
    send(url + path, method, { key, ...(body === undefined ? {} : { body }) });
  const signedIn = async () => (await new ConsoleBrowser(server).signIn({ key: server.key })).status;

  async function invited({ url, projectId, key }: Importing): Promise<{ id: string; name: string }> {
    const { status, json, text } = await send(`${url}/projects/${projectId}/invites`, 'POST', {
      body: { name: 'Ann' },
      key,
    });
    expect(status, text).to.equal(201);
    return json.user as { id: string; name: string };
  }

  function rows<T = unknown>(sql: string, ...values: readonly unknown[]): T[] {
    const database = new BetterSqlite3(join(server.dataDir, DATABASE_FILE), { readonly: true });
    try {
      return database.prepare<unknown[], T>(sql).all(...values);
    } finally {
      database.close();
    }
  }
  const isStored = (id: string) => rows('SELECT 1 FROM users WHERE id = ?', id).length === 1;

  async function deleted(project: Importing): Promise<void> {
    expect((await request(project, 'DELETE', `/projects/${project.projectId}`)).status).to.equal(202);
    await untilGone(server.dataDir, [project.projectId]);
  }

  for (const part of NAMING)
    it(`stay when they were invited and never came: ${part}`, async () => {
      const project = another();
      const ann = await invited(project);
      const somebody = { id: randomUUID(), name: 'Somebody' };
      const ids = freshIds();
      const [before, own] = [madeRecords(ids, somebody), madeRecords(ids, ann)];
      for (const each of ALL.slice(0, ALL.indexOf(part))) await importNew(project, each, [before[each]]);
      await importNew(project, part, [own[part]]);
      later = 2 * HOUR;
      expect(await signedIn()).to.equal(204);
      const keys = await request(project, 'GET', `/projects/${project.projectId}/api-keys`);
      expect(keys.json).to.have.length(1);
      const { records } = (await request(project, 'GET', `/projects/${project.projectId}/export/${part}`)).json;
      expect(records[0].created_by ?? records[0].pinned_by).to.deep.equal(ann);
      await server.stop();
      server = await bootServer({ dataDir: server.dataDir, signIns });
      await deleted({ ...project, url: server.url });
      expect([ann, somebody].map(({ id }) => isStored(id))).to.deep.equal([false, false]);
    });

  it('go with their project, also who made a link and gave feedback by it', async () => {
    const project = another();
    const ann = { id: randomUUID(), name: 'Ann' };
    const records = madeRecords(freshIds(), ann);
    for (const part of ALL) await importNew(project, part, [records[part]]);
    await deleted(project);
    expect(isStored(ann.id)).to.equal(false);
    expect(rows('SELECT 1 FROM imported_people WHERE project_id = ?', project.projectId)).to.deep.equal([]);
  });

  it('go with their project, also who came by a link and then made all', async () => {
    const project = another();
    const api = feedbackApi({ ...project, dataDir: server.dataDir });
    const prompt = await LinkedPrompt.make(api);
    const [span] = await prompt.complete(1);
    const { url } = await prompt.link();
    const review = { completion_id: span?.['id'], thumbs_up: true, reviewer_name: 'Ann' };
    expect((await new Visitor(url).postJson(review)).status).to.equal(200);
    const { records: given } = (await request(project, 'GET', `/projects/${project.projectId}/export/feedback`)).json;
    const ann = given[0].created_by as { id: string; name: string };
    const records = madeRecords(freshIds(), ann);
    for (const part of ALL) await importNew(project, part, [records[part]]);
    const { records: links } = (await request(project, 'GET', `/projects/${project.projectId}/export/feedback_links`))
      .json;
    expect(links.map(({ created_by }: any) => created_by.id)).to.include(ann.id);
    await deleted(project);
    expect(isStored(ann.id)).to.equal(false);
  });

  it('are made for what is stored alone', async () => {
    const project = another();
    const ann = { id: randomUUID(), name: 'Ann' };
    const ids = freshIds();
    const records = madeRecords(ids, ann);
    for (const part of ALL) await importNew(project, part, [records[part]]);
    const count = () => rows('SELECT 1 FROM imported_people WHERE project_id = ?', project.projectId).length;
    expect(count()).to.equal(1);
    const others = { id: randomUUID(), name: 'Ben' };
    for (const part of NAMING) {
      const record = {
        ...records[part],
        ...('pinned_by' in records[part] ? { pinned_by: others } : { created_by: others }),
      };
      expect((await importInto(project, part, [record])).json, part).to.deep.equal({ stored: 0, unchanged: 1 });
    }
    expect(count()).to.equal(1);
  });
});
