import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import type { Judge } from '../../src/features/judges/judge.js';
import type { Judgement } from '../../src/features/judges/judge-caller.js';
import { ModelFailure } from '../../src/engine/models/model-client.js';
import { queueQuota } from '../../src/features/judges/queue-quota.js';
import type { RunDraft } from '../../src/features/judges/run.js';
import { JudgeRunner } from '../../src/features/judges/runner.js';
import type { JudgedSpan, SpanReader } from '../../src/engine/traces/model/judged/span-reader.js';
import type { WholeReader } from '../../src/engine/traces/model/judged/whole-reader.js';
import { RETRIES } from '../../src/engine/work/backoff.js';
import { FairSemaphore } from '../../src/engine/work/fair-semaphore.js';
import { Governor } from '../../src/engine/work/governor.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteEvaluationStore } from '../../src/features/judges/store/evaluation-store.js';
import { SqliteJudgeStore } from '../../src/features/judges/store/judge-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { SqlitePromptStore } from '../../src/features/prompts/store/prompt-store.js';
import { projectRemoval } from '../../src/features/deletion/store/project-removal.js';
import { SqliteRunStore } from '../../src/features/judges/store/run-store.js';
import { PLAIN_JUDGE, storedOf } from './fixture.js';
import { quietSignals } from '../harness/signals.js';

const NOW = Date.now() * 1000;

describe('judges of several projects', function () {
  this.timeout(30_000);
  let folder: string;
  let database: Database;
  let runs: SqliteRunStore;
  let judges: SqliteJudgeStore;
  let evaluations: SqliteEvaluationStore;
  let runner: JudgeRunner | null = null;
  /** Projects, in the order in which models were asked. */
  const asked: string[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-fair-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    database.exec(`INSERT INTO projects (id, name, created_at) VALUES ('many', 'm', 0), ('one', 'o', 0), ('third', 't', 0);
      INSERT INTO users (id, name, created_at) VALUES ('user', 'u', 0);`);
    runs = new SqliteRunStore(database);
    judges = new SqliteJudgeStore(database, new SqlitePromptStore(database));
    evaluations = new SqliteEvaluationStore(database);
    asked.length = 0;
  });
  afterEach(async () => {
    await runner?.close();
    runner = null;
    database.close();
    await rm(folder, { recursive: true });
  });

  const judgeOf = (project_id: string, model: string | null = null, settings: Partial<Judge> = {}): Judge =>
    judges.insert(
      {
        ...PLAIN_JUDGE,
        id: randomUUID(),
        project_id,
        name: 'judge',
        task_slug: 'judge',
        model,
        ...settings,
        judged_since: 0,
        created_at: NOW,
        created_by: 'user',
        updated_at: NOW,
        deleted_at: null,
      },
      null,
    );
  const queue = (judge: Judge, count: number): RunDraft[] => {
    const drafts = Array.from({ length: count }, () => ({
      subject_id: judge.subject === 'span' ? null : randomUUID(),
      id: randomUUID(),
      project_id: judge.project_id,
      judge_id: judge.id,
      span_id: randomUUID(),
      trace_id: randomUUID(),
      span_started_at: NOW,
      origin: 'requested' as const,
    }));
    runs.enqueue(drafts, NOW);
    return drafts;
  };
  const evaluated = (judge: Judge) => storedOf(evaluations, judge.id).length;
  const failures = (judge: Judge) => runs.list(judge.id, 'failed', [], { limit: 500, offset: 0 }).runs;

  /** The spans are what the queue names, and a model says what the test wants; queue and evaluations are the real ones. */
  function start(
    options: {
      readonly judge?: (judge: Judge) => Promise<ModelFailure | null>;
      readonly spans?: Partial<Pick<SpanReader, 'read' | 'answers'>>;
      readonly readWholes?: WholeReader['readWholes'];
      readonly concurrency?: number;
    } = {},
  ): JudgeRunner {
    const { judge: ask = () => sleep(1, null), concurrency = 1 } = options;
    const caller = {
      modelOf: ({ model }: Judge) => model,
      async evaluate(judge: Judge): Promise<Judgement> {
        asked.push(judge.project_id);
        const failure = await ask(judge);
        const verdict = {
          evaluation_result: true,
          evaluation_reason: '',
          confidence_score: 1,
          score: null,
          criteria_scores: null,
        };
        return {
          verdict: failure === null ? verdict : null,
          failure,
          model_used: 'm',
          duration_ms: 1,
          prompt_version_id: null,
          judge_version: null,
          row_key: null,
          shown: [],
          calls: [],
        };
      },
    };
    runner = new JudgeRunner({
      isPaused: () => false,
      runs,
      judges,
      spans: { read: async (_project, places) => spansOf(places), answers: async () => undefined, ...options.spans },
      wholes: { readWholes: options.readWholes ?? (async () => new Map()), outlines: async () => new Map() },
      evaluations: { countOfWhole: () => 0, newestAutomaticUpto: () => null },
      identifyPrompt: () => undefined,
      caller: caller as never,
      pinned: { inHand: () => null },
      storeSpans: async () => undefined,
      masker: () => null,
      governor: new Governor(),
      concurrency,
      maxAttempts: 3,
      retry: { ...RETRIES.work, firstMs: 10 },
      onRoom: () => undefined,
      observer: quietSignals(),
    });
    runner.wake();
    return runner;
  }
  const spansOf = (places: readonly { readonly span_id: string }[]) =>
    new Map(places.map(({ span_id }) => [span_id, { id: span_id } as JudgedSpan]));
  const until = async (isSo: () => boolean) => {
    const deadline = performance.now() + 20_000;
    while (!isSo()) {
      if (performance.now() > deadline) throw new Error(`It did not happen: ${asked.length} asked`);
      await sleep(5);
    }
  };

  it('take turns, however much one of them has queued', async () => {
    const many = judgeOf('many');
    queue(many, 20_000);
    const [one, third] = [judgeOf('one'), judgeOf('third')];
    start();
    await until(() => asked.length > 50);
    const before = asked.length;
    queue(one, 1);
    queue(third, 1);
    runner?.wake();
    await until(() => evaluated(one) === 1 && evaluated(third) === 1);
    // A read of its span comes first; from then on, one turn of each of the others.
    const waited = asked.slice(before).indexOf('one');
    expect(waited, `turns of others: ${asked.slice(before).join(' ')}`).to.be.within(0, 4);
  });

  it('serve one of each project in a round', async () => {
    for (const project of ['many', 'one', 'third']) queue(judgeOf(project), 20);
    start();
    await until(() => asked.length === 60);
    const rounds = asked.slice(6, 51);
    for (let index = 3; index < rounds.length; index += 1)
      expect(rounds[index], rounds.join(' ')).to.equal(rounds[index - 3]);
  });

  it("do not wait for another's model that fails, nor for another model of the same project", async () => {
    const broken = judgeOf('many', 'broken');
    const [sound, other] = [judgeOf('many', 'sound'), judgeOf('one', 'broken')];
    queue(broken, 200);
    start({
      concurrency: 4,
      judge: async ({ id }) =>
        id === broken.id ? new ModelFailure('503', 'no', { retryable: true, retryAfterMs: 60_000 }) : null,
    });
    await until(() => asked.length >= 4);
    queue(sound, 5);
    queue(other, 5);
    runner?.wake();
    await until(() => evaluated(sound) === 5 && evaluated(other) === 5);
    expect(asked.length, 'the endpoint is left alone as long as it asked for').to.be.lessThan(10 + 2 * 4 + 1);
  });

  it('lose one run to a span that cannot be read, and no other', async () => {
    const many = judgeOf('many');
    const drafts = queue(many, 100);
    const culprits = new Set([drafts[13]?.span_id, drafts[77]?.span_id]);
    const sizes: number[] = [];
    start({
      spans: {
        async read(_project, places) {
          sizes.push(places.length);
          if (places.some(({ span_id }) => culprits.has(span_id)))
            throw new DomainError('unavailable', 'the query exceeded its result size limit: narrow the filters');
          return spansOf(places);
        },
      },
    });
    await until(() => evaluated(many) === 98 && failures(many).length === 2);
    expect(
      failures(many).map(({ span_id, attempts, reason }) => [culprits.has(span_id), attempts, reason]),
    ).to.deep.equal([
      [true, 3, 'the span cannot be read: the query exceeded its result size limit'],
      [true, 3, 'the span cannot be read: the query exceeded its result size limit'],
    ]);
    expect(sizes.length, 'reads').to.be.lessThan(60);
  });

  it('are not held up by reads of another that take long, nor fail while the store is away', async () => {
    const [many, one] = [judgeOf('many'), judgeOf('one')];
    queue(many, 10);
    queue(one, 3);
    let isAway = true;
    const answers = async () => {
      if (isAway) throw new DomainError('unavailable', 'ClickHouse does not answer');
    };
    start({
      spans: {
        answers,
        async read(project, places) {
          if (project === 'many') {
            await sleep(isAway ? 200 : 0);
            await answers();
          }
          return spansOf(places);
        },
      },
    });
    await until(() => evaluated(one) === 3);
    expect(evaluated(many)).to.equal(0);
    await sleep(1_500);
    expect(failures(many), 'no run is to blame').to.deep.equal([]);
    isAway = false;
    await until(() => evaluated(many) === 10);
  });

  /** A trace of two spans, with a long outline. */
  const wholeOf = (id: string, outline: string): [string, JudgedSpan] => {
    const whole = {
      kind: 'trace',
      id,
      outline,
      spans: 2,
      arrived_at: NOW,
      span_ids: [id, `below ${id}`],
      trace_ids: [id],
    };
    return [id, { id, whole } as unknown as JudgedSpan];
  };

  it('hold traces of all projects within one bound, and one of each at least', async () => {
    // A million characters each, four of which fit.
    const judged = ['many', 'one', 'third'].map((id) =>
      judgeOf(id, null, { subject: 'trace', context_tokens: 200_000 }),
    );
    for (const judge of judged) queue(judge, 10);
    const outline = '.'.repeat(800_000);
    const read: string[] = [];
    let release = (): void => undefined;
    const held = new Promise<null>((resolve) => (release = () => resolve(null)));
    start({
      judge: () => held,
      async readWholes(project, ids) {
        read.push(...ids.map(() => project));
        return new Map(ids.map((id) => wholeOf(id, outline)));
      },
    });
    await until(() => asked.length === 1 && new Set(read).size === 3);
    await sleep(100);
    expect(read.length, read.join(' ')).to.be.within(3, 5 + 2);
    release();
    await until(() => asked.length === 30);
  });

  it('read a trace again only if a span of it was deleted while it was read', async () => {
    const judge = judgeOf('one', null, { subject: 'trace' });
    const [draft] = queue(judge, 1);
    const id = draft?.subject_id ?? '';
    const reads: (() => void)[] = [];
    const reading = start({
      readWholes: (_project, ids) =>
        new Promise((resolve) => reads.push(() => resolve(new Map(ids.map((each) => wholeOf(each, 'outline')))))),
    });
    const scope = { projectId: 'one', judges: new Set<string>(), jobs: new Set<string>() };
    await until(() => reads.length === 1);
    await reading.giveUp({ ...scope, spans: new Set([`below ${id}`]) });
    reads[0]?.();
    await until(() => reads.length === 2);
    expect(asked).to.deep.equal([]);
    await reading.giveUp({ ...scope, spans: new Set(['of another trace']) });
    reads[1]?.();
    await until(() => asked.length === 1);
    expect(reads).to.have.length(2);
  });

  it('keep no position of one that is deleted, also when it was being looked at', () => {
    runs.begin(NOW);
    const looked = { arrived_at: NOW, behind: {} };
    runs.setLooked(
      new Map([
        ['many', looked],
        ['one', looked],
      ]),
    );
    const removeSome = projectRemoval(database);
    const remove = () => database.transaction(() => removeSome('many')).immediate();
    while (remove());
    runs.setLooked(new Map([['many', looked]]));
    const kept = database.prepare<[], string>('SELECT project_id FROM judge_feed_projects').pluck().all();
    expect(kept).to.deep.equal(['one']);
  });

  it('have room in the queue, also when another has filled it', () => {
    const full = new Map([['many', 20_000]]);
    expect(queueQuota('many', full, 20_000)).to.equal(0);
    expect(queueQuota('one', full, 20_000)).to.equal(10_000);
    expect(queueQuota('one', new Map([...full, ['one', 9_999]]), 20_000)).to.equal(1);
    expect(queueQuota('third', new Map([...full, ['one', 10_000]]), 20_000)).to.equal(6_666);
    expect(queueQuota('many', new Map([['one', 1]]), 20_000), 'alone with little of others').to.equal(19_999);
    expect(queueQuota('one', new Map([['many', 1]]), 1), 'always at least one').to.equal(1);
  });
});

describe('calls of a model', () => {
  it('are made in turn by project, so many at once', async () => {
    const turns = new FairSemaphore('calls', { atOnce: 2 });
    const begun: string[] = [];
    let underWay = 0;
    let most = 0;
    const call = (project: string) =>
      turns.run(project, async () => {
        begun.push(project);
        most = Math.max(most, (underWay += 1));
        await sleep(2);
        underWay -= 1;
        if (begun.length === 3) throw new Error('a call that fails gives its place on');
      });
    const calls = [...Array.from({ length: 50 }, () => call('many')), call('one'), call('one'), call('third')];
    await Promise.allSettled(calls);
    expect(begun.length).to.equal(53);
    expect(begun.slice(0, 7)).to.deep.equal(['many', 'many', 'many', 'one', 'third', 'many', 'one']);
    expect(most).to.equal(2);
  });
});
