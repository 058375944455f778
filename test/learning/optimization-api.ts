import { LearningApi } from './learning-api.js';
import { ScriptedModel, shown, verdict, type Asked } from './scripted-model.js';

export const CURRENT = 'You help customers of {{shop}}.';
export const BETTER = 'You help customers of {{shop}}. Answer in French.';

export const isProposal = (asked: Asked) => asked.response_format?.json_schema?.name === 'candidates';
export const isVerdict = (asked: Asked) => asked.response_format?.json_schema?.name === 'verdict';
export const isComparison = (asked: Asked) => asked.response_format?.json_schema?.name === 'comparison';
const compared = (equivalent: boolean) => JSON.stringify({ reason: 'scripted', equivalent });
const propose = (contents: readonly string[]) =>
  JSON.stringify({ candidates: contents.map((content) => ({ content, rationale: `because of ${content.length}` })) });

/** What the model makes of a question: it does as the prompt says. */
function complete({ messages }: Asked): string {
  const system = messages.find(({ role }) => role === 'system')?.content ?? '';
  const question = messages.find(({ role }) => role === 'user')?.content ?? '';
  return `${system.includes('French') ? 'Bonjour' : 'Hello'}: ${question} (${/of (\w+)/.exec(system)?.[1] ?? 'nowhere'})`;
}

/** Passes what is the expected output, of which it is told. */
export function judge(asked: Asked): string {
  const told = asked.messages.map(({ content }) => /^\{"expected_output":.*$/m.exec(content)?.[0]).find(Boolean);
  const { expected_output } = JSON.parse(told ?? '{}') as { expected_output?: string | null };
  return verdict(shown(asked, 'output') === expected_output);
}

export function script(candidates: (times: number) => readonly string[]) {
  let proposals = 0;
  return (asked: Asked) => {
    if (isProposal(asked)) return propose(candidates((proposals += 1)));
    if (isComparison(asked)) return compared(shown(asked, 'output') === shown(asked, 'expected'));
    return isVerdict(asked) ? judge(asked) : complete(asked);
  };
}

export const question = (id: string) => `Where is ${id.slice(-4)}?`;

/** Feedback that the answer should have been in French. */
export const bonjour = (id: string) => ({
  thumbs_up: false,
  reason: 'wrong language',
  expected_output: `Bonjour: ${question(id)} (Lampen)`,
});

/** A server whose model is scripted, and prompts to optimize. */
export class OptimizationApi {
  readonly api: LearningApi;
  readonly model: ScriptedModel;
  readonly judgeId: string;
  #slugs = 0;

  private constructor(api: LearningApi, model: ScriptedModel, judgeId: string) {
    this.api = api;
    this.model = model;
    this.judgeId = judgeId;
  }

  static async boot(): Promise<OptimizationApi> {
    const model = await ScriptedModel.start(() => ({ status: 500 }));
    const api = await LearningApi.boot(model);
    const { id } = (await api.judge()) as { id: string };
    return new OptimizationApi(api, model, id);
  }

  async newPrompt() {
    const { api } = this;
    const slug = `support ${(this.#slugs += 1)}`;
    const path = `${api.project}/prompts/${encodeURIComponent(slug)}/optimizations`;
    const tasks = `/v1/tasks/${encodeURIComponent(slug)}/prompt`;
    await api.expect(200, 'POST', `${tasks}/versions/ensure`, { content: CURRENT, model_id: 'gpt-4o-mini' });
    const give = (id: string, feedback: Record<string, unknown>) =>
      api.expect(200, 'POST', `/v1/prompts/${encodeURIComponent(slug)}/completions/${id}/feedback`, feedback);
    return { slug, path, tasks, give };
  }

  /** Stores completions of the prompt, as a client records them. */
  completions(ids: readonly string[], slug: string) {
    return this.api.spans(
      ids.map((id) => ({
        id,
        input_data: JSON.stringify([
          { role: 'system', content: 'You help customers of Lampen.' },
          { role: 'user', content: question(id) },
        ]),
        output_data: `Hello: ${question(id)} (Lampen)`,
        attributes: { task: slug },
      })),
    );
  }

  /** Forgets what the model was asked. */
  reset(): void {
    this.model.delayMs = 0;
    this.model.asked.length = 0;
  }

  async dispose(): Promise<void> {
    await this.api.server.dispose();
    await this.model.stop();
  }
}
