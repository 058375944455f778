import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { judgeRow } from '../learning/judge-file.js';
import { freshIds, importInto, importNew, madeRecords, type Importing, type Members } from './made-records.js';

const ANN = { id: '0199a1b2-0000-7000-8000-0000000000a1', name: 'Ann' };
const BILLION = 1_000_000_000;
const HALF = 2 ** 52;

describe('numbers that servers count', function () {
  this.timeout(60_000);
  let server: TestServer;
  before(async () => {
    server = await bootServer();
  });
  after(() => server.dispose());

  const another = (): Importing => ({ url: server.url, ...makeProject(server.dataDir) });
  const request = ({ url, key }: Importing, method: string, path: string, body?: unknown) =>
    send(url + path, method, { key, ...(body === undefined ? {} : { body }) });
  const exported = async (of: Importing, part: string) =>
    (await request(of, 'GET', `/projects/${of.projectId}/export/${part}`)).json.records as Members[];

  it('are not taken from an import where no server has counted so far', async () => {
    const project = another();
    const { prompts, judges, corrections, prompt_versions } = madeRecords(freshIds(), ANN);
    const wrong: [string, Members, string][] = [
      ['prompts', prompts, 'last_version'],
      ['prompt_versions', prompt_versions, 'version'],
      ['judges', judges, 'corrections_revision'],
      ['judges', judges, 'corrections_last_removal'],
      ['corrections', corrections, 'revision'],
    ];
    for (const [part, record, field] of wrong) {
      const most = part.startsWith('prompt') ? BILLION : HALF;
      const { status, json } = await importInto(project, part, [{ ...record, [field]: most + 1 }]);
      expect([status, json.errors[0].pointer], part).to.deep.equal([422, `/0/${field}`]);
    }
  });

  it('say of a set of corrections that none was removed at a revision to come', async () => {
    const project = another();
    const { judges } = madeRecords(freshIds(), ANN);
    const record = { ...judges, corrections_revision: 1, corrections_last_removal: 5 };
    await importNew(project, 'judges', [record]);
    const [judge] = await exported(project, 'judges');
    expect(judge).to.include({ corrections_revision: 5, corrections_last_removal: 5 });
    expect((await importInto(project, 'judges', [judge])).json).to.deep.equal({ stored: 0, unchanged: 1 });
  });

  it('can be imported elsewhere, however far a server has counted on', async () => {
    const project = another();
    const ids = freshIds();
    const made = madeRecords(ids, ANN);
    const judge = { ...made.judges, corrections_revision: HALF, corrections_last_removal: HALF };
    const parts = ['prompts', 'feedback_links', 'evaluations', 'feedback', 'corrections'] as const;
    await importNew(project, 'judges', [judge]);
    for (const part of parts) await importNew(project, part, [made[part]]);
    const about = { thumbs_up: true, judge_id: ids.judge };
    const slug = String(made.prompts['slug']);
    // The feedback of another user on the same evaluation makes the next revision.
    const path = `/v1/prompts/${slug}/completions/${ids.span}/feedback`;
    const prompts = `/v1/tasks/judge/prompt/versions/ensure`;
    expect((await request(project, 'POST', prompts, { content: 'x' })).status).to.equal(200);
    const said = await request(project, 'POST', path.replace(slug, 'judge'), about);
    expect(said.status, said.text).to.equal(200);
    for (const part of ['judges', 'corrections']) {
      const records = await exported(project, part);
      expect(records.length, part).to.be.greaterThan(0);
      const { status, text } = await importInto(project, part, records);
      expect(status, text).to.equal(200);
    }
  });

  it('end for versions of a prompt with the highest that can be imported', async () => {
    const project = another();
    const { prompts } = madeRecords(freshIds(), ANN);
    await importNew(project, 'prompts', [{ ...prompts, last_version: BILLION - 1 }]);
    const slug = String(prompts['slug']);
    const ensure = (content: string) =>
      request(project, 'POST', `/v1/tasks/${slug}/prompt/versions/ensure`, { content });
    expect((await ensure('last')).json.version).to.equal(BILLION);
    const { status, json } = await ensure('one more');
    expect(status).to.equal(409);
    expect(json.detail).to.include(slug).and.to.include('has no version number left');
    expect((await ensure('last')).json.version).to.equal(BILLION);
    const listed = await request(project, 'GET', `/projects/${project.projectId}/prompts/${slug}/versions`);
    expect((listed.json as Members[]).map(({ version }) => version)).to.deep.equal([BILLION]);
    for (const part of ['prompts', 'prompt_versions']) {
      const again = await importInto(project, part, await exported(project, part));
      expect([again.status, again.json], part).to.deep.equal([200, { stored: 0, unchanged: 1 }]);
    }
  });
});

describe('a SQLite file with numbers from imports that nobody counted to', () => {
  it('has none of them any more but those of versions that are there', () => {
    const folder = mkdtempSync(join(tmpdir(), 'spanhouse-numbers-'));
    const database = openDatabase(join(folder, 'test.sqlite'));
    try {
      const files = readMigrationFiles(schemaDirectory('sqlite'));
      const before = files.findIndex(({ name }) => name === 'counted_numbers');
      migrate(database, files.slice(0, before));
      const sets = { sound: [7, 3], ahead: [1, 5], far: [9, 2 ** 53 - 1], most: [2 ** 53 - 1, 1] };
      const prompts = { sound: 7, none: 2 ** 53 - 1, within: 1e12, beyond: 1e12 };
      const version = (prompt: string, number: number) =>
        `INSERT INTO prompt_versions VALUES ('${prompt}${number}', '${prompt}', ${number}, '${prompt.padEnd(64, '0')}', NULL, '{}', 1, 'ann', 1, 'text');`;
      database.exec(`
        INSERT INTO users VALUES ('ann', 'Ann', NULL, 1);
        INSERT INTO projects (id, name, created_at) VALUES ('p', 'Project', 1);
        ${Object.keys(sets)
          .map((id) => judgeRow(id, 'p'))
          .join('\n')}
        INSERT INTO correction_sets (judge_id, revision, last_removal) VALUES
          ${Object.entries(sets)
            .map(([id, [revision, removal]]) => `('${id}', ${revision}, ${removal})`)
            .join()};
        INSERT INTO prompts (id, project_id, slug, created_at, last_version) VALUES
          ${Object.entries(prompts)
            .map(([id, last]) => `('${id}', 'p', '${id}', 1, ${last})`)
            .join()};
        ${version('sound', 7)} ${version('within', 4)} ${version('beyond', 1e12)}
      `);
      migrate(database, files);
      const rows = (sql: string) => database.prepare(sql).raw().all();
      expect(rows('SELECT judge_id, revision, last_removal FROM correction_sets ORDER BY judge_id')).to.deep.equal([
        ['ahead', 5, 5],
        ['far', HALF, HALF],
        ['most', HALF, 1],
        ['sound', 7, 3],
      ]);
      expect(rows('SELECT id, last_version FROM prompts ORDER BY id')).to.deep.equal([
        ['beyond', 1e12],
        ['none', 0],
        ['sound', 7],
        ['within', 4],
      ]);
    } finally {
      database.close();
      rmSync(folder, { recursive: true });
    }
  });
});
