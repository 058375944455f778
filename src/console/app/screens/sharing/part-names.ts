import type { TracePart } from '../../../../features/sharing/share-link.js';

/** What the parts of a trace are called. */
export const PART_NAMES: Readonly<Record<TracePart, string>> = {
  texts: 'Inputs and outputs',
  errors: 'Error messages',
  user: 'User',
  metadata: 'Tags and prompts',
  costs: 'Costs and tokens',
  attributes: 'Attributes',
};
