import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { openMetadataStore, type MetadataStore } from '../../src/compose/metadata-store.js';
import { freshDataDir } from '../harness/fresh-directory.js';
import { unhurried } from '../harness/program.js';

const PEOPLE = 2_000;
const ROWS_OF_OTHERS = 200_000;
const AT = 1_700_000_000_000_000;

/** Columns that name rows of other tables without an index that begins with them: each removal there reads all rows here. */
function unindexed(db: Database): string[] {
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
  return tables.flatMap((table) => {
    const named = db.pragma(`foreign_key_list(${table})`) as { from: string; table: string }[];
    return named
      .filter(({ from }) => {
        const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT 1 FROM ${table} WHERE ${from} = ?`).all('x');
        return (plan as { detail: string }[]).some(({ detail }) => detail.startsWith('SCAN'));
      })
      .map(({ from, table: other }) => `${table}.${from} → ${other}`);
  });
}

describe('deleting a project with many people', function () {
  this.timeout(120_000);
  let dataDir: string;
  let metadata: MetadataStore;
  let db: Database;

  before(async () => {
    dataDir = await freshDataDir('spanhouse-people-');
    metadata = openMetadataStore(dataDir);
    db = openDatabase(join(dataDir, DATABASE_FILE));
  });
  after(async () => {
    db.close();
    metadata.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const project = () => {
    const id = randomUUID();
    db.prepare('INSERT INTO projects (id, name, created_at) VALUES (?, ?, ?)').run(id, 'a project', AT);
    return id;
  };
  const user = () => {
    const id = randomUUID();
    db.prepare('INSERT INTO users (id, name, created_at) VALUES (?, ?, ?)').run(id, 'somebody', AT);
    return id;
  };
  const prompt = (projectId: string) => {
    const id = randomUUID();
    const insert = 'INSERT INTO prompts (id, project_id, slug, created_at) VALUES (?, ?, ?, ?)';
    db.prepare(insert).run(id, projectId, `slug-${id}`, AT);
    return id;
  };
  const feedback = (projectId: string, promptId: string, userId: string) =>
    db
      .prepare(
        `INSERT INTO feedback (id, project_id, prompt_id, completion_id, user_id, thumbs_up, metadata, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, 1, '{}', ?, ?)`,
      )
      .run(randomUUID(), projectId, promptId, randomUUID(), userId, AT, AT);
  const link = (projectId: string, promptId: string, userId: string) => {
    const id = randomUUID();
    const hash = Buffer.from(id.replaceAll('-', '') + id.replaceAll('-', ''), 'hex');
    db.prepare(
      `INSERT INTO feedback_links (id, project_id, prompt_id, link_type, token_hash, created_at, created_by, expires_at)
       VALUES (?, ?, ?, 'prompt_completion', ?, ?, ?, ?)`,
    ).run(id, projectId, promptId, hash, AT, userId, AT);
    return id;
  };
  const imported = (projectId: string, userId: string) =>
    db.prepare('INSERT INTO imported_people VALUES (?, ?, ?)').run(projectId, randomUUID(), userId);
  const guest = (linkId: string, userId: string) =>
    db
      .prepare('INSERT INTO feedback_guests (link_id, guest_key, user_id) VALUES (?, ?, ?)')
      .run(linkId, userId, userId);

  /** Deletes a project as the server does. @returns seconds, the longest turn in ms, and turns */
  function removed(projectId: string) {
    const deletion = metadata.deletions.orderProject(projectId, AT);
    if (deletion === null) throw new Error('There is no such project');
    const began = performance.now();
    let longest = 0;
    for (let more = true; more;) {
      const turn = performance.now();
      more = metadata.deletions.removeSomeOfProject(deletion);
      longest = Math.max(longest, performance.now() - turn);
    }
    return { seconds: (performance.now() - began) / 1000, longest };
  }
  const count = (sql: string, ...values: unknown[]) =>
    db
      .prepare<unknown[], number>(sql)
      .pluck()
      .get(...values);

  it('reads no table whole for a row that goes', () => {
    expect(unindexed(db)).to.deep.equal([]);
  });

  it('takes as long as its own people do, however much others have said, and holds nobody up', () => {
    const [going, staying] = [project(), project()];
    db.transaction(() => {
      db.prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO feedback (id, project_id, prompt_id, completion_id, user_id, thumbs_up, metadata, created_at, updated_at)
         SELECT 'other ' || i, ?, ?, 'span ' || i, ?, 1, '{}', i, i FROM n`,
      ).run(ROWS_OF_OTHERS, staying, prompt(staying), user());
      const own = prompt(going);
      for (let person = 0; person < PEOPLE; person += 1) {
        const id = user();
        imported(going, id);
        feedback(going, own, id);
        if (person % 2 === 0) guest(link(going, own, id), user());
      }
    })();
    const { seconds, longest } = removed(going);
    expect(seconds, 'seconds').to.be.below(unhurried(8));
    expect(longest, 'ms of the longest turn').to.be.below(unhurried(400));
    expect(count('SELECT count(*) FROM users')).to.equal(1);
    expect(count('SELECT count(*) FROM feedback')).to.equal(ROWS_OF_OTHERS);
    expect(count('SELECT count(*) FROM projects')).to.equal(1);
  });

  it('keeps people whom anything of another project names, and removes the project all the same', () => {
    const [going, staying] = [project(), project()];
    const [maker, author, reviewer, both, gone] = [user(), user(), user(), user(), user()];
    const text = prompt(going);
    for (const id of [maker, author, both, gone]) imported(going, id);
    link(staying, prompt(staying), maker);
    feedback(staying, prompt(staying), author);
    guest(link(staying, prompt(staying), maker), reviewer);
    guest(link(going, text, both), both);
    guest(link(going, text, gone), reviewer);
    feedback(going, text, both);
    removed(going);
    const left = (ids: string[]) => ids.filter((id) => metadata.identities.findUser(id) !== undefined);
    expect(left([maker, author, reviewer, both, gone])).to.deep.equal([maker, author, reviewer]);
    expect(metadata.identities.findProject(going)).to.equal(undefined);
    expect(db.pragma('foreign_key_check')).to.deep.equal([]);
  });
});
