import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Evaluation } from '../../src/features/judges/evaluation.js';
import { EvaluationLists } from '../../src/features/judges/evaluation-lists.js';
import { ResultEvaluations } from '../../src/features/judges/result-evaluations.js';
import type { ResultOutline } from '../../src/engine/traces/model/experiment/results.js';
import {
  AGREEMENTS,
  EVALUATION_SORTS,
  type EvaluationFilter,
  type EvaluationOrder,
  type EvaluationPlace,
} from '../../src/features/judges/evaluation-store.js';
import type { Judge } from '../../src/features/judges/judge.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { evaluationInsert } from '../../src/features/judges/store/evaluation-rows.js';
import { SqliteEvaluationStore } from '../../src/features/judges/store/evaluation-store.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';
import { SqliteJudgeCounts } from '../../src/features/judge-figures/store/judge-counts.js';
import { SqliteJudgeStore } from '../../src/features/judges/store/judge-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { SqlitePromptStore } from '../../src/features/prompts/store/prompt-store.js';
import { ANY_EVALUATION, AS_STORED, PASSED, PLAIN_JUDGE } from './fixture.js';

const NOW = 1_800_000_000_000_000;
const VERSIONS = ['a/none', 'a/e1', null];

/** Results whose spans these are, some in a portion. */
async function* outlinesOf(ids: readonly string[]): AsyncGenerator<ResultOutline[]> {
  const rest = {
    span_trace_id: '',
    shown_trace_id: '',
    started_at: 0,
    row_id: '',
    repetition: 1,
    has_error: false,
    has_output: true,
  };
  for (let from = 0; from < ids.length; from += 8)
    yield await Promise.resolve(ids.slice(from, from + 8).map((id) => ({ id, ...rest })));
}

/** Of imported evaluations, as here, times do not follow the order of storing. */
describe('portions of evaluations', () => {
  let folder: string;
  let database: Database;
  let store: SqliteEvaluationStore;
  let projectId: string;
  const judgeId = randomUUID();
  const made: Evaluation[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-portions-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    const identity = new IdentityService({ store: new SqliteIdentityStore(database) });
    const { created } = identity.bootstrap();
    identity.close();
    projectId = created?.projectId ?? '';
    const times = { created_at: NOW, updated_at: NOW, judged_since: 0, deleted_at: null };
    const common = { project_id: projectId, task_slug: 'portions', ...PLAIN_JUDGE, ...times };
    const judges = new SqliteJudgeStore(database, new SqlitePromptStore(database));
    const other = randomUUID();
    for (const id of [judgeId, other])
      judges.insert({ ...common, id, name: id, created_by: created?.userId ?? '' }, null);
    store = new SqliteEvaluationStore(database);
    const insert = evaluationInsert(database, true);
    for (let index = 0; index < 60; index += 1) {
      const evaluation: Evaluation = {
        ...PASSED,
        id: randomUUID(),
        project_id: projectId,
        judge_id: index % 7 === 6 ? other : judgeId,
        span_id: randomUUID(),
        evaluation_result: index % 3 === 0,
        confidence_score: index % 5 === 4 ? null : ((index * 7) % 10) / 10,
        judge_version: VERSIONS[index % 3] ?? null,
        created_at: NOW + ((index * 13) % 17),
      };
      insert(evaluation);
      if (evaluation.judge_id === judgeId) made.push(evaluation);
    }
  });
  after(async () => {
    database.close();
    await rm(folder, { recursive: true });
  });

  const FILTERS: readonly [Partial<EvaluationFilter>, (evaluation: Evaluation) => boolean][] = [
    [{}, () => true],
    [{ result: false }, ({ evaluation_result }) => !evaluation_result],
    [{ versions: 'external' }, ({ judge_version }) => judge_version === null],
    [{ versions: ['a/e1', 'a/none'], result: true }, (one) => one.judge_version !== null && one.evaluation_result],
    [{ start: NOW + 3, end: NOW + 11 }, ({ created_at }) => created_at >= NOW + 3 && created_at <= NOW + 11],
    [{ agreement: 'unreviewed', withFeedback: false }, () => true],
    [{ agreement: 'agreed' }, () => false],
  ];

  function sorted(found: readonly Evaluation[], { by, descending }: EvaluationOrder): string[] {
    const sign = descending ? -1 : 1;
    const rank = ({ confidence_score }: Evaluation) =>
      by === 'confidence' ? (confidence_score === null ? Infinity : confidence_score * sign) : 0;
    const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);
    return found
      .toSorted(
        (a, b) =>
          compare(rank(a), rank(b)) ||
          sign * (a.created_at - b.created_at) ||
          sign * (made.indexOf(a) - made.indexOf(b)),
      )
      .map(({ id }) => id);
  }

  /** A page, and the number of all, of portions of so many. */
  function walked(
    filter: Partial<EvaluationFilter>,
    order: EvaluationOrder,
    most: number,
    limit: number,
    offset: number,
  ) {
    const of = { judgeId, filter: { ...ANY_EVALUATION, ...filter }, order, upTo: store.newest() };
    const ids: (string | undefined)[] = [];
    let total = 0;
    let from: EvaluationPlace | null = null;
    do {
      const window = { limit: limit - ids.length, offset: Math.max(0, offset - total) };
      const portion = store.portion(of, from, most, window);
      ids.push(...portion.numbers.map((number) => store.read(number)?.id));
      total += portion.found;
      from = portion.next;
    } while (from !== null);
    return { ids, total };
  }

  it('are together the list, in each order and with each filter, whatever their size', () => {
    for (const [filter, takes] of FILTERS)
      for (const by of EVALUATION_SORTS)
        for (const descending of [false, true]) {
          const order = { by, descending };
          const expected = sorted(made.filter(takes), order);
          for (const most of [1, 4, 1000])
            for (const [limit, offset] of [
              [100, 0],
              [5, 0],
              [7, 9],
              [3, 50],
            ] as const)
              expect(walked(filter, order, most, limit, offset), JSON.stringify({ filter, order, most })).to.deep.equal(
                {
                  ids: expected.slice(offset, offset + limit),
                  total: expected.length,
                },
              );
        }
  });

  it('of the results of an experiment are the same list, without those of other spans', async () => {
    const spans = made.filter((_each, index) => index % 3 < 2).map(({ span_id }) => span_id);
    const results = { outlines: () => outlinesOf([...spans, randomUUID()]) };
    const lists = new ResultEvaluations({ store, results });
    for (const [filter, takes] of FILTERS)
      for (const by of EVALUATION_SORTS)
        for (const descending of [false, true])
          for (const [limit, offset] of [
            [100, 0],
            [7, 9],
            [0, 0],
          ] as const) {
            const order = { by, descending };
            const of = { judgeId, filter: { ...ANY_EVALUATION, ...filter }, order, upTo: store.newest() };
            const found = await lists.find({ projectId, experimentId: randomUUID() }, of, { limit, offset });
            const expected = sorted(
              made.filter((each) => takes(each) && spans.includes(each.span_id)),
              order,
            );
            const ids = found.numbers.map((number) => store.read(number)?.id);
            const page = expected.slice(offset, offset + limit);
            expect({ ids, total: found.total }).to.deep.equal({ ids: page, total: expected.length });
          }
  });

  it('tell what people said, be it of a few evaluations or of thousands', () => {
    const spoken = made.filter((_each, index) => index % 4 > 1);
    const wrong = spoken.filter((_each, index) => index % 3 === 0);
    database.pragma('foreign_keys = OFF');
    const say = database.prepare(
      `INSERT INTO corrections (feedback_id, judge_id, span_id, user_id, evaluation_seq, revision, thumbs_up, given_at)
       SELECT ?, judge_id, span_id, 'somebody', seq, 1, ?, ? FROM evaluations WHERE id = ?`,
    );
    for (const { id } of spoken) say.run(randomUUID(), 1, NOW, id);
    for (const { id } of wrong) say.run(randomUUID(), 0, NOW, id);
    const expected = {
      disagreed: wrong,
      agreed: spoken.filter((each) => !wrong.includes(each)),
      unreviewed: made.filter((each) => !spoken.includes(each)),
    };
    const holds = (many: string) => {
      for (const agreement of AGREEMENTS)
        for (const by of EVALUATION_SORTS) {
          const order = { by, descending: true };
          const ids = sorted(expected[agreement], order);
          expect(walked({ agreement }, order, 5, 4, 3), `${agreement} of ${many}`).to.deep.equal({
            ids: ids.slice(3, 7),
            total: ids.length,
          });
        }
    };
    holds('few');
    const elsewhere = database.prepare(
      `INSERT INTO corrections (feedback_id, judge_id, span_id, user_id, revision, thumbs_up, given_at)
       VALUES (?, ?, ?, 'somebody', 1, 0, ?)`,
    );
    for (let index = 0; index <= 2_000; index += 1) elsewhere.run(randomUUID(), judgeId, randomUUID(), NOW);
    holds('thousands');
    database.prepare('DELETE FROM corrections').run();
    database.pragma('foreign_keys = ON');
  });

  it('are counted for figures, each once', () => {
    const counts = new SqliteJudgeCounts(database);
    for (const most of [1, 2, 5, 1000]) {
      const sum = { evaluations: 0, passed: 0 };
      let portion = counts.count(judgeId, { start: NOW + 2, end: NOW + 15 }, null, most);
      for (;;) {
        sum.evaluations += portion.evaluations;
        sum.passed += portion.passed;
        if (portion.last === null) break;
        portion = counts.count(judgeId, { start: NOW + 2, end: NOW + 15 }, portion.last, most);
      }
      const expected = made.filter(({ created_at }) => created_at >= NOW + 2 && created_at <= NOW + 15);
      const passed = expected.filter(({ evaluation_result }) => evaluation_result).length;
      expect(sum, `${most} at once`).to.deep.equal({ evaluations: expected.length, passed });
    }
  });

  it('of a page are read a few megabytes at once, and without what was deleted meanwhile', async () => {
    const span_id = randomUUID();
    const insert = evaluationInsert(database, true);
    const common = { ...PASSED, project_id: projectId, judge_id: judgeId, span_id, evaluation_type: 'scored' as const };
    const large = Array.from({ length: 12 }, (_each, index) =>
      insert({
        ...common,
        id: randomUUID(),
        criteria_scores: { tone: { score: 1, reason: 'x'.repeat(600_000) } },
        created_at: NOW - index,
      }),
    );
    const judges = { requireEver: () => ({}) as Judge };
    const spans = { traits: () => Promise.resolve(new Map()) };
    const ofResults = new ResultEvaluations({ store, results: { outlines: () => outlinesOf([]) } });
    const lists = new EvaluationLists({ store, judges, spans, ofResults, versionsNamed: () => null });
    const query = {
      filter: ANY_EVALUATION,
      version: null,
      experimentId: null,
      window: { limit: 12, offset: 0 },
      order: AS_STORED,
    };
    const page = await lists.ofJudge(projectId, judgeId, query);
    for (const items of [page.items, await lists.ofSpan(projectId, span_id)]) {
      const portions: number[] = [];
      for await (const portion of items) portions.push(portion.length);
      expect(portions).to.deep.equal([2, 2, 2, 2, 2, 2]);
    }
    const again = await lists.ofSpan(projectId, span_id);
    database.prepare('DELETE FROM evaluations WHERE id = ?').run(large[0]?.id);
    let left = 0;
    for await (const portion of again) left += portion.length;
    expect(left).to.equal(11);
  });
});
