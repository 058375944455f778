import { randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect } from 'chai';
import { openMetadataStore } from '../../src/compose/metadata-store.js';
import { DATABASE_FILE } from '../../src/engine/metadata/database.js';
import { DatasetAudit } from '../../src/features/check/store/dataset-audit.js';
import { contentHash } from '../../src/features/datasets/files/row-set.js';
import { VersionWriter } from '../../src/features/datasets/version-writer.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { makeProject } from '../harness/projects.js';

/** What is broken by hand, and what the audit says of it. */
const DAMAGES: readonly (readonly [sql: string, ...found: string[]])[] = [
  ["UPDATE dataset_contents SET content = replace(content, 'ä', 'ö') WHERE seq = 1", 'dataset_content: content 1'],
  [
    'UPDATE dataset_rows SET content = 99 WHERE seq = 1',
    'sqlite_reference: a row of a dataset whose content is missing',
    'sqlite_reference: content of a dataset that no row has',
  ],
  ['UPDATE dataset_tag_moves SET number = 9', 'sqlite_reference: a tag of a dataset that points to a missing version'],
  ['UPDATE datasets SET last_version = 3', 'dataset_counts: versions that are not numbered from 1 to the newest'],
  [
    "DELETE FROM dataset_rows WHERE row_id = 'b' AND to_version IS NULL",
    'dataset_counts: a version that counts other rows than it has',
    'dataset_counts: a dataset that counts other bytes than it has',
    'sqlite_reference: content of a dataset that no row has',
  ],
  [
    'UPDATE dataset_versions SET added = 5 WHERE number = 2',
    'dataset_counts: a version that counts other changes than it made',
  ],
  ['UPDATE datasets SET bytes = bytes + 1', 'dataset_counts: a dataset that counts other bytes than it has'],
  ['UPDATE experiments SET dataset_version = 8', 'dataset_counts: an experiment on a missing version of its dataset'],
  ['UPDATE experiments SET row_count = 8', 'dataset_counts: an experiment that counts other rows than its version'],
  ["UPDATE jobs SET subject_id = 'nothing'", 'sqlite_reference: a run of a missing experiment'],
  ["UPDATE comparisons SET baseline_id = 'nothing'", 'sqlite_reference: a comparison of a missing experiment'],
  [
    'DELETE FROM judge_pin_corrections WHERE position = 0',
    'sqlite_reference: a kept version of a judge that lacks examples',
  ],
  [
    "UPDATE judge_pin_examples SET judge_id = 'another' WHERE seq = 1",
    'sqlite_reference: a kept version of a judge with an example of another judge',
  ],
  [
    "UPDATE judge_pins SET project_id = 'another'",
    'sqlite_reference: a kept version of a judge of another project',
    'sqlite_reference: a kept version of a judge of another project',
  ],
  [
    "UPDATE judge_pin_examples SET span_id = 'another' WHERE seq = 1",
    'sqlite_reference: a kept example that another span would be deleted with',
  ],
];

describe('the audit of datasets and experiments', () => {
  let dataDir: string;
  before(async () => {
    dataDir = await freshDataDir('spanhouse-audit-');
    openMetadataStore(dataDir).close();
    await fill();
  });
  after(() => removeDirectory(dataDir));

  /** A dataset with two versions, an experiment that a job runs, a comparison, and a version of a judge. */
  async function fill(): Promise<void> {
    const { projectId, userId } = makeProject(dataDir);
    const store = openMetadataStore(dataDir);
    const by = { created_at: 1, created_by: userId };
    const set = store.datasets.create(projectId, { ...by, name: 'set', description: '', roles: {} });
    if (set === undefined) throw new Error('The name is taken');
    const writer = new VersionWriter({
      ...{ datasets: store.datasets, staging: store.datasetStaging },
      requireSpace() {},
    });
    const row = (row_id: string, q: unknown) => {
      const content = JSON.stringify({ q });
      return { row_id, content, bytes: Buffer.byteLength(content), hash: contentHash({ q }) };
    };
    const draft = { columns: ['q'], mode: 'merge', message: '', created_by: userId, baseVersion: null } as const;
    await writer.write(projectId, set.id, { ...draft, rows: [row('a', 'ä'), row('b', 1)], remove: [] });
    await writer.write(projectId, set.id, { ...draft, rows: [row('b', 2), row('c', 1)], remove: ['a'] });
    store.datasets.moveTag(set.id, 'ci', 1, 1, userId);
    const { id } = store.experiments.create(projectId, {
      ...{ ...by, name: 'tried', description: '', dataset: set, dataset_version: 2, rows: 2, repetitions: 1 },
      ...{ subject: {}, parameters: {} },
    });
    store.close();
    const db = new BetterSqlite3(join(dataDir, DATABASE_FILE));
    db.pragma('foreign_keys = OFF');
    const insert = (table: string, values: Readonly<Record<string, unknown>>) =>
      db
        .prepare(
          `INSERT INTO ${table} (${Object.keys(values).join()}) VALUES (${Object.keys(values)
            .map(() => '?')
            .join()})`,
        )
        .run(...Object.values(values));
    const of = { project_id: projectId, created_at: 1, created_by: userId };
    insert('jobs', {
      ...of,
      id: 'j',
      kind: 'experiment_run',
      subject_id: id,
      state: 'queued',
      done: 0,
      summary: '{}',
      input: '{}',
    });
    insert('comparisons', {
      ...{ ...of, id: 'c', dataset_id: set.id, dataset_name: 'set', candidate_id: id, candidate_name: 'tried' },
      ...{ candidate_version: 2, baseline_id: id, baseline_name: 'tried', baseline_version: 2, verdict: 'passed' },
      ...{ request: '{}', found: '{}' },
    });
    const judge = randomUUID();
    db.exec(
      `INSERT INTO judges (${required(db, 'judges').join()}) VALUES (${required(db, 'judges')
        .map((name) => `'${{ id: judge, project_id: projectId, evaluation_type: 'binary' }[name] ?? 1}'`)
        .join()})`,
    );
    insert('judge_pins', {
      project_id: projectId,
      judge_id: judge,
      judge_version: 'v',
      prompt_version_id: 'p',
      revision: 1,
      created_at: 1,
    });
    for (const position of [0, 1]) {
      const example = JSON.stringify({ correction: { span_id: `s${position}` } });
      insert('judge_pin_examples', { id: `e${position}`, judge_id: judge, span_id: `s${position}`, example });
      insert('judge_pin_corrections', { pin: 1, position, example: position + 1 });
    }
    insert('experiment_judges', { experiment: 1, pin: 1, asked_at: 1 });
    db.close();
  }

  /** Of the columns of a table those that have to be given. */
  function required(db: BetterSqlite3.Database, table: string): string[] {
    const columns = db.pragma(`table_info(${table})`) as { name: string; notnull: number; dflt_value: unknown }[];
    return columns.filter(({ notnull, dflt_value }) => notnull === 1 && dflt_value === null).map(({ name }) => name);
  }

  async function found(sql: string): Promise<string[]> {
    const copy = join(dataDir, `${randomUUID()}.sqlite`);
    copyFileSync(join(dataDir, DATABASE_FILE), copy);
    const db = new BetterSqlite3(copy);
    try {
      db.pragma('foreign_keys = OFF');
      db.exec(sql);
      const audit = new DatasetAudit(db, { sample: null, seed: 1 });
      const said: string[] = [];
      let checked = 0;
      for await (const page of audit.pages()) {
        checked += page.checked;
        expect(await audit.again(page.suspects)).to.deep.equal(page.suspects);
        said.push(...page.suspects.map(({ flaw, detail }) => `${flaw}: ${detail ?? ''}`));
      }
      expect(checked).to.equal(await audit.total());
      return said;
    } finally {
      db.close();
    }
  }

  it('finds nothing where nothing is wrong', async () => {
    expect(await found('SELECT 1')).to.deep.equal([]);
  });

  for (const [sql, ...expected] of DAMAGES)
    it(`finds ${expected[0] ?? ''}`, async () => {
      expect(await found(sql)).to.have.members(expected);
    });
});
