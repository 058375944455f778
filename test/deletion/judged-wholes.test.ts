import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { openMetadataStore, type MetadataStore } from '../../src/compose/metadata-store.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import type { StoredSpans } from '../../src/engine/traces/model/deletion/stored-spans.js';
import type { JobEnd } from '../../src/engine/work/job.js';
import type { WorkUnderWay } from '../../src/engine/work/work-under-way.js';
import { MetadataAudit } from '../../src/features/check/store/metadata-audit.js';
import { SqliteDeletionStore } from '../../src/features/deletion/store/deletion-store.js';
import { callTraceId } from '../../src/features/judges/call-spans.js';
import { evaluationTraces, runTraces } from '../../src/features/judges/store/judged-traces.js';
import { SqliteEvaluationStore } from '../../src/features/judges/store/evaluation-store.js';
import { SqliteRunStore } from '../../src/features/judges/store/run-store.js';
import { jobTraceId } from '../../src/features/trials/model-trials.js';
import { freshDataDir } from '../harness/fresh-directory.js';
import { makeProject, type MadeProject } from '../harness/projects.js';
import { storedSpan } from '../harness/span.js';
import { openStore, type OpenedStore } from '../harness/trace-store.js';
import { PASSED, PLAIN_JUDGE } from '../judges/fixture.js';
import { JUDGE, JudgeFile } from '../learning/judge-file.js';
import { allOf, openDeletions } from './service.js';

const NOW = Date.now() * 1000;
const NOTHING = {
  ...{ reason: null, expected_output: null, expected_score: null, score_direction: null, criteria_feedback: null },
  metadata: {},
};

describe('what judges say of traces and sessions that lose spans', function () {
  this.timeout(120_000);
  let dataDir: string;
  let opened: OpenedStore;
  let metadata: MetadataStore;
  let database: Database;
  let of: MadeProject;
  before(async () => {
    dataDir = await freshDataDir('spanhouse-wholes-');
    metadata = openMetadataStore(dataDir);
    database = openDatabase(join(dataDir, DATABASE_FILE));
    of = makeProject(dataDir);
    opened = await openStore();
  });
  after(async () => {
    database.close();
    metadata.close();
    await opened.dispose();
    await rm(dataDir, { recursive: true, force: true });
  });

  function judge(subject: 'span' | 'trace' | 'session', { projectId, userId } = of): string {
    const id = randomUUID();
    const made = { judged_since: 0, created_at: NOW, created_by: userId, updated_at: NOW, deleted_at: null };
    metadata.judges.insert(
      { ...PLAIN_JUDGE, ...made, id, project_id: projectId, name: 'one', task_slug: 'one', subject },
      null,
    );
    return id;
  }
  async function stored<T extends Span>(spans: readonly T[], projectId = of.projectId): Promise<readonly T[]> {
    await opened.store.log.append({ projectId, spans });
    return spans;
  }
  /** A trace of three spans. */
  const trace = (change: Partial<Span> = {}) => {
    const trace_id = randomUUID();
    return stored([0, 1, 2].map((at) => storedSpan({ trace_id, started_at: NOW + at, ...change })));
  };
  /** What was called for a run. */
  const called = async (runId: string, projectId = of.projectId) => {
    await stored([storedSpan({ trace_id: callTraceId(runId), tags: { 'spanhouse.judge': 'x' } })], projectId);
    return runId;
  };
  const evaluation = (judgeId: string, span: Span, subject_id: string | null, projectId = of.projectId) =>
    metadata.evaluations.insert({
      ...{ ...PASSED, id: randomUUID(), project_id: projectId, judge_id: judgeId, span_id: span.id },
      ...{ trace_id: span.trace_id, origin: 'automatic', created_at: NOW, judge_version: 'v/none' },
      ...{ subject_id, subject_upto: subject_id === null ? null : NOW, prompt_version_id: 'v' },
    }).id;
  /** An evaluation of a trace or session that showed these, with its call. */
  async function evaluated(judgeId: string, shown: readonly (readonly Span[])[], session?: string, project = of) {
    const [[anchor] = []] = shown;
    if (anchor === undefined) throw new Error('Nothing was shown');
    const id = evaluation(judgeId, anchor, session ?? anchor.trace_id, project.projectId);
    const traceIds = shown.flatMap((spans) => spans.slice(0, 1).map(({ trace_id }) => trace_id));
    expect(evaluationTraces(database)({ projectId: project.projectId, runId: id, traceIds })).to.equal(true);
    return called(id, project.projectId);
  }
  const left = (ids: readonly string[]) =>
    ids.filter((id) => database.prepare('SELECT 1 FROM evaluations WHERE id = ?').get(id) !== undefined);
  const count = (table: string, where: string, ...values: readonly unknown[]) =>
    database
      .prepare<unknown[], number>(`SELECT count(*) FROM ${table} WHERE ${where}`)
      .pluck()
      .get(...values) ?? 0;
  const calls = async (id: string) =>
    (await allOf(opened.store.deletions.contents(of.projectId, [callTraceId(id)]))).length;
  async function remove(
    kind: 'span' | 'trace' | 'session',
    id: string | undefined,
    work: readonly WorkUnderWay[] = [],
    spans: StoredSpans = opened.store.deletions,
  ): Promise<void> {
    const service = openDeletions(metadata, spans);
    service.start(work);
    expect(await service.delete(of.projectId, { kind, id: id ?? '', by: null })).to.equal(true);
    await service.close();
  }
  /** Nothing is noted that is not there. */
  async function expectSound(): Promise<void> {
    const suspects: unknown[] = [];
    for await (const page of new MetadataAudit(database).pages()) suspects.push(...page.suspects);
    expect(suspects).to.deep.equal([]);
  }

  it('goes with any span of the trace, with corrections, copies of them, calls and what jobs did with it', async () => {
    const [ofTraces, ofSpans] = [judge('trace'), judge('span')];
    const [lost, kept] = [await trace(), await trace()];
    const [gone, stays] = [await evaluated(ofTraces, [lost]), await evaluated(ofTraces, [kept])];
    const ofOther = evaluation(ofSpans, lost[0] as Span, null);
    const said = { project_id: of.projectId, prompt_id: null, completion_id: lost[0]?.id ?? '', user_id: of.userId };
    for (const judge_id of [ofTraces, ofSpans])
      metadata.feedback.save({ ...said, ...NOTHING, judge_id, thumbs_up: false, at: NOW });
    const values = { judge: ofTraces, other: ofSpans, project: of.projectId, user: of.userId, span: lost[0]?.id };
    const run = (sql: string) => database.prepare<object>(sql).run(values);
    for (const by of ['judge', 'other']) {
      run(`INSERT INTO judge_pins (project_id, judge_id, judge_version, prompt_version_id, revision, created_at)
        VALUES (@project, @${by}, 'v/c1', 'v', 1, 1)`);
      run(`INSERT INTO judge_pin_corrections (pin, position, span_id, example)
        VALUES ((SELECT max(seq) FROM judge_pins), 0, @span, '{}')`);
      run(`INSERT INTO jobs (id, project_id, kind, subject_id, state, done, summary, input, created_at, created_by)
        VALUES ('job of ' || @${by}, @project, 'calibration', @${by}, 'running', 0, '{}',
          json_object('held_out', json_array(json_object('span_id', @span))), 1, @user)`);
    }
    const jobOf = (of: string) => jobTraceId(`job of ${of}`);
    await stored([ofTraces, ofSpans].map((id) => storedSpan({ trace_id: jobOf(id) })));
    const scopes: ReadonlySet<string>[] = [];

    await remove('span', lost[2]?.id, [{ giveUp: async ({ judges }) => void scopes.push(judges) }]);
    expect(left([gone, stays, ofOther])).to.deep.equal([stays, ofOther]);
    expect([await calls(gone), await calls(stays)]).to.deep.equal([0, 1]);
    expect(scopes[0]).to.deep.equal(new Set([ofTraces]));
    expect(count('corrections', 'judge_id = ?', ofTraces)).to.equal(0);
    expect(count('corrections', 'judge_id = ?', ofSpans)).to.equal(1);
    expect(metadata.corrections.lastRemoval(ofTraces)).to.be.greaterThan(0);
    expect(count('feedback', 'completion_id = ?', lost[0]?.id), 'what people said of the span').to.equal(2);
    expect(count('judge_versions', 'judge_id = ? AND evaluations = 1', ofTraces)).to.equal(1);
    expect(count('judged_traces', 'run_id IN (?, ?)', gone, stays)).to.equal(1);
    expect(count('judge_pins', 'judge_id = ? AND lost_at IS NOT NULL', ofTraces)).to.equal(1);
    expect(count('judge_pin_corrections', 'span_id = ?', lost[0]?.id), 'that of the other judge').to.equal(1);
    const failed = database.prepare('SELECT subject_id FROM jobs WHERE state = ?').pluck().all('failed');
    expect(failed).to.deep.equal([ofTraces]);
    const ofJobs = await allOf(opened.store.deletions.contents(of.projectId, [ofTraces, ofSpans].map(jobOf)));
    expect(ofJobs.map(({ trace_id }) => trace_id)).to.deep.equal([jobOf(ofSpans)]);
    await expectSound();
  });

  it('goes where the session showed the trace, and stays where it did not', async () => {
    const ofSessions = judge('session');
    const session_id = randomUUID();
    const [first, second, unshown] = [
      await trace({ session_id }),
      await trace({ session_id }),
      await trace({ session_id }),
    ];
    const one = await evaluated(ofSessions, [first, second], session_id);
    await remove('trace', unshown[0]?.trace_id);
    expect(left([one])).to.deep.equal([one]);
    await remove('trace', second[0]?.trace_id);
    expect(left([one])).to.deep.equal([]);
    expect(await calls(one)).to.equal(0);
    const again = await evaluated(ofSessions, [first], session_id);
    await remove('session', session_id);
    expect([left([again]), await calls(again)]).to.deep.equal([[], 0]);
    await expectSound();
  });

  it('goes with its own trace where spans of two traces have one id', async () => {
    const ofTraces = judge('trace');
    const id = randomUUID();
    const [[one], [other]] = [await stored([storedSpan({ id })]), await stored([storedSpan({ id })])];
    if (one === undefined || other === undefined) throw new Error('Nothing was stored');
    const [gone, stays] = [await evaluated(ofTraces, [[one]]), await evaluated(ofTraces, [[other]])];
    const scopes: ReadonlySet<string>[] = [];
    await remove('trace', one.trace_id, [{ giveUp: async ({ spans }) => void scopes.push(spans ?? new Set()) }]);
    expect(left([gone, stays])).to.deep.equal([stays]);
    expect([await calls(gone), await calls(stays)]).to.deep.equal([0, 1]);
    expect(scopes[0], 'what is under way may show either').to.deep.equal(new Set([id]));
  });

  it('is said anew by a run that was begun; others wait as they did, but for those that failed', async () => {
    const ofTraces = judge('trace');
    const spans = await trace();
    const [span, , lost] = spans as [Span, Span, Span];
    const queue = (subject_id: string, span_id = span.id) => {
      const id = randomUUID();
      const draft = { id, project_id: of.projectId, judge_id: ofTraces, span_id, trace_id: span.trace_id };
      metadata.runs.enqueue([{ ...draft, subject_id, span_started_at: NOW, origin: 'requested' }], NOW);
      return id;
    };
    const [waiting, begun, failed] = [queue(span.trace_id, lost.id), queue(span.trace_id), queue(span.trace_id)];
    for (const runId of [begun, failed])
      expect(
        runTraces(database)({ projectId: of.projectId, runId, traceIds: [span.trace_id] }) && (await called(runId)),
      ).to.equal(runId);
    const run = metadata.runs.due(of.projectId, NOW + 1, 10).find(({ id }) => id === failed);
    if (run === undefined) throw new Error('It is not queued');
    metadata.runs.settle([{ kind: 'failed', run, reason: 'it said something' }], NOW);
    expect(runTraces(database)({ projectId: of.projectId, runId: failed, traceIds: [] }), 'queued no more').to.equal(
      false,
    );

    await remove('span', lost.id);
    const runs = database
      .prepare('SELECT id, attempts, state FROM judge_runs WHERE judge_id = ? ORDER BY seq')
      .all(ofTraces) as { id: string }[];
    expect(runs).to.have.length(2);
    expect(runs[0]).to.deep.equal({ id: waiting, attempts: 0, state: 'queued' });
    expect(runs[1]?.id).to.not.equal(begun);
    expect(await Promise.all([begun, failed].map(calls))).to.deep.equal([0, 0]);
    expect(count('judged_traces', 'trace_id = ?', span.trace_id)).to.equal(0);
    expect(count('judge_calls', 'run_id IN (?, ?)', begun, failed)).to.equal(0);
    // What the run that was under way finds is of no queued run any more.
    expect([...metadata.runs.stillQueued([begun, waiting])]).to.deep.equal([waiting]);
    await expectSound();
  });

  it('is looked for until nothing more is stored, and leaves calls of a run that ends without an evaluation', async () => {
    const ofTraces = judge('trace');
    const spans = await trace();
    let late: string | undefined;
    await remove('span', spans[1]?.id, [
      {
        async giveUp() {
          late ??= await evaluated(ofTraces, [spans]);
        },
      },
    ]);
    expect(left([late ?? ''])).to.deep.equal([]);
    expect(await calls(late ?? '')).to.equal(0);

    const [span] = spans as [Span];
    const id = randomUUID();
    const draft = { id, project_id: of.projectId, judge_id: ofTraces, span_id: span.id, trace_id: span.trace_id };
    metadata.runs.enqueue([{ ...draft, subject_id: span.trace_id, span_started_at: NOW, origin: 'requested' }], NOW);
    runTraces(database)({ projectId: of.projectId, runId: id, traceIds: [span.trace_id] });
    metadata.judges.remove(of.projectId, ofTraces, NOW);
    await called(id);
    expect(count('judge_calls', 'run_id = ?', id)).to.equal(1);
    await remove('span', spans[2]?.id);
    expect([await calls(id), count('judge_calls', 'run_id = ?', id)]).to.deep.equal([0, 0]);
    await expectSound();
  });

  it('goes with the calls of jobs that showed the trace, of which no evaluation tells', async () => {
    const ofSessions = judge('session');
    const [anchors, others] = [await trace(), await trace()];
    const [anchor, lost] = [anchors[0] as Span, others[1] as Span];
    const inSession = { held_out: [{ span_id: anchor.id }], training: [] };
    const job = (id: string, end: JobEnd | null) => {
      const head = { id, project_id: of.projectId, kind: 'calibration', subject_id: ofSessions, summary: {} };
      const fresh = {
        phase: null,
        total: null,
        done: 0,
        checkpoint: null,
        result: null,
        error: null,
        finished_at: null,
      };
      const made = { created_at: NOW, created_by: of.userId, input: inSession };
      metadata.jobs.insert({ ...head, ...fresh, ...made, state: 'queued' });
      expect(metadata.jobs.noteTraces(id, anchor.id, [anchor.trace_id, lost.trace_id])).to.equal(true);
      if (end !== null) metadata.jobs.end(id, end, NOW);
      return stored([storedSpan({ trace_id: jobTraceId(id) })]);
    };
    const spans = [{ span_id: anchor.id, before: { evaluation_reason: 'The other trace says so' } }];
    await job('ended', { state: 'done', result: { spans } });
    await job('running', null);
    const jobs: ReadonlySet<string>[] = [];
    await remove('span', lost.id, [{ giveUp: async (scope) => void jobs.push(scope.jobs) }]);
    expect(jobs).to.deep.include(new Set(['ended', 'running']));
    expect(metadata.jobs.findById('ended')).to.deep.include({ state: 'done', result: { spans: [] } });
    expect(metadata.jobs.findById('running')).to.deep.include({
      state: 'failed',
      input: { ...inSession, held_out: [] },
    });
    const contents = await allOf(
      opened.store.deletions.contents(
        of.projectId,
        ['ended', 'running'].map((id) => jobTraceId(id)),
      ),
    );
    expect(contents).to.deep.equal([]);
    expect(count('job_traces', 'span_id = ?', anchor.id)).to.equal(0);
    expect(metadata.jobs.noteTraces('running', anchor.id, [lost.trace_id]), 'it has ended').to.equal(false);
    await expectSound();
  });

  it('stays where it is of what was sent again', async () => {
    const ofTraces = judge('trace');
    const spans = await trace();
    const before = await evaluated(ofTraces, [spans]);
    let again: string | undefined;
    const deletions: StoredSpans = opened.store.deletions;
    const coming = new Proxy(deletions, {
      get: (target, key: keyof StoredSpans) =>
        key === 'removeTraces'
          ? async (...asked: Parameters<StoredSpans['removeTraces']>) => {
              const removed = await target.removeTraces(...asked);
              await stored(spans.map((span) => ({ ...span, name: 'again' })));
              again = await evaluated(ofTraces, [spans]);
              return removed;
            }
          : (target[key] as (...args: unknown[]) => unknown).bind(target),
    });
    await remove('trace', spans[0]?.trace_id, [], coming);
    expect(left([before, again ?? ''])).to.deep.equal([again]);
    expect(await calls(again ?? '')).to.equal(1);
  });

  it('goes with its project, and no other', async () => {
    const other = makeProject(dataDir);
    const ids = { ...storedSpan() };
    const [there] = await stored([ids], other.projectId);
    const id = await evaluated(judge('trace', other), [[there ?? storedSpan()]], undefined, other);
    const [here = storedSpan()] = await stored([{ ...ids }]);
    const stays = await evaluated(judge('trace'), [[here]]);
    const deletion = metadata.deletions.orderProject(other.projectId, NOW);
    while (deletion !== null && metadata.deletions.removeSomeOfProject(deletion));
    expect(left([id, stays])).to.deep.equal([stays]);
    expect(count('judged_traces', 'project_id = ?', other.projectId)).to.equal(0);
    expect(count('judged_traces', 'run_id = ?', stays)).to.equal(1);
    await expectSound();
  });
});

describe('very many records of a trace that judges were shown', () => {
  const TRACES = 900;
  const MANY = 700;
  let file: JudgeFile;
  beforeEach(() => {
    file = new JudgeFile();
    file.database.exec("UPDATE judges SET subject = 'session'");
  });
  afterEach(() => file.dispose());

  const rows = () =>
    ['evaluations', 'corrections', 'judged_traces'].reduce(
      (sum, table) => sum + (file.database.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0),
      0,
    );

  for (const by of ['trace', 'span'] as const)
    it(`go by portions, cut off behind each: by ${by}`, () => {
      const many =
        'WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < @count) INSERT INTO';
      const run = (sql: string, count: number) => file.database.prepare<object>(sql).run({ count, judge: JUDGE });
      for (const id of ['one', 'two'])
        file.evaluate('anchor', true, 'pv1/none', { id, subject_id: 'session', subject_upto: 1 });
      run(`${many} judged_traces SELECT 'project', 'trace ' || n, 'one' FROM many`, TRACES);
      run(`${many} judged_traces SELECT 'project', 'trace ' || n, 'two' FROM many`, 3);
      run(`${many} users (id, name, created_at) SELECT 'user ' || n, 'P', n FROM many`, MANY);
      run(
        `${many} feedback (id, project_id, prompt_id, completion_id, user_id, judge_id, thumbs_up, metadata, created_at, updated_at)
         SELECT 'said ' || n, 'project', 'prompt', 'anchor', 'user ' || n, @judge, 1, '{}', n, n FROM many`,
        MANY,
      );
      run(
        `${many} corrections (feedback_id, judge_id, span_id, user_id, evaluation_seq, revision, thumbs_up, given_at)
         SELECT 'said ' || n, @judge, 'anchor', 'user ' || n, 1, n, 1, n FROM many`,
        MANY,
      );
      run(
        `INSERT INTO jobs (id, project_id, kind, subject_id, state, done, summary, input, created_at, created_by)
         SELECT 'job', 'project', 'calibration', @judge, 'running', 0, '{}', '{"held_out":[{"span_id":"anchor"}]}', @count, 'ann'`,
        1,
      );
      const target = { projectId: 'project', kind: 'trace', id: randomUUID() } as const;
      const ordered = new SqliteDeletionStore(file.database).begin({ ...target, upTo: 0, at: 0 }, [], true);
      for (let portions = 0, done = 0; done === 0; portions += 1) {
        expect(portions).to.be.below(20);
        const store = new SqliteDeletionStore(file.database);
        const before = rows();
        ({ done } =
          by === 'trace'
            ? store.removeJudged(ordered, [{ id: 'trace 2', stays: false }])
            : store.removeSpans(ordered, [{ id: 'anchor', stays: false }]));
        // What is removed by counted rows, and the last row of each of the two.
        expect(before - rows()).to.be.at.most(502);
      }
      expect(rows()).to.equal(0);
      const runs = file.database.prepare("SELECT DISTINCT id FROM deletion_items WHERE kind = 'run'").pluck().all();
      expect(runs).to.have.members(['one', 'two']);
      expect(new SqliteDeletionStore(file.database).jobsShown(ordered)).to.deep.equal([
        { job_id: 'job', span_id: 'anchor' },
      ]);
    });

  it('begin anew, of a run with more traces than a portion takes', () => {
    const one = { project_id: 'project', judge_id: JUDGE, span_id: 'anchor', trace_id: 'trace', span_started_at: 1 };
    const runs = new SqliteRunStore(file.database);
    runs.enqueue([{ ...one, id: 'begun', subject_id: 'session', origin: 'requested' }], 1);
    const traceIds = Array.from({ length: TRACES }, (_none, index) => `trace ${index}`);
    expect(runTraces(file.database)({ projectId: 'project', runId: 'begun', traceIds })).to.equal(true);
    const target = { projectId: 'project', kind: 'span', id: 'anchor' } as const;
    const store = new SqliteDeletionStore(file.database);
    const ordered = store.begin({ ...target, upTo: 0, at: 0 }, [], true);
    while (store.removeSpans(ordered, [{ id: 'anchor', stays: false }]).done === 0);
    const noted = file.database.prepare("SELECT id FROM deletion_items WHERE kind = 'run'").pluck().all();
    expect(noted).to.deep.equal(['begun']);
    expect(runs.ofWhole(JUDGE, 'session').map(({ id }) => id))
      .to.have.length(1)
      .and.not.include('begun');
  });

  it('are found by indexes', () => {
    const statements: string[] = [];
    const prepare = file.database.prepare.bind(file.database);
    file.database.prepare = (sql: string) => {
      statements.push(sql);
      return prepare(sql);
    };
    new SqliteDeletionStore(file.database);
    new SqliteEvaluationStore(file.database);
    runTraces(file.database);
    const looked = statements.filter((sql) => /judged_traces|evaluations_of_wholes|subject_id/.test(sql));
    expect(looked.length).to.be.greaterThan(10);
    for (const sql of looked) {
      const plan = prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll(/@\w+|\?/g, '1')}`).all() as { detail: string }[];
      const read = plan
        .map(({ detail }) => detail)
        .filter((detail) => /^SCAN (?!.*VIRTUAL TABLE|CONSTANT|\()/.test(detail));
      expect(read, sql).to.deep.equal([]);
    }
  });

  it('are told by the store: the newest evaluation, how many a judge made by itself, and up to when it had seen spans', () => {
    const { evaluations } = file;
    expect([evaluations.latestOfWhole(JUDGE, 'trace'), evaluations.countOfWhole(JUDGE, 'trace', 20)]).to.deep.equal([
      undefined,
      0,
    ]);
    expect(evaluations.newestAutomaticUpto(JUDGE, 'trace')).to.equal(null);
    const whole = { subject_id: 'trace', origin: 'automatic' } as const;
    file.evaluate('root', true, null, { ...whole, id: 'first', subject_upto: 5 });
    file.evaluate('root', false, null, { ...whole, id: 'second', subject_upto: 7 });
    file.evaluate('root', true, null, { ...whole, id: 'third', origin: 'requested', subject_upto: 9 });
    file.evaluate('root', true, null, { origin: 'automatic' });
    expect(evaluations.latestOfWhole(JUDGE, 'trace')).to.include({ id: 'third', subject_upto: 9, subject_id: 'trace' });
    expect([1, 20].map((most) => evaluations.countOfWhole(JUDGE, 'trace', most))).to.deep.equal([1, 2]);
    expect(evaluations.newestAutomaticUpto(JUDGE, 'trace')).to.equal(7);
  });
});
