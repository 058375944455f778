import { Type } from '@sinclair/typebox';
import { orNull, time, uuid } from '../../../engine/schema/parts.js';
import { TagName } from '../../../engine/schema/tag.js';
import { MAX_COLUMNS, MAX_DATASET_VERSIONS, MAX_ROWS } from '../../datasets/dataset.js';
import { MAX_ROW_ID } from '../../datasets/files/row-set.js';
import { ColumnName, DatasetName, DatasetRead, Description, MAX_MESSAGE, VersionRead } from '../../datasets/schema.js';
import { json, person, record, text } from './record.js';

export const datasets = record('Dataset', 'A dataset.', {
  id: uuid('Id of the dataset.'),
  name: DatasetName,
  description: Description,
  roles: DatasetRead.properties.roles,
  created_at: time('When it was created.'),
  created_by: person('Who created it.'),
  updated_at: time('When it was last changed.'),
});

export const versionNumber = Type.Integer({
  minimum: 1,
  maximum: MAX_DATASET_VERSIONS,
  description: 'Number of a version.',
});
const { row_count, added, changed, removed } = VersionRead.properties;
export const dataset_versions = record(
  'DatasetVersion',
  'A version of a dataset. Its number follows that of the one before.',
  {
    id: uuid('Id of the version.'),
    dataset_id: uuid('The dataset.'),
    number: versionNumber,
    message: text(MAX_MESSAGE, 'What was said about it.'),
    columns: Type.Array(ColumnName, { maxItems: MAX_COLUMNS, description: 'Names of the columns, in their order.' }),
    row_count: { ...row_count, maximum: MAX_ROWS },
    ...{ added, changed, removed },
    created_at: time('When it was made.'),
    created_by: person('Who made it.'),
  },
);

export const dataset_rows = record('DatasetRow', 'A row of a dataset, as it is from one version on.', {
  dataset_id: uuid('The dataset.'),
  row_id: Type.String({ minLength: 1, maxLength: MAX_ROW_ID, description: 'Id of the row.' }),
  position: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Rows are in this order.' }),
  from_version: versionNumber,
  to_version: orNull({ ...versionNumber, description: 'The first version without it; null: none.' }),
  content: orNull(json('Values by column; null: erased, as its span was deleted.')),
  trace_id: orNull(uuid('Trace of the span that it was made of; null: of none.')),
  span_id: orNull(uuid('The span.')),
});

export const dataset_tag_moves = record(
  'DatasetTagMove',
  'A move of a tag of a dataset; the last one says where it points.',
  {
    dataset_id: uuid('The dataset.'),
    tag: TagName,
    number: orNull({
      ...versionNumber,
      description: 'The version that it points to from then on; null: it was removed.',
    }),
    moved_at: time('When it was moved.'),
    moved_by: person('Who moved it.'),
  },
);
