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
  texts: 'including images',
  errors: 'including error codes, stack traces and code locations',
  user: 'tags that begin with “user”',
  attributes: 'may repeat other parts, so leaving out any part also leaves these out',
};
