import { Type } from '@sinclair/typebox';
import { defineRoute } from '../../../http/route.js';
import { imageAnswer } from '../../images/http/image-answer.js';
import { KEPT_KINDS } from '../../images/media.js';
import type { RowFiles } from '../../images/row-files.js';
import type { DatasetService } from '../dataset-service.js';
import { DatasetParams, TAG } from './parameters.js';

export interface DatasetFileParts {
  readonly datasets: Pick<DatasetService, 'find'>;
  readonly rowFiles: Pick<RowFiles, 'open'>;
}

/** A file that rows of a dataset name: downloads of the dataset have its hash. */
export function fileRoute({ datasets, rowFiles }: DatasetFileParts) {
  return defineRoute({
    method: 'GET',
    path: '/v1/datasets/:name+/files/:sha256',
    operationId: 'getDatasetFile',
    summary: 'Get a file of a row',
    description:
      'Returns a file that was attached to a row. Downloads and rows name it in the column `attachments`, by its `sha256`. It is there ' +
      'as long as a row of any version names it.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: Type.Object({
      ...DatasetParams.properties,
      sha256: Type.String({
        pattern: '^[0-9a-f]{64}$',
        'x-must': 'be 64 hexadecimal digits',
        description: 'SHA-256 of the file, as the column `attachments` has it.',
      }),
    }),
    responses: {
      200: {
        description: 'The file, byte for byte.',
        schema: Type.String({ format: 'binary', description: `One of: ${KEPT_KINDS}.` }),
        contentType: '*/*',
      },
      304: { description: 'The file is still the one named by `If-None-Match`.' },
    },
    errors: ['not_found', 'unavailable'],
    async handle({ principal: { project_id: projectId }, params: { name, sha256 }, headers }) {
      const { id } = datasets.find(projectId, name);
      return imageAnswer(rowFiles.open(projectId, id, sha256), headers, 'private, no-cache');
    },
  });
}
