import { DomainError } from '../../engine/errors.js';
import { tokensOf } from '../../engine/excerpt.js';
import type { Principal } from '../../engine/identity/identity.js';
import { callProvider } from '../judges/call-spans.js';
import type { ModelRequest } from '../../engine/models/model-client.js';
import { NO_ENDPOINT } from '../calibration/calibration-service.js';
import { NO_MODEL } from '../optimization/optimization-service.js';
import type { SelectedVersion } from '../prompts/prompt.js';
import type { PromptService } from '../prompts/prompt-service.js';
import type { PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import { normalizeCost } from '../../engine/schema/normalize.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import { invalid } from '../../engine/validation/validation.js';
import type { PlaygroundCalls } from './playground-calls.js';
import type { PlaygroundEstimate, PlaygroundInput, PlaygroundRun } from './schema.js';

export interface PlaygroundOptions {
  readonly prompts: Pick<PromptService, 'find'>;
  readonly price: PriceModelCall;
  /** @throws DomainError `conflict` when the budget of a project is spent; `unavailable` */
  readonly requireBudget: (projectId: string) => void;
  /** The model endpoint; null: none is configured. */
  readonly endpoint: {
    readonly defaultModel: string | null;
    readonly calls: Pick<PlaygroundCalls, 'run'>;
  } | null;
}

/** People try a few variants side by side; more than that is work for a judge or an optimization. */
const LIMITS = { atOnce: 64, perParty: 4, maxWaiting: 8, maxWaitMs: 10_000 };

/** Lets people ask a model something else than was asked, and see what it answers and costs. */
export class PlaygroundService {
  readonly #options: PlaygroundOptions;
  readonly #turns = new FairSemaphore('playground calls', LIMITS);

  constructor(options: PlaygroundOptions) {
    this.#options = options;
  }

  /** What a call would come to. Asks no model. @throws DomainError as `run` does, but for `overloaded` */
  estimate(projectId: string, input: PlaygroundInput): PlaygroundEstimate {
    const { model, messages } = this.#plan(projectId, input).request;
    const input_tokens = messages.reduce((sum, { content }) => sum + tokensOf(content), 0);
    const input_cost = this.#cost(projectId, model, input_tokens, 0);
    const cost = this.#cost(projectId, model, input_tokens, 1000);
    return {
      model,
      input_tokens,
      input_cost,
      cost_per_1000_output_tokens: input_cost === null || cost === null ? null : normalizeCost(cost - input_cost),
      cost_unknown_reason:
        input_cost === null ? `The model ${model} has no price; set a custom price in the project` : null,
    };
  }

  /**
   * Asks the model, and stores the call as a span. That the model did not answer is part of the result.
   * @throws DomainError `not_found` for an unknown version; `invalid` for an unknown span; `conflict` when no model can be
   *   asked; `overloaded`, `unavailable`
   */
  async run(principal: Principal, input: PlaygroundInput, signal: AbortSignal): Promise<PlaygroundRun> {
    const { request, version, endpoint } = this.#plan(principal.project_id, input);
    this.#options.requireBudget(principal.project_id);
    const call = { principal, request, version, spanId: input.source?.span_id ?? null };
    return this.#turns.run(principal.project_id, () => endpoint.calls.run(call, signal), signal);
  }

  #plan(projectId: string, { messages, model, temperature, source }: PlaygroundInput) {
    const { endpoint } = this.#options;
    if (endpoint === null) throw new DomainError('conflict', NO_ENDPOINT);
    const version = this.#version(projectId, source);
    const asked = model ?? version?.model_id ?? endpoint.defaultModel;
    if (asked === null) throw new DomainError('conflict', NO_MODEL);
    const request: ModelRequest = { model: asked, temperature: temperature ?? null, messages, schema: null };
    return { request, version, endpoint };
  }

  #version(projectId: string, source: PlaygroundInput['source']): SelectedVersion | null {
    const { prompt_slug: slug = null, version = null } = source ?? {};
    if (slug === null && version === null) return null;
    if (slug === null || version === null) {
      const missing = slug === null ? 'prompt_slug' : 'version';
      throw invalid([{ pointer: `/source/${missing}`, detail: 'is required: send prompt_slug and version together' }]);
    }
    return this.#options.prompts.find(projectId, slug, { by: 'number', version });
  }

  #cost(projectId: string, model: string, inputTokens: number, outputTokens: number): number | null {
    const cached = { cacheReadTokens: 0, cacheWriteTokens: 0 };
    const provider = callProvider(model);
    return this.#options.price(projectId, { provider, model, inputTokens, outputTokens, ...cached, at: new Date() });
  }
}
