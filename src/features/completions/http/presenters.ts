import type { CompletionPage } from '../completion-lists.js';
import type { VersionStatistics } from '../version-statistics.js';
import type { Window } from '../../../engine/schema/page.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import type { CompletionPageRead, VersionStatisticsRead } from './schema.js';

export function completionPageRead({ completions, total }: CompletionPage, window: Window): CompletionPageRead {
  return {
    completions: completions.map(({ version_id: _id, started_at, thumbs, verdicts, input, output, ...rest }) => ({
      ...rest,
      input_data: input,
      output_data: output,
      input,
      output,
      started_at: formatTimestamp(started_at),
      thumbs_up: thumbs.up,
      thumbs_down: thumbs.down,
      verdicts: [...verdicts],
    })),
    total,
    limit: window.limit,
    offset: window.offset,
  };
}

export function versionStatisticsRead({ versions, looked_up }: VersionStatistics): VersionStatisticsRead {
  return { versions: versions.map((version) => ({ ...version, judges: [...version.judges] })), looked_up };
}
