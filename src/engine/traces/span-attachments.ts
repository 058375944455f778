import type { AttachmentParts, ReadAttachmentParts, FindReferenceVersions } from './model/attachments.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { versionTime } from './write/version-clock.js';
import { MAX_MEDIA_PER_SPAN, MEDIA_REFERENCE, mediaIdOf } from './model/media-reference.js';
import { inProject } from './read/scope.js';
import { current } from './read/visibility.js';
import type { ReadsInProgress } from './read/reads-in-progress.js';
import { openReader, type ReadLimits } from './read/row-reader.js';
import { empty, sql, value } from './clickhouse/client/sql.js';

/** The reads of stored spans that attachments need. */
export interface SpanAttachments {
  readonly read: ReadAttachmentParts;
  readonly findVersions: FindReferenceVersions;
}

export function createSpanAttachments(
  client: ClickHouseClient,
  reads: ReadsInProgress,
  limits: ReadLimits,
): SpanAttachments {
  const rows = openReader(client, limits).rows;
  return {
    async read(projectId, { spanId, traceId }, signal) {
      const inTrace = traceId === null ? empty : sql` AND trace_id = ${value(traceId, 'UUID')}`;
      const found = await reads.run(projectId, (upTo) =>
        rows<{ attributes: string; output_data: string | null; media: string[] }>(
          sql`SELECT if(position(attributes, '"attachments"') > 0, attributes, '{}') AS attributes,
  if(startsWith(trimLeft(ifNull(output_data, '')), '['), output_data, NULL) AS output_data,
  arraySlice(arrayDistinct(extractAll(concat(ifNull(spans.input_data, ''), ifNull(spans.output_data, ''), spans.attributes),
    ${value(MEDIA_REFERENCE, 'String')})), 1, ${value(MAX_MEDIA_PER_SPAN, 'UInt64')}) AS media
FROM spans WHERE ${inProject(projectId)} AND id = ${value(spanId, 'UUID')}${inTrace} AND ${current({ projectId, upTo })}
ORDER BY started_at, trace_id`,
          { signal },
        ),
      );
      return found.map(({ attributes, output_data, media }) => ({
        attributes: JSON.parse(attributes) as AttachmentParts['attributes'],
        output_data,
        media,
      }));
    },
    async findVersions(projectId, references) {
      const hashes = [...new Set(references.map(({ sha256 }) => sha256))];
      const media = hashes.map(mediaIdOf);
      const found = await reads.run(projectId, (upTo) =>
        rows<{ trace: string; span: string; version: string; named: string[] }>(
          sql`SELECT toString(trace_id) AS trace, toString(id) AS span, toString(ver) AS version,
  arrayFilter((hash, inAttributes, inOutput, inText) -> inAttributes > 0 OR inOutput > 0 OR inText > 0, ${value(hashes, 'Array(String)')},
    multiSearchAllPositions(attributes, ${value(hashes, 'Array(String)')}),
    multiSearchAllPositions(ifNull(output_data, ''), ${value(hashes, 'Array(String)')}),
    multiSearchAllPositions(concat(ifNull(input_data, ''), ifNull(output_data, ''), attributes), ${value(media, 'Array(String)')})) AS named
FROM spans
WHERE ${inProject(projectId)} AND id IN ${value([...new Set(references.map(({ span_id }) => span_id))], 'Array(UUID)')} AND ${current({ projectId, upTo })}
ORDER BY ver`,
        ),
      );
      const key = (trace: string, span: string, hash: string) => `${trace}/${span}/${hash}`;
      const versions = new Map(
        found.flatMap(({ trace, span, version, named }) =>
          named.map((hash) => [key(trace, span, hash), versionTime(Number(version))] as const),
        ),
      );
      return new Map(
        references.flatMap(({ id, trace_id, span_id, sha256 }) => {
          const version = versions.get(key(trace_id, span_id, sha256));
          return version === undefined ? [] : [[id, version] as const];
        }),
      );
    },
  };
}
