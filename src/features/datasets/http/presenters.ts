import type { Static } from '@sinclair/typebox';
import { formatTimestamp } from '../../../engine/timestamp.js';
import type { Dataset, DatasetRow, DatasetVersion } from '../dataset.js';
import type { DatasetRead, VersionRead } from '../schema.js';

export function toDatasetRead(
  { last_version: _last, created_at, updated_at, ...dataset }: Dataset,
  newest: DatasetVersion | null,
): Static<typeof DatasetRead> {
  return {
    ...dataset,
    slug: dataset.name,
    roles: { ...dataset.roles },
    subsets: ['default'],
    created_at: formatTimestamp(created_at),
    updated_at: formatTimestamp(updated_at),
    latest_version: newest && toVersionRead(newest),
  };
}

export function toVersionRead({
  dataset_id: _dataset,
  number,
  columns,
  created_at,
  ...version
}: DatasetVersion): Static<typeof VersionRead> {
  return { ...version, version_number: number, columns: [...columns], created_at: formatTimestamp(created_at) };
}

/** The JSON of a row beside the span that it was made of. */
export function structuredRow({ row_id, content, source }: DatasetRow): string {
  return `{"row_id":${JSON.stringify(row_id)},"data":${content},"source":${JSON.stringify(source)}}`;
}
