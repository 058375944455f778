import { ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';

/** Has all be asked again that prices decide. */
export async function pricesChanged(): Promise<void> {
  await Promise.all(['/model-prices', '/model-prices:unpriced'].map((path) => changedAt(ofProject(path))));
}
