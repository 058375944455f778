import { RETRIES } from '../../src/engine/work/backoff.js';
import { uuid } from '../harness/checked-api.js';
import { idsOf, LearningApi } from '../learning/learning-api.js';
import { BETTER, bonjour, CURRENT, question, script } from '../learning/optimization-api.js';
import { ScriptedModel } from '../learning/scripted-model.js';
import { consoleScene, type ConsoleScene } from './harness.js';

export const SLUG = 'shop/support';
export const HOSTILE =
  '<script>document.title = "pwned"; alert(1)</script><img src="https://evil.example/x.png" onerror="alert(2)"> ' +
  '[link](javascript:alert(3)) invoice\u202egnp.exe {{shop}} {{customer.name}}';

/** A prompt with versions, tags, completions, feedback and an optimization, and a browser that looks at them. */
export class PromptsScene {
  readonly scene: ConsoleScene;
  #model: ScriptedModel | undefined;
  #api: LearningApi | undefined;

  /** For all tests of the suite that this is called in. */
  constructor() {
    before(async () => {
      this.#model = await ScriptedModel.start(script(() => [BETTER, `${CURRENT} Be brief.`]));
    });
    this.scene = consoleScene({
      boot: () => ({
        judgeRetry: { ...RETRIES.work, firstMs: 10 },
        env: {
          JUDGE_LLM_BASE_URL: this.#model?.url,
          JUDGE_LLM_MODEL: 'gpt-4o-mini',
          JUDGE_CONCURRENCY: '8',
        },
      }),
    });
    before(async () => {
      await this.#fill();
    });
    after(() => this.#model?.stop());
  }

  get api(): LearningApi {
    return (this.#api ??= new LearningApi(this.scene.server));
  }

  /** Path of the prompt below the project. */
  get path(): string {
    return `${this.api.project}/prompts/${encodeURIComponent(SLUG)}`;
  }

  ensure(content: string, more: Record<string, unknown> = {}) {
    const path = `/v1/tasks/${encodeURIComponent(SLUG)}/prompt/versions/ensure`;
    return this.api.expect(200, 'POST', path, { content, ...more });
  }

  pin(tag: string, version: number) {
    return this.api.expect(200, 'POST', `${this.path}/tags/${tag}:pin`, { version });
  }

  /** Two versions, tags, completions of both, of which people said that they should have been in French. */
  async #fill(): Promise<void> {
    const { api } = this;
    const first = await this.ensure(CURRENT, { model_id: 'gpt-4o-mini' });
    const lines = Array.from({ length: 12 }, (_, index) => `Rule ${index + 1} stays as it is.`).join('\n');
    await this.ensure(`${CURRENT}\n${lines}`);
    const third = await this.ensure(`You help people who bought at {{shop}}.\n${lines}\n${HOSTILE}`, {
      metadata: { by: HOSTILE },
    });
    for (const version of [2, 1]) await this.pin('production', version);
    await this.pin('staging', 3);
    const ids = idsOf(40_000, 5, 5);
    const started_at = new Date(Date.now() - 3_600_000).toISOString();
    const span = (id: string, version: string, more: Record<string, unknown> = {}) => ({
      id,
      started_at,
      cost: 0.01,
      input_data: JSON.stringify([
        { role: 'system', content: 'You help customers of Lampen.' },
        { role: 'user', content: question(id) },
      ]),
      output_data: `Hello: ${question(id)} (Lampen)`,
      attributes: { zeroeval: { prompt_slug: SLUG, prompt_version_id: version } },
      ...more,
    });
    await api.spans([
      ...ids.map((id) => span(id, first.id as string)),
      span(uuid(41_000), third.id as string, { output_data: HOSTILE, error_code: 'E1' }),
    ]);
    for (const id of ids)
      await api.expect(200, 'POST', `/v1/prompts/${encodeURIComponent(SLUG)}/completions/${id}/feedback`, bonjour(id));
  }
}
