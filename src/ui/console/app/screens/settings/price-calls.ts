import { ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';

/** A price of the project's own; slashes are part of a model's name. */
export function pathOfPrice({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return ofProject(`/model-prices/${encodeURIComponent(provider)}/${encodeURIComponent(model)}`);
}

/** Has all be asked again that prices decide. */
export async function pricesChanged(): Promise<void> {
  await Promise.all(['/model-prices', '/model-prices:unpriced'].map((path) => changedAt(ofProject(path))));
}
