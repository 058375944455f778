import { calcPrice, findProvider, type MatchLogic, type Provider } from '@pydantic/genai-prices';
import { expect } from 'chai';
import fc from 'fast-check';
import { listedModel } from '../../src/engine/models/listed-models.js';
import { createListPrices } from '../../src/engine/traces/model/span/pricing.js';

const PROVIDERS = [
  ...['anthropic', 'avian', 'aws', 'azure', 'cerebras', 'cohere', 'deepseek', 'fireworks', 'google', 'groq'],
  ...['huggingface_together', 'mistral', 'moonshotai', 'novita', 'openai', 'openrouter', 'ovhcloud', 'perplexity'],
  ...['together', 'x-ai'],
].map((providerId) => findProvider({ providerId }) as Provider);

function textsOf(match: MatchLogic): string[] {
  if ('or' in match) return match.or.flatMap(textsOf);
  return 'and' in match ? match.and.flatMap(textsOf) : Object.values(match as Record<string, string>);
}
const names = PROVIDERS.flatMap(({ models }) => models.flatMap(({ id, match }) => [id, ...textsOf(match)]));
const DATES = ['-20250131', '-20250230', '-20251301', '-2025-01-31', '-20240101-20249999', '-20240229:free'];

describe('the listed model of a name', () => {
  const expectSame = (provider: Provider, name: string) => {
    const library = calcPrice({ input_tokens: 1000, output_tokens: 10 }, name, { provider });
    expect(listedModel(provider, name)?.id, `${provider.id} ${name}`).to.equal(library?.model.id);
  };

  it("is the library's, for every name that it knows, at every provider that has some", function () {
    this.timeout(60_000);
    for (const provider of PROVIDERS)
      for (const { id, match } of provider.models)
        for (const name of [id, ...textsOf(match)]) expectSame(provider, name);
  });

  it("is the library's, for names like those it knows, at any provider", function () {
    this.timeout(60_000);
    const part = fc.constantFrom('', ' ', '-latest', ':free', '/', 'x', '-v2', '.', 'openai/', 'us.', ...DATES);
    const name = fc.tuple(part, fc.constantFrom(...names), part, fc.nat(3), fc.boolean());
    fc.assert(
      fc.property(fc.constantFrom(...PROVIDERS), name, (provider, [before, known, after, cut, upper]) => {
        const written = before + known.slice(0, known.length - cut) + after;
        expectSame(provider, upper ? written.toUpperCase() : written);
      }),
      { numRuns: 5000 },
    );
  });

  it('costs little to look for, also when there is none', () => {
    const price = createListPrices();
    const provider = findProvider({ providerId: 'openrouter' }) as Provider;
    const tokens = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, at: new Date() };
    const fastest = (ask: (model: string) => unknown) => {
      const times = Array.from({ length: 5 }, (_, run) => {
        const started = performance.now();
        for (let each = 0; each < 500; each += 1) expect(ask(`${run}-${each.toString(16)}/a`)).to.equal(null);
        return performance.now() - started;
      });
      return Math.min(...times);
    };
    const ours = fastest((model) => price('', { ...tokens, provider: provider.id, model }));
    const library = fastest((model) => calcPrice({ input_tokens: 1 }, model, { provider }));
    expect(ours, `milliseconds; the library alone: ${library}`).to.be.lessThan(library / 2);
  });
});
