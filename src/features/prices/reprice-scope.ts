import type { ModelName } from '../../engine/models/model-name.js';
import { statedModel } from '../../engine/traces/model/span/usage.js';
import type { RepriceScope } from '../../engine/traces/model/prices/calculated-spans.js';

/**
 * Whether a span's model is one of a scope: as both were written, or by what both mean.
 * @param modelName says whose model is meant
 */
export function inScope(
  scope: Pick<RepriceScope, 'provider' | 'model'>,
  attributes: Readonly<Record<string, unknown>>,
  modelName: (stated: string | null, name: string) => ModelName,
): boolean {
  if (scope.provider === null && scope.model === null) return true;
  const stated = statedModel(attributes);
  if (stated === null) return false;
  if (isOneOf(scope, stated)) return true;
  const meant = modelName(stated.provider, stated.model);
  if (scope.model === null) return isOneOf(scope, meant);
  const wanted = modelName(scope.provider, scope.model);
  // A name without a provider is that of any.
  const provider = wanted.model === scope.model ? scope.provider : wanted.provider;
  return isOneOf({ provider, model: wanted.model }, meant);
}

function isOneOf({ provider, model }: Pick<RepriceScope, 'provider' | 'model'>, name: ModelName): boolean {
  const isSame = (wanted: string | null, found: string | null) =>
    wanted === null || wanted.toLowerCase() === found?.toLowerCase();
  return isSame(provider, name.provider) && isSame(model, name.model);
}
