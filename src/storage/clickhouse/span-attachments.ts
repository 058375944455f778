import type { AttachmentParts, ReadAttachmentParts } from '../../domain/attachment/attachment-service.js';
import type { FindNamingVersion } from '../../domain/attachment/vault.js';
import type { ClickHouseClient } from './client.js';
import { versionTime } from './commit/version-clock.js';
import type { ReadLimits } from './list/clickhouse-lists.js';
import { current, inProject } from './list/compile.js';
import type { ReadsInProgress } from './reads-in-progress.js';
import { rowReader } from './row-reader.js';
import { sql, value } from './sql.js';

/** What attachments need to know of the stored spans. */
export interface SpanAttachments {
  readonly read: ReadAttachmentParts;
  readonly findVersion: FindNamingVersion;
}

export function createSpanAttachments(
  client: ClickHouseClient,
  reads: ReadsInProgress,
  limits: ReadLimits,
): SpanAttachments {
  const rows = rowReader(client, limits);
  return {
    async read(projectId, spanId, signal) {
      const found = await reads.run(projectId, (upTo) =>
        rows<{ attributes: string; output_data: string | null }>(
          sql`SELECT if(position(attributes, '"attachments"') > 0, attributes, '{}') AS attributes,
  if(startsWith(trimLeft(ifNull(output_data, '')), '['), output_data, NULL) AS output_data
FROM spans WHERE ${inProject(projectId)} AND id = ${value(spanId, 'UUID')} AND ${current({ projectId, upTo })}
ORDER BY started_at, trace_id`,
          { signal },
        ),
      );
      return found.map(({ attributes, output_data }) => ({
        attributes: JSON.parse(attributes) as AttachmentParts['attributes'],
        output_data,
      }));
    },
    async findVersion({ project_id, trace_id, span_id, sha256 }) {
      const hash = value(sha256, 'String');
      const [row] = await reads.run(project_id, (upTo) =>
        rows<{ found: string }>(
          sql`SELECT toString(ver) AS found FROM spans
WHERE ${inProject(project_id)} AND id = ${value(span_id, 'UUID')} AND trace_id = ${value(trace_id, 'UUID')} AND ${current({ projectId: project_id, upTo })}
  AND (position(attributes, ${hash}) > 0 OR position(ifNull(output_data, ''), ${hash}) > 0)
ORDER BY ver DESC LIMIT 1`,
        ),
      );
      return row === undefined ? null : versionTime(Number(row.found));
    },
  };
}
