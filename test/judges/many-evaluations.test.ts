import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { EvaluationLists, type EvaluationQuery } from '../../src/features/judges/evaluation-lists.js';
import type { Judge } from '../../src/features/judges/judge.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { JudgeFigureService } from '../../src/features/judge-figures/judge-figures.js';
import { inPortions } from '../../src/engine/work/portions.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteEvaluationStore } from '../../src/features/judges/store/evaluation-store.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';
import { SqliteJudgeCounts } from '../../src/features/judge-figures/store/judge-counts.js';
import { SqliteJudgeStore } from '../../src/features/judges/store/judge-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { SqlitePromptStore } from '../../src/features/prompts/store/prompt-store.js';
import { ANY_EVALUATION, AS_STORED, PASSED, PLAIN_JUDGE } from './fixture.js';

const NOW = 1_800_000_000_000_000;
const MANY = 35_000;

describe('a judge with very many evaluations', () => {
  let folder: string;
  let database: Database;
  let projectId: string;
  const judgeId = randomUUID();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-evaluations-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    const identity = new IdentityService({ store: new SqliteIdentityStore(database) });
    const { created } = identity.bootstrap();
    identity.close();
    projectId = created?.projectId ?? '';
    const times = { created_at: NOW, updated_at: NOW, judged_since: 0, deleted_at: null };
    const judge = { id: judgeId, project_id: projectId, name: 'busy', task_slug: 'busy', ...PLAIN_JUDGE, ...times };
    new SqliteJudgeStore(database, new SqlitePromptStore(database)).insert(
      { ...judge, created_by: created?.userId ?? '' },
      null,
    );
    evaluateMany();
  });
  after(async () => {
    database.close();
    await rm(folder, { recursive: true });
  });

  /** One passes, and two fail, every microsecond. */
  const evaluateMany = () => {
    const columns = 'project_id, judge_id, origin, evaluation_type, evaluation_reason';
    database
      .prepare(
        `WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${MANY - 1})
         INSERT INTO evaluations (id, span_id, evaluation_result, created_at, ${columns})
         SELECT number, number, number % 3 = 0, ${NOW} + number / 3, ?, ?, 'external', ?, '' FROM numbers`,
      )
      .run(projectId, judgeId, PASSED.evaluation_type);
  };

  async function listed(change: Partial<EvaluationQuery> & { readonly signal?: AbortSignal }) {
    const store = new SqliteEvaluationStore(database);
    const judges = { requireEver: () => ({}) as Judge };
    const spans = { traits: () => Promise.resolve(new Map()) };
    const ofResults = { find: () => Promise.resolve({ total: 0, numbers: [] }) };
    const lists = new EvaluationLists({ store, judges, spans, ofResults, versionsNamed: () => null });
    const { signal, ...query } = change;
    const asked = {
      filter: ANY_EVALUATION,
      version: null,
      experimentId: null,
      window: { limit: 50, offset: 0 },
      order: AS_STORED,
      ...query,
    };
    const { total, items } = await lists.ofJudge(projectId, judgeId, asked, signal);
    const ids: string[] = [];
    for await (const portion of items) ids.push(...portion.map(({ id }) => id));
    return { total, ids };
  }

  it('is counted whole, between turns that others get', async () => {
    const figures = new JudgeFigureService(new SqliteJudgeCounts(database));
    let turns = 0;
    const others = setInterval(() => (turns += 1), 0);
    const page = { limit: 10, offset: 0 };
    const all = await figures.list(projectId, { start: null, end: null }, page);
    clearInterval(others);
    expect(all).to.have.length(1);
    expect(all[0]).to.include({ judge_id: judgeId, evaluations: MANY, passed: Math.ceil(MANY / 3), queued: 0 });
    expect(turns).to.be.greaterThan(0);
    const [some] = await figures.list(projectId, { start: NOW + 10, end: NOW + 10_009 }, page);
    expect(some).to.include({ evaluations: 30_000, passed: 10_000, rate: 1 / 3 });
    const [none] = await figures.list(projectId, { start: NOW + MANY, end: null }, page);
    expect(none).to.include({ evaluations: 0, passed: 0, rate: null });
  });

  it('is not looked through for the few that people spoke of', async () => {
    const timed = async (agreement: 'disagreed' | 'agreed' | null) => {
      const times: number[] = [];
      while (times.length < 5) {
        const began = performance.now();
        await listed({ filter: { ...ANY_EVALUATION, agreement } });
        times.push(performance.now() - began);
      }
      return Math.min(...times);
    };
    const counted = await timed(null);
    expect(await timed('disagreed')).to.be.lessThan(counted / 2);
    expect(await timed('agreed')).to.be.lessThan(counted / 2);
  });

  it('is listed and counted exactly, between turns that others get, without what is stored meanwhile', async () => {
    let turns = 0;
    const others = setInterval(() => (turns += 1), 0);
    const add = (id: string) =>
      new SqliteEvaluationStore(database).insert({
        ...PASSED,
        id,
        project_id: projectId,
        judge_id: judgeId,
        span_id: id,
        created_at: NOW,
      });
    const asked = listed({ filter: { ...ANY_EVALUATION, result: true }, window: { limit: 2, offset: 11_665 } });
    const added = add(randomUUID());
    const page = await asked;
    clearInterval(others);
    expect([page.total, page.ids]).to.deep.equal([11_667, ['34995', '34998']]);
    expect(turns).to.be.greaterThan(0);
    database.prepare('DELETE FROM evaluations WHERE id = ?').run(added.id);
    const given = new AbortController();
    given.abort(new Error('gone'));
    await listed({ signal: given.signal }).then(
      () => expect.fail('it went on'),
      (error: unknown) => expect(error).to.have.property('message', 'gone'),
    );
  });
});

describe('work in portions', () => {
  it('does all of it in order, less at once when it takes long, and ends when it is given up', async () => {
    const objects = Array.from({ length: 5_000 }, (_, index) => index);
    const sizes: number[] = [];
    const done: number[] = [];
    await inPortions(objects, (portion) => {
      sizes.push(portion.length);
      done.push(...portion);
      const until = performance.now() + (sizes.length === 2 ? 200 : 0);
      while (performance.now() < until);
    });
    expect(done).to.deep.equal(objects);
    const [first = 0, second = 0, third = 0] = sizes;
    expect(first).to.be.at.most(200);
    expect(third).to.be.at.most(second / 10);
    const given = new AbortController();
    const over = inPortions(objects, () => given.abort(new Error('gone')), given.signal);
    await over.then(
      () => expect.fail('it went on'),
      (error: unknown) => expect(error).to.have.property('message', 'gone'),
    );
  });
});
