import { findProvider } from '@pydantic/genai-prices';

/**
 * The provider of a bound model: the part before the first `/` when that names one, else the provider that is known
 * for a model of that name, else null.
 */
export function providerOf(modelId: string): string | null {
  const slash = modelId.indexOf('/');
  if (slash === -1) return findProvider({ modelId })?.id ?? null;
  const prefix = modelId.slice(0, slash);
  if (prefix !== '' && findProvider({ providerId: prefix }) !== undefined) return prefix;
  const name = modelId.slice(modelId.lastIndexOf('/') + 1);
  return findProvider({ modelId })?.id ?? (name === '' ? null : (findProvider({ modelId: name })?.id ?? null));
}
