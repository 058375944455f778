import { listedProvider, modelNameOf, nameAt, passesOn, type ModelName } from '../../engine/models/model-name.js';
import type { ModelPrice } from './model-price.js';

/** The prices of a project's own, to be found by the names that spans have for models. */
export class OwnPrices {
  readonly #prices = new Map<string, ModelPrice>();
  readonly #providers = new Set<string>();
  /** By the name of the model alone; null: of several providers. */
  readonly #byModel = new Map<string, ModelPrice | null>();
  /** How many are stored, also those in whose place another one comes. */
  readonly size: number;

  constructor(prices: readonly ModelPrice[]) {
    this.size = prices.length;
    for (const price of prices) {
      const { provider, model } = nameAt(price.provider, price.model);
      const key = keyOf(provider, model);
      // Prices set earlier may have the provider's name in front of the model's; the plain one comes first.
      if (this.#prices.has(key) && price.model !== model) continue;
      this.#prices.set(key, price);
      this.#providers.add(lower(provider));
      const known = this.#byModel.get(lower(model));
      this.#byModel.set(
        lower(model),
        known === undefined || keyOf(known?.provider ?? '', model) === key ? price : null,
      );
    }
  }

  /** The price of a model of a provider. */
  at(provider: string, name: string): ModelPrice | undefined {
    const { model } = nameAt(provider, name);
    return this.#prices.get(keyOf(provider, model));
  }

  /**
   * Whose model is meant. A name without a provider is, where the provider that is known for it has no price here, that of
   * the only price of such a name.
   * @param stated provider as it was stated; null: it was not
   */
  modelName(stated: string | null, name: string): ModelName {
    const isProvider = (prefix: string) => this.#providers.has(lower(prefix)) || listedProvider(prefix) !== undefined;
    const meant = modelNameOf(stated, name, isProvider);
    const isBare = meant.model === name && (stated === null || passesOn(stated));
    if (!isBare || (meant.provider !== null && this.at(meant.provider, name) !== undefined)) return meant;
    return this.#byModel.get(lower(name)) ?? meant;
  }

  /** The price of a model. @param stated provider as it was stated; null: it was not */
  find(stated: string | null, name: string): ModelPrice | undefined {
    if (this.size === 0) return undefined;
    const { provider, model } = this.modelName(stated, name);
    const asStated = stated === null ? undefined : this.at(stated, name);
    return asStated ?? (provider === null ? undefined : this.at(provider, model));
  }
}

function keyOf(provider: string, model: string): string {
  return lower(`${provider}\n${model}`);
}

/** Only A to Z become lower case, as in the comparisons of the stores. */
function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
