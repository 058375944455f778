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

/** What their names do not say. */
export const PART_DETAILS: Readonly<Partial<Record<TracePart, string>>> = {
  texts: 'also images',
  errors: 'also codes, stack traces and places in the code',
  user: 'tags that begin with “user”',
  attributes: 'they may repeat anything, so they are left out with any other part',
};
