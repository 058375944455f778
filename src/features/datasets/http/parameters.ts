import { Type } from '@sinclair/typebox';
import { TagName } from '../../../engine/schema/tag.js';

/** How the documentation groups these routes. */
export const TAG = 'Datasets';

const name = Type.String({
  minLength: 1,
  maxLength: 200,
  description:
    'Name or id of the dataset. Slashes in the name need no escape; the id of the project may stand before it, as some clients write it.',
});
export const DatasetParams = Type.Object({ name });
export const DatasetTagParams = Type.Object({ name, tag: TagName });
const ref = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'A version: its number, its id, a tag, or `latest`.',
});
export const VersionParams = Type.Object({ name, ref });
export const refParameter = ref;
