import { Type } from '@sinclair/typebox';
import { DomainError } from '../../../engine/errors.js';
import type { Principal } from '../../../engine/identity/identity.js';
import { defineRoute } from '../../../http/route.js';
import type { DatasetService } from '../dataset-service.js';
import { MAX_ROW_ID } from '../files/row-set.js';
import { DatasetParams, TAG } from './parameters.js';

/** Erases a row from all versions, and what was made of it. @returns whether there was such a row */
export type EraseRow = (
  projectId: string,
  row: { readonly datasetId: string; readonly rowId: string; readonly by: Principal },
) => Promise<boolean>;

const RowParams = Type.Object({
  ...DatasetParams.properties,
  row_id: Type.String({ minLength: 1, maxLength: MAX_ROW_ID, description: 'Id of the row.' }),
});

export function eraseRowRoute(datasets: Pick<DatasetService, 'find'>, eraseRow: EraseRow) {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/datasets/:name+/rows/:row_id',
    operationId: 'eraseDatasetRow',
    summary: 'Erase a row of a dataset',
    description:
      'Erases the content of the row from every version, including its results in experiments with their evaluations, feedback and ' +
      'scores, and the comparisons of the dataset. Versions keep their numbers and counts. The span that the row was made of stays. ' +
      'To leave a row out of the next version alone, create a version with `remove`. If a step fails or a stop interrupts it, the ' +
      'server completes it later automatically.',
    tag: TAG,
    access: 'key',
    params: RowParams,
    responses: { 204: { description: 'The row is erased.' } },
    errors: ['not_found', 'overloaded', 'unavailable'],
    async handle({ principal, params: { name, row_id: rowId } }) {
      const { id: datasetId } = datasets.find(principal.project_id, name);
      if (await eraseRow(principal.project_id, { datasetId, rowId, by: principal })) return { status: 204 };
      throw new DomainError('not_found', 'No version of the dataset has a row with this id');
    },
  });
}
