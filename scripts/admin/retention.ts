import { serverOf } from '../../src/compose/backup-run.js';
import { DomainError } from '../../src/engine/errors.js';
import type { AuditLog } from '../../src/engine/identity/audit.js';
import { MAX_RETENTION_DAYS, type Project } from '../../src/engine/identity/identity.js';
import { ProjectService } from '../../src/features/projects/project-service.js';
import { askForecast } from '../../src/control/control-client.js';
import { retentionRead } from '../../src/features/projects/http/retention-schema.js';
import type { MetadataStore } from '../../src/compose/metadata-store.js';

const FOREVER = 'forever';

/** @returns days, or null for ever @throws DomainError `invalid` */
export function daysOf(text: string): number | null {
  if (text === FOREVER) return null;
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > MAX_RETENTION_DAYS)
    throw new DomainError(
      'invalid',
      `--days must be a whole number from 1 to ${MAX_RETENTION_DAYS}, or the word ${FOREVER}`,
    );
  return days;
}

/** @throws DomainError `invalid` when days are undefined */
export function setRetention(
  { identities }: MetadataStore,
  audit: AuditLog,
  projectId: string,
  days: number | null | undefined,
): Project {
  if (days === undefined) throw new DomainError('invalid', `--set needs --days: how many, or ${FOREVER}`);
  return new ProjectService(identities, audit).change(projectId, { retention_days: days }, null);
}

/**
 * Asks the running server what would go, as it alone can read the spans.
 * @param days undefined: by what is set
 */
export async function forecast(
  dataDir: string,
  projectId: string,
  days: number | null | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  if (days === null)
    throw new DomainError('invalid', `Nothing is removed if traces are kept ${FOREVER}: add --set to set it`);
  const found = await askForecast(await serverOf(dataDir), { projectId, days: days ?? null });
  const { going, kept, ...others } = retentionRead(found);
  return {
    ...others,
    ...{ traces: going.traces, spans: going.spans, bytes: going.estimated_bytes },
    ...{ kept_by_tag: kept.tagged.traces, kept_by_feedback: kept.with_feedback.traces },
  };
}
