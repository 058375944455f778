import { expect } from 'chai';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Program, PROJECT_ID } from '../harness/program.js';
import type { TestServer } from '../harness/server.js';
import { idsOf, LearningApi } from './learning-api.js';
import { examplesIn, ScriptedModel, shown, verdict, type Asked } from './scripted-model.js';

const AT_ONCE = 4;
const KILLS = 3;

/** The real program, killed and started again on its data, as the server of the API. */
class Mortal {
  readonly #dataDir: string;
  readonly #env: Readonly<Record<string, string>>;
  #program: Program | null = null;

  constructor(dataDir: string, env: Readonly<Record<string, string>>) {
    this.#dataDir = dataDir;
    this.#env = env;
  }

  async start(): Promise<void> {
    this.#program = await Program.start(this.#dataDir, this.#env);
  }

  /** What a person would look at when it is not well. */
  get complaints(): string {
    return `${this.#program?.stderr ?? ''}${this.#program?.complaints() ?? ''}`;
  }

  async kill(): Promise<void> {
    await this.#program?.destroy();
  }

  api(): LearningApi {
    const server: Pick<TestServer, 'projectId' | 'request'> = {
      projectId: PROJECT_ID,
      request: async (method, path, request = {}) => {
        const answer = await this.#program!.request(method, path, request.body);
        return {
          status: answer.status,
          json: answer.json,
          text: JSON.stringify(answer.json) ?? 'no answer',
          headers: new Headers(),
        };
      },
    };
    return new LearningApi(server as TestServer);
  }
}

/** What is asked, without the examples: these may differ after a start. */
const keyOf = (asked: Asked) => {
  const { messages, response_format } = asked;
  const last = messages.at(-1)?.content.replaceAll(/-[0-9a-f]{32}>/g, '>');
  return JSON.stringify([response_format?.json_schema?.name, messages[0]?.content, last, examplesIn(asked).length > 0]);
};

describe(`jobs through kill -9, ${KILLS} times each`, function () {
  this.timeout(120_000);
  let dataDir: string;
  let model: ScriptedModel;
  let mortal: Mortal;
  let api: LearningApi;

  before(async () => {
    dataDir = await freshDataDir('spanhouse-jobs-');
    model = await ScriptedModel.start(() => verdict(true));
    mortal = new Mortal(dataDir, {
      JUDGE_LLM_BASE_URL: model.url,
      JUDGE_LLM_MODEL: 'gpt-4o-mini',
      JUDGE_CONCURRENCY: String(AT_ONCE),
    });
    await mortal.start();
    api = mortal.api();
  });
  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(mortal.complaints);
  });
  after(async () => {
    await mortal.kill();
    await model.stop();
    await removeDirectory(dataDir);
  });

  /** Kills the server again and again while the job is at work, and answers the job when it has ended. */
  async function throughKills(path: string): Promise<any> {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      // Spread over its steps, however many of them are done before it is looked at again.
      const { done } = await api.until(async () => {
        const job = await api.get(path);
        return job.done > 0 && job.done >= Math.floor((job.total * kill) / (KILLS + 1)) ? job : null;
      });
      await mortal.kill();
      await mortal.start();
      expect((await api.get(path)).done, 'steps kept').to.be.at.least(done);
    }
    return api.finished(path);
  }

  /** Calls under way at a kill are made again; what was answered before is not, but for what was being written. */
  function expectNoRepetition(distinct: number): void {
    const calls = model.asked.map(keyOf);
    expect(new Set(calls).size).to.equal(distinct);
    expect(calls.length - distinct, 'calls repeated').to.be.at.most(2 * AT_ONCE * KILLS);
  }

  const optimization = async (slug: string, ids: readonly string[], body: () => Promise<Record<string, unknown>>) => {
    model.delayMs = 0;
    await api.expect(200, 'POST', `/v1/tasks/${slug}/prompt/versions/ensure`, { content: 'Say hello.' });
    await api.spans(ids.map((id) => ({ id, input_data: `question ${id}`, output_data: 'hi' })));
    const feedback = { thumbs_up: false, reason: 'no', expected_output: 'bonjour' };
    for (const id of ids) await api.expect(200, 'POST', `/v1/prompts/${slug}/completions/${id}/feedback`, feedback);
    model.script = (asked) => {
      const form = asked.response_format?.json_schema?.name;
      if (form === 'candidates') return JSON.stringify({ candidates: [{ content: 'Say bonjour.', rationale: 'r' }] });
      const isRight = shown(asked, 'output').startsWith('bonjour');
      if (form === 'verdict') return verdict(isRight);
      if (form === 'comparison') return JSON.stringify({ reason: 'r', equivalent: isRight });
      const { messages } = asked;
      return `${messages[0]?.content.includes('bonjour') === true ? 'bonjour' : 'hello'} ${messages[1]?.content ?? ''}`;
    };
    model.delayMs = 100;
    model.asked.length = 0;
    const path = `${api.project}/prompts/${slug}/optimizations`;
    const { id } = await api.expect(202, 'POST', path, { candidates: 1, ...(await body()) });
    const job = await throughKills(`${path}/${id}`);
    expect(job).to.include({ status: 'done', done: 41, total: 41 });
    expect(job.result.candidates[0]).to.include({ wins: 10, losses: 0, compared: 10, failed: 0 });
    expectNoRepetition(41);
    const calls = await api.get(`/spans?spanhouse.optimization=${id}&fields=id`);
    expect(calls, 'one span for each call that counts').to.have.length(41);
  };

  it('an optimization goes on where it was', () =>
    optimization('judged', idsOf(30_000, 10, 10), async () => ({ judge_id: (await api.judge()).id as string })));

  it('an optimization without a judge goes on where it was', () =>
    optimization('compared', idsOf(32_000, 10, 10), () => Promise.resolve({})));

  it('a trial of a judge goes on where it was', async () => {
    model.delayMs = 0;
    model.script = (asked) => verdict(examplesIn(asked).length === 0);
    const judge = await api.judge();
    const ids = idsOf(31_000, 12, 12);
    await api.spans(ids.map((id) => ({ id, input_data: `question ${id}`, output_data: 'hi' })));
    await api.evaluate(judge, ids);
    for (const id of ids) await api.review(judge, id, { thumbs_up: false });
    model.delayMs = 100;
    model.asked.length = 0;
    const path = `${api.project}/judges/${judge.id}/calibration`;
    const { id } = await api.expect(202, 'POST', `${path}:evaluate`, {});
    const job = await throughKills(`${path}/evaluations/${id}`);
    expect(job).to.include({ status: 'done', done: 24, total: 24 });
    expect(job.result).to.include({ compared: 12, improved: 12, failed: 0 });
    expectNoRepetition(24);
  });
});
