import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { idsOf, LearningApi } from '../learning/learning-api.js';
import { ScriptedModel } from '../learning/scripted-model.js';
import { ApiDocument, type Operation } from '../harness/api-document.js';
import { START, uuid } from '../harness/checked-api.js';

/** What the server writes by itself, whoever asks for what. */
const OF_THE_SERVER = new Set([
  'believed_clock',
  'judge_feed',
  'judge_feed_projects',
  'judge_runs',
  'judge_calls',
  'judged_traces',
  'job_steps',
  'job_spans',
  'job_traces',
  // Looks at monitors and deliveries go on by themselves.
  ...['monitors', 'monitor_changes', 'webhooks', 'webhook_deliveries'],
  // The last number given in any table, those above too.
  'sqlite_sequence',
]);
/** What goes on by itself, but is made by those who ask. */
const JOBS = new Set(['jobs']);
/** Those of API keys and projects are answered with milliseconds. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{3}|\d{6})Z$/;
const WITHOUT = new Set(['last_used_at', 'last_used_from']);

/** What is made anew for calls that may name it, by what their descriptions then say. Results are of a dataset's rows. */
const NAMED = {
  judge: /judge/,
  dataset: /dataset|example|item_?id|row_id|repetition|experiment|evals|scorer|run_?name/i,
  monitor: /monitor|webhook|target/,
  dashboard: /dashboard|view/,
  trace: /trace_id|traces|comment|share|sharing/,
} as const satisfies Readonly<Record<string, RegExp>>;
type Part = keyof typeof NAMED;
const PARTS = Object.keys(NAMED) as Part[];

/** A server in which there is something of every kind, and an eye on what is written of it. */
export class MalformedScene {
  readonly api: LearningApi;
  readonly document: ApiDocument;
  /** By the names that parameters and members have: what there is. */
  readonly known: Record<string, unknown>;
  readonly #model: ScriptedModel;
  readonly #database: Database;
  #datasets = 0;
  #traces = 0;
  /** To which of what tests need something may have been done since it was made. */
  readonly #used = new Set<Part>(PARTS);
  readonly #parts = new Map<Operation, readonly Part[]>();
  #isSpent = true;
  #kept = { version: NaN, hashes: {} as Record<string, string> };

  private constructor(api: LearningApi, model: ScriptedModel, document: ApiDocument, known: Record<string, unknown>) {
    this.api = api;
    this.document = document;
    this.known = known;
    this.#model = model;
    this.#database = openDatabase(join(api.server.dataDir, DATABASE_FILE));
  }

  static async boot(): Promise<MalformedScene> {
    // What is taken fails soon, so that the next one is taken too.
    const model = await ScriptedModel.start(() => ({ status: 401 }));
    const booted = await LearningApi.boot(model, {
      limits: { reviewRequestsPerMinute: 1_000_000 },
      signIns: { attemptsPerMinute: 1_000_000 },
    });
    // Unlike the one booted, it takes odd paths, which the document need not describe.
    const api = new LearningApi(booted.server);
    const ids = idsOf(40_000, 4, 4);
    const ensure = '/v1/tasks/p/prompt/versions/ensure';
    const { id: phoenix_version_id } = await api.expect(200, 'POST', ensure, { content: 'Say {{what}}.' });
    await api.expect(200, 'POST', `${api.project}/prompts/p/tags/production:pin`, { version: 1 });
    const attributes = { task: 'p' };
    const feedback = { thumbs_up: false, reason: 'no', expected_output: 'b' };
    await api.spans(ids.map((id) => ({ id, session_id: uuid(3), input_data: 'q', output_data: 'a', attributes })));
    for (const id of ids) await api.expect(200, 'POST', `/v1/prompts/p/completions/${id}/feedback`, feedback);
    const { id: link_id, url } = await api.expect(200, 'POST', '/feedback-links', { prompt_slug: 'p' });
    const optimizations = `${api.project}/prompts/p/optimizations`;
    const job = await api.expect(202, 'POST', optimizations, {});
    await api.finished(`${optimizations}/${job.id}`);
    const known = {
      project_id: api.server.projectId,
      span_id: ids[0],
      completion_id: ids[0],
      entity_id: ids[0],
      prompt_slug: 'p',
      prompt_name: 'p',
      phoenix_version_id,
      label: 'production',
      task_name: 'p',
      task_slug: 'p',
      version: 1,
      base_version: 1,
      link_id,
      score: 5,
      tag: 'production',
      job_id: job.id,
      ref: 'latest',
      from: 'latest',
      version_number: 1,
      organization_id: api.server.projectId,
      token: new URL(url).pathname.split('/').pop(),
      started_at: START,
      ended_at: START,
      started_after: null,
      started_before: null,
    };
    return new MalformedScene(api, model, await ApiDocument.of(api.server, TIME), known);
  }

  /** Something was taken that may have changed what there is. */
  used(): void {
    this.#isSpent = true;
    for (const part of PARTS) this.#used.add(part);
  }

  /** Waits until no job or deletion is under way that somebody asked for: it writes to what it is about. */
  async settled(): Promise<void> {
    const unfinished = this.#database.prepare(
      'SELECT 1 FROM jobs WHERE finished_at IS NULL UNION ALL SELECT 1 FROM deletions LIMIT 1',
    );
    await this.api.until(() => Promise.resolve(unfinished.get() === undefined ? true : null));
  }

  /** Makes what a call may name, so that nothing was done to it; without a call, everything. */
  async renew(operation?: Operation): Promise<void> {
    const parts = (operation === undefined ? PARTS : this.#namedBy(operation)).filter((part) => this.#used.has(part));
    if (this.#isSpent) {
      // With one that is spent, jobs would wait.
      await this.api.expect(200, 'PUT', `${this.api.project}/model-budget`, { monthly_limit: null });
      await this.settled();
    }
    this.#isSpent = false;
    for (const part of parts) {
      this.#used.delete(part);
      await this.#renewals[part]();
    }
  }

  readonly #renewals: Readonly<Record<Part, () => Promise<void>>> = {
    judge: () => this.#renewJudge(),
    dataset: () => this.#renewDataset(),
    monitor: () => this.#renewMonitor(),
    dashboard: () => this.#renewDashboard(),
    trace: () => this.#renewTrace(),
  };

  #namedBy(operation: Operation): readonly Part[] {
    const known = this.#parts.get(operation);
    if (known !== undefined) return known;
    const text = this.document.takenBy(operation);
    const parts = PARTS.filter((part) => NAMED[part].test(text));
    this.#parts.set(operation, parts);
    return parts;
  }

  async #renewDataset(): Promise<void> {
    const name = `set ${++this.#datasets}`;
    const path = `/v1/datasets/${name}`;
    const { id: dataset_id } = await this.api.expect(201, 'POST', '/v1/datasets', { name });
    const item_id = `item ${this.#datasets}`;
    const rows = [{ id: 1 }, { id: item_id }];
    const version = await this.api.expect(200, 'POST', `${path}/versions`, { rows });
    await this.api.expect(200, 'POST', `${path}/tags/production:pin`, { version_number: 1 });
    Object.assign(this.known, { name, dataset: name, dataset_id, dataset_version_id: version.id });
    // As clients of Langfuse call them.
    const run = { run_name: 'trial', runName: 'trial', datasetId: dataset_id };
    Object.assign(this.known, { ...run, dataset_name: name, datasetName: name, item_id, datasetItemId: item_id });
    await this.#renewExperiment(name);
  }

  /** A trace that is commented on and shared. */
  async #renewTrace(): Promise<void> {
    const { api, known } = this;
    const trace_id = uuid(41_000 + ++this.#traces);
    await api.spans([{ id: trace_id }]);
    await api.expect(200, 'PUT', `${api.project}/sharing`, { allowed: true });
    const traces = `${api.project}/traces/${trace_id}`;
    known['trace_id'] = trace_id;
    known['comment_id'] = (await api.expect(201, 'POST', `${traces}/comments`, { text: 'x' })).id;
    known['share_link_id'] = (await api.expect(201, 'POST', `${traces}/share-links`, {})).id;
  }

  async #renewExperiment(dataset: string): Promise<void> {
    const path = `${this.api.project}/experiments`;
    const { id } = await this.api.expect(201, 'POST', path, { name: 'trial', dataset });
    const [result] = await this.api.expect(200, 'POST', `${path}/${id}/results`, [{ row_id: '1', output_data: 'x' }]);
    await this.api.expect(200, 'POST', `${path}/${id}/tags/production:pin`);
    const scorer = await this.api.expect(200, 'POST', `/v1/evals/${id}/scorers`, { name: 'scorer' });
    const ids = { experiment_id: id, eval_id: id, scorer_id: scorer.id, eval_result_id: result.id };
    Object.assign(this.known, { ...ids, row_id: '1', repetition: 1, dataset_version: 1, dataset_ref: 'latest' });
    // As clients of Phoenix call them.
    Object.assign(this.known, { dataset_example_id: '1', repetition_number: 1 });
  }

  /** A project can have so many of each: those before go. */
  async #renewMonitor(): Promise<void> {
    const { api, known } = this;
    const [monitors, webhooks] = [`${api.project}/monitors`, `${api.project}/webhooks`];
    const target = 'https://hooks.example.invalid/mine';
    for (const path of [monitors, webhooks])
      for (const { id } of await api.get(path)) await api.expect(204, 'DELETE', `${path}/${id}`);
    const monitor = {
      name: 'm',
      measure: 'count',
      window_minutes: 60,
      operator: 'above',
      threshold: 1,
      enabled: false,
    };
    known['monitor_id'] = (await api.expect(201, 'POST', monitors, monitor)).id;
    known['webhook_id'] = (await api.expect(201, 'POST', webhooks, { name: 'w', kind: 'webhook', target })).id;
    known['target'] = target;
  }

  /** The same of these. */
  async #renewDashboard(): Promise<void> {
    const { api, known } = this;
    const [views, dashboards] = [`${api.project}/saved-views`, `${api.project}/dashboards`];
    for (const path of [views, dashboards])
      for (const { id } of await api.get(path)) await api.expect(204, 'DELETE', `${path}/${id}`);
    known['view_id'] = (await api.expect(201, 'POST', views, { name: 'v', list: 'spans' })).id;
    known['dashboard_id'] = (await api.expect(201, 'POST', dashboards, { name: 'd' })).id;
  }

  async #renewJudge(): Promise<void> {
    const criteria = ['a', '__proto__'].map((key) => ({ key }));
    const scored = { evaluation_type: 'scored', score_min: 0, score_max: 10, pass_threshold: 5, criteria };
    this.known['judge_id'] = (await this.api.judge({ ...scored, enabled: false })).id;
  }

  /** A hash of each table of what is kept beside spans. */
  kept(): Record<string, string> {
    // It changes with whatever another connection commits: most requests write nothing.
    const version = this.#database.pragma('data_version', { simple: true }) as number;
    if (version !== this.#kept.version) this.#kept = { version, hashes: this.#hashes() };
    return this.#kept.hashes;
  }

  #hashes(): Record<string, string> {
    const tables = this.#database
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .pluck()
      .all();
    return Object.fromEntries(
      tables.filter((name) => !OF_THE_SERVER.has(name)).map((table) => [table, this.#hashOf(table)]),
    );
  }

  #hashOf(table: string): string {
    const rows = this.#database
      .prepare<[], Record<string, unknown>>(`SELECT ${JOBS.has(table) ? 'id' : '*'} FROM ${table}`)
      .all();
    const written = JSON.stringify(rows, (key, value: unknown) => (WITHOUT.has(key) ? undefined : value));
    return createHash('sha256').update(written).digest('hex');
  }

  async dispose(): Promise<void> {
    this.#database.close();
    await this.api.server.dispose();
    await this.#model.stop();
  }
}
