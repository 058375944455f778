import type { Audit, Extent } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { unsettled, type Recompute } from './audited.js';
import { ExperimentAudit } from './experiment-audit.js';
import { PartAudit } from './part-audit.js';
import { ProjectAudit } from './project-audit.js';
import { SessionAudit } from './session-audit.js';
import { SpanAudit } from './span-audit.js';
import { TraceAudit } from './trace-audit.js';
import { WordAudit } from './word-audit.js';

export interface SpanAuditOptions {
  readonly extent: Extent;
  /** Whether no server runs on the data; what the next start recovers by itself is left to it then. */
  readonly stopped: boolean;
  /** Whether there is such a project, or it is being deleted. */
  readonly isKnown: (projectId: string) => boolean;
  /** How what is wrong is repaired; absent: it is not. */
  readonly mending?: { readonly recompute: Recompute; readonly renewWords: () => Promise<void> };
}

/** Spans of a sample for each of its traces; they are compared many at once. */
const SPANS_PER_TRACE = 20;
/** Things of a sample for each megabyte of files that is read. */
const THINGS_PER_MB = 10;

/** All audits of what ClickHouse holds, each after those whose findings it depends on. */
export async function spanAudits(
  client: ClickHouseClient,
  { extent, stopped, isKnown, mending }: SpanAuditOptions,
): Promise<Audit[]> {
  const left = await unsettled(client, stopped);
  const sized = (size: (sample: number) => number) => ({
    ...extent,
    sample: extent.sample === null ? null : Math.ceil(size(extent.sample)),
  });
  const spans = sized((sample) => sample * SPANS_PER_TRACE);
  const keyed = { client, extent, unsettled: left, recompute: mending?.recompute };
  return [
    new PartAudit(
      client,
      sized((sample) => sample / THINGS_PER_MB),
    ),
    new ProjectAudit(client, isKnown),
    new SpanAudit(client, spans, left, mending?.recompute),
    new ExperimentAudit(client, spans, left),
    new TraceAudit(keyed),
    new SessionAudit(keyed),
    new WordAudit(client, spans, mending?.renewWords),
  ];
}
