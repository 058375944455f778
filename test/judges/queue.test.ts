import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import type { Judge } from '../../src/features/judges/judge.js';
import { Recorder } from '../../src/features/judges/recorder.js';
import type { Run, RunDraft } from '../../src/features/judges/run.js';
import { RunService } from '../../src/features/judges/run-service.js';
import type { RunOutcome } from '../../src/features/judges/run-store.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteEvaluationStore } from '../../src/features/judges/store/evaluation-store.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';
import { SqliteJudgeStore } from '../../src/features/judges/store/judge-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { SqlitePromptStore } from '../../src/features/prompts/store/prompt-store.js';
import { SqliteRunStore } from '../../src/features/judges/store/run-store.js';
import { PASSED, PLAIN_JUDGE, storedOf } from './fixture.js';

const NOW = 1_800_000_000_000_000;

describe('the queue of evaluations', () => {
  let folder: string;
  let database: Database;
  let runs: SqliteRunStore;
  let judges: SqliteJudgeStore;
  let evaluations: SqliteEvaluationStore;
  let judge: Judge;
  let owner: { project: string; user: string };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-queue-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    const identity = new IdentityService({ store: new SqliteIdentityStore(database) });
    const { created } = identity.bootstrap();
    identity.close();
    const user = database.prepare<[], string>('SELECT id FROM users LIMIT 1').pluck().get() ?? '';
    owner = { project: created?.projectId ?? '', user };
    runs = new SqliteRunStore(database);
    judges = new SqliteJudgeStore(database, new SqlitePromptStore(database));
    evaluations = new SqliteEvaluationStore(database);
  });
  after(async () => {
    database.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    judge = judges.insert(judgeOf(), null);
  });
  afterEach(() => {
    judges.remove(owner.project, judge.id, NOW);
  });

  const judgeOf = (): Judge => ({
    id: randomUUID(),
    project_id: owner.project,
    name: 'one',
    task_slug: 'one',
    ...PLAIN_JUDGE,
    judged_since: 0,
    created_at: NOW,
    created_by: owner.user,
    updated_at: NOW,
    deleted_at: null,
  });
  const draft = (change: Partial<RunDraft> = {}): RunDraft => ({
    id: randomUUID(),
    project_id: owner.project,
    judge_id: judge.id,
    span_id: randomUUID(),
    trace_id: randomUUID(),
    span_started_at: NOW,
    origin: 'automatic',
    ...change,
  });
  const evaluatedOf = (run: Run, change: object = {}): RunOutcome => ({
    kind: 'evaluated',
    run,
    evaluation: {
      id: run.id,
      project_id: run.project_id,
      judge_id: run.judge_id,
      span_id: run.span_id,
      ...PASSED,
      origin: run.origin,
      confidence_score: 1,
      ...change,
    },
  });
  const due = (now = NOW + 1e9) => runs.due(owner.project, now, 1000).filter(({ judge_id }) => judge_id === judge.id);
  const stored = () => storedOf(evaluations, judge.id);

  it('takes a new span once for each judge, whatever became of it; requests as often as they come', () => {
    const first = draft();
    expect(runs.enqueue([first, draft({ span_id: first.span_id })], NOW)).to.equal(1);
    const [run] = due();
    runs.settle([evaluatedOf(run as Run)], NOW);
    expect(runs.enqueue([draft({ span_id: first.span_id })], NOW), 'evaluated').to.equal(0);
    const failing = draft();
    runs.enqueue([failing], NOW);
    runs.settle([{ kind: 'failed', run: due()[0] as Run, reason: 'no' }], NOW);
    expect(runs.enqueue([draft({ span_id: failing.span_id })], NOW), 'failed').to.equal(0);
    const again = [1, 2].map(() => draft({ span_id: first.span_id, origin: 'requested' }));
    expect(runs.enqueue(again, NOW)).to.equal(2);
    runs.settle(
      due().map((one) => evaluatedOf(one)),
      NOW,
    );
    expect(stored().map(({ span_id }) => span_id)).to.deep.equal([first.span_id, first.span_id, first.span_id]);
  });

  it('takes failed runs again, the oldest first, and each span once', () => {
    const [one, two] = [draft(), draft()];
    const again = draft({ span_id: one.span_id, origin: 'requested' });
    for (const each of [one, two, again]) {
      runs.enqueue([each], NOW);
      runs.settle([{ kind: 'failed', run: due()[0] as Run, reason: 'no' }], NOW);
    }
    expect(runs.toRetry(judge.id, NOW), 'none had failed then').to.equal(0);
    const later = NOW + 1;
    expect(runs.toRetry(judge.id, later)).to.equal(2);
    expect(runs.retryFailed(judge.id, later, 1)).to.equal(1);
    const [first] = due();
    const fresh = { attempts: 0, reason: null, created_at: later, updated_at: later, next_attempt_at: later };
    expect(first).to.include({ span_id: two.span_id, origin: 'automatic', state: 'queued', ...fresh });
    expect(first?.id).to.not.equal(two.id);
    expect(runs.retryFailed(judge.id, later, 10)).to.equal(1);
    expect(due().map(({ span_id, origin }) => [span_id, origin])).to.deep.equal([
      [two.span_id, 'automatic'],
      [one.span_id, 'requested'],
    ]);
    expect([runs.retryFailed(judge.id, later, 10), runs.toRetry(judge.id, later)]).to.deep.equal([0, 0]);
  });

  it('takes as many failed runs again as it has room for, and says how many are left', async () => {
    const service = new RunService({
      runs,
      judges: { require: () => judge, requireEver: () => judge, notRunnableReason: () => null },
      spans: { traits: async () => new Map(), newest: async () => [] },
      wholes: { named: async () => [], newest: async () => [] },
      identifyPrompt: () => undefined,
      results: { run: () => Promise.reject(new Error('not asked')) },
      queueMax: 600,
      running: () => [],
      onQueued: () => undefined,
    });
    const failed = Array.from({ length: 700 }, () => draft());
    runs.enqueue(failed, NOW);
    runs.settle(
      due().map((run) => ({ kind: 'failed', run, reason: 'no' })),
      Date.now() * 1000 - 1,
    );
    const retry = () => service.retryFailed(owner.project, judge.id);
    expect(await retry()).to.deep.equal({ queued: 600, left: 100 });
    const refused = (await retry().catch((error: unknown) => error)) as DomainError;
    expect([refused.kind, refused.message]).to.deep.equal([
      'overloaded',
      'The queue has room for only 0 more evaluations of this project',
    ]);
  });

  it('holds one run of new spans of a trace at a time, which waits for quiet', () => {
    const subject_id = randomUUID();
    const later = NOW + 30e6;
    const whole = (more: Partial<RunDraft> = {}) => draft({ subject_id, due_at: later, ...more });
    expect(runs.enqueue([whole(), whole(), draft({ subject_id: randomUUID(), due_at: later })], NOW)).to.equal(2);
    expect([due(NOW), runs.nextDue(NOW), runs.state(NOW).oldest]).to.deep.equal([[], later, null]);
    expect(runs.state(later).oldest, 'a wait for quiet is no delay').to.equal(later);
    const [run] = due(later) as [Run];
    expect(run).to.include({ subject_id, created_at: NOW, next_attempt_at: later });
    runs.settle([{ kind: 'postponed', run, at: later + 1 }], later);
    expect(runs.ofWhole(judge.id, subject_id)[0]).to.include({
      attempts: 0,
      next_attempt_at: later + 1,
      updated_at: NOW,
    });
    runs.reading([run.id]);
    runs.settle([{ kind: 'failed', run, reason: 'no' }], later);
    expect(runs.toRetry(judge.id, later + 1)).to.equal(1);
    expect(runs.enqueue([whole()], later), 'one that failed is queued again').to.equal(1);
    expect(runs.toRetry(judge.id, later + 1)).to.equal(0);
    const [again, ...others] = runs.ofWhole(judge.id, subject_id);
    expect([again?.state, others]).to.deep.equal(['queued', []]);
    expect(again?.id).to.not.equal(run.id);
    // What comes once it is being read is a change, which is evaluated after it.
    runs.reading([again?.id ?? '']);
    expect(runs.enqueue([whole({ due_at: later + 9 }), whole({ due_at: later + 8 })], later)).to.equal(0);
    runs.settle([{ kind: 'dropped', run: again as Run }], later);
    const [changed, ...none] = runs.ofWhole(judge.id, subject_id);
    expect(changed).to.include({ state: 'queued', next_attempt_at: later + 9, attempts: 0 });
    expect(none).to.deep.equal([]);
    runs.settle([{ kind: 'dropped', run: changed as Run }], later);
    expect(runs.ofWhole(judge.id, subject_id)).to.deep.equal([]);
  });

  it('gives up a trace or session after five failures in a row, until somebody asks for it', () => {
    const subject_id = randomUUID();
    const change = (at: number) => runs.enqueue([draft({ subject_id, due_at: at })], at);
    const fail = (at: number) => {
      const [run] = runs.ofWhole(judge.id, subject_id) as [Run];
      runs.settle([{ kind: 'failed', run, reason: 'refused' }], at);
      return runs.ofWhole(judge.id, subject_id)[0]?.reason;
    };
    for (let times = 1; times < 5; times += 1) {
      expect(change(NOW + times)).to.equal(1);
      expect(fail(NOW + times)).to.equal('refused');
    }
    change(NOW + 5);
    expect(fail(NOW + 5)).to.match(/^refused \(failed 5 times in a row: /);
    expect(change(NOW + 6), 'no more').to.equal(0);
    expect(runs.ofWhole(judge.id, subject_id).map(({ state }) => state)).to.deep.equal(['failed']);
    expect(runs.retryFailed(judge.id, NOW + 7, 1)).to.equal(1);
    expect(fail(NOW + 8), 'it begins to count anew').to.equal('refused');
    expect(change(NOW + 9)).to.equal(1);
    const [run] = runs.ofWhole(judge.id, subject_id) as [Run];
    runs.settle([evaluatedOf(run, { subject_id, subject_upto: NOW })], NOW + 10);
    change(NOW + 11);
    expect(fail(NOW + 11), 'an evaluation ends the row').to.equal('refused');
  });

  it('counts failures in a row on, once failed runs are so many that older ones are not kept', () => {
    const [often, once] = [randomUUID(), randomUUID()];
    const change = (subject_id: string, at: number) => runs.enqueue([draft({ subject_id, due_at: at })], at);
    const fail = (subject_id: string) =>
      runs.settle([{ kind: 'failed', run: runs.ofWhole(judge.id, subject_id)[0] as Run, reason: 'refused' }], NOW);
    for (let times = 1; times <= 5; times += 1) {
      change(often, NOW);
      fail(often);
    }
    change(once, NOW);
    fail(once);
    const failed = Array.from({ length: 10_500 }, () => draft({ origin: 'requested' }));
    runs.enqueue(failed, NOW);
    runs.settle(
      runs.due(owner.project, NOW, 20_000).map((run) => ({ kind: 'failed', run, reason: 'refused' })),
      NOW,
    );
    expect([often, once].map((id) => runs.ofWhole(judge.id, id))).to.deep.equal([[], []]);
    expect(change(often, NOW), 'it failed five times').to.equal(0);
    for (let times = 2; times <= 5; times += 1) {
      expect(change(once, NOW), `${times}`).to.equal(1);
      fail(once);
    }
    expect(change(once, NOW)).to.equal(0);
    // Who asks for it begins to count again.
    runs.enqueue([draft({ subject_id: often, origin: 'requested' })], NOW);
    runs.settle([evaluatedOf(runs.ofWhole(judge.id, often)[0] as Run, { subject_id: often, subject_upto: NOW })], NOW);
    expect(change(often, NOW)).to.equal(1);
  });

  it('counts what new spans queued about traces and sessions apart, and is due sooner once the judge waits less', () => {
    const queued = () => runs.queued().get(owner.project) ?? 0;
    const changes = () => runs.changes().find(({ judge_id }) => judge_id === judge.id);
    const before = queued();
    const wait = draft({ subject_id: randomUUID(), due_at: NOW + 600e6 });
    const asked = draft({ subject_id: randomUUID(), origin: 'requested' });
    runs.enqueue([draft(), asked, wait, draft({ subject_id: randomUUID(), due_at: NOW })], NOW);
    expect([queued() - before, changes()]).to.deep.equal([
      2,
      { project_id: owner.project, judge_id: judge.id, runs: 2 },
    ]);
    const at = () => runs.ofWhole(judge.id, wait.subject_id ?? '')[0]?.next_attempt_at;
    judges.update(judge, false, NOW + 700e6);
    expect(at()).to.equal(NOW + 600e6);
    judges.update(judge, false, NOW + 30e6);
    expect(at()).to.equal(NOW + 30e6);
  });

  it('notes what a model is shown only of runs that are queued, and hastens no wait for quiet', () => {
    const [span, whole] = [draft(), draft({ subject_id: randomUUID(), due_at: NOW + 20 * 3_600e6 })];
    runs.enqueue([span, whole], NOW);
    const [run] = runs.ofWhole(judge.id, whole.subject_id ?? '') as [Run];
    expect(runs.noteShown(run, [run.trace_id, randomUUID()])).to.equal(true);
    const noted = database.prepare('SELECT count(*) FROM judged_traces WHERE run_id = ?').pluck();
    expect(noted.get(run.id)).to.equal(2);
    const [hour, day] = [NOW + 3_600e6, NOW + 25 * 3_600e6];
    expect(runs.hasten(hour, day, NOW)).to.equal(0);
    expect(runs.hasten(hour, NOW + 10 * 3_600e6, NOW), 'a clock was ahead').to.equal(1);
    runs.settle([{ kind: 'dropped', run }], NOW);
    expect(runs.noteShown(run, [randomUUID()])).to.equal(false);
    expect(noted.get(run.id)).to.be.at.most(2);
  });

  it('stores nothing for a run that was cancelled meanwhile, and nothing twice', () => {
    runs.enqueue([draft(), draft({ origin: 'requested' })], NOW);
    const [automatic, requested] = due() as [Run, Run];
    judges.update({ ...judge, enabled: false }, true, null);
    expect(due().map(({ id }) => id)).to.deep.equal([requested.id]);
    expect(runs.settle([evaluatedOf(automatic), evaluatedOf(requested), evaluatedOf(requested)], NOW)).to.have.length(
      1,
    );
    expect(stored().map(({ id }) => id)).to.deep.equal([requested.id]);
    expect(runs.enqueue([draft()], NOW), 'a disabled judge takes no new spans').to.equal(0);
    judges.remove(owner.project, judge.id, NOW);
    expect(runs.enqueue([draft({ origin: 'requested' })], NOW), 'a deleted one takes none at all').to.equal(0);
  });

  it('writes positions and runs together', () => {
    const looked = (arrived_at: number, behind = {}) => ({ arrived_at, behind });
    runs.begin(1);
    const position = () => runs.position(owner.project);
    expect(position(), 'as of all projects').to.deep.equal({ began_at: 1, arrived_at: 1, behind: {} });
    expect(runs.advance(owner.project, looked(2), [], NOW)).to.equal(0);
    expect(position()).to.deep.equal({ began_at: 1, ...looked(2) });
    const broken = [draft(), { ...draft(), judge_id: judge.id, span_id: undefined as never }];
    expect(() => runs.advance(owner.project, looked(3, { [judge.id]: 2 }), broken, NOW)).to.throw();
    expect(position(), 'nothing of it').to.deep.equal({ began_at: 1, ...looked(2) });
    expect(due()).to.deep.equal([]);
    runs.setLooked(new Map([[owner.project, looked(5, { [judge.id]: 4 })]]));
    runs.begin(9);
    expect(position(), 'begun already').to.deep.equal({ began_at: 1, ...looked(5, { [judge.id]: 4 }) });
    expect(runs.position('another')).to.deep.equal({ began_at: 1, ...looked(1) });
    runs.forget();
    expect(position()).to.equal(undefined);
  });

  it('is in the order in which runs are due, and knows who comes before', () => {
    runs.enqueue([draft(), draft(), draft()], NOW);
    const [first, second, third] = due() as [Run, Run, Run];
    runs.settle([{ kind: 'retry', run: first, reason: 'busy', at: NOW + 5 }], NOW);
    expect(due().map(({ id, attempts, reason }) => [id, attempts, reason])).to.deep.equal([
      [second.id, 0, null],
      [third.id, 0, null],
      [first.id, 1, 'busy'],
    ]);
    expect(runs.due(owner.project, NOW + 4, 10).map(({ id }) => id)).to.not.include(first.id);
    expect(runs.nextDue(NOW + 4)).to.equal(NOW + 5);
    expect([second, third, due()[2] as Run].map((run) => runs.before(run))).to.deep.equal([0, 1, 2]);
  });

  it('records the others when one cannot be stored, and fails that one', async () => {
    runs.enqueue([draft(), draft(), draft()], NOW);
    const [good, bad, better] = due() as [Run, Run, Run];
    const recorded: string[] = [];
    const errors: unknown[] = [];
    let spanAttempts = 0;
    const recorder = new Recorder({
      runs,
      async storeSpans() {
        spanAttempts += 1;
        if (spanAttempts === 1) throw new DomainError('overloaded', 'later');
      },
      busy: () => false,
      onRecorded: (done) => recorded.push(...done.map(({ id }) => id)),
      observer: {
        evaluationStored: () => undefined,
        runRetried: () => undefined,
        evaluationGivenUp: () => undefined,
        callSpansLost: () => undefined,
        recordingFailed: ({ error }) => errors.push(error),
      },
    });
    recorder.add({ outcome: evaluatedOf(good), spans: [{} as never] });
    recorder.add({ outcome: evaluatedOf(bad, { confidence_score: 7 }), spans: [] });
    recorder.add({ outcome: evaluatedOf(better), spans: [] });
    await recorder.close();
    expect(recorded).to.deep.equal([good.id, bad.id, better.id]);
    expect(stored().map(({ id }) => id)).to.deep.equal([good.id, better.id]);
    const [failed] = runs.list(judge.id, 'failed', [], { limit: 10, offset: 0 }).runs;
    expect(failed).to.include({ id: bad.id, reason: 'an internal server error; see the server log' });
    expect(errors.length).to.be.greaterThan(0);
    expect(spanAttempts, 'spans are tried again').to.equal(2);
  });
});
