import { DomainError } from '../../src/domain/errors.js';
import { MAX_RETENTION_DAYS, type Project } from '../../src/domain/identity/identity.js';
import type { IdentityService } from '../../src/domain/identity/identity-service.js';
import { ProjectService } from '../../src/domain/project/project-service.js';
import type { RetentionRead } from '../../src/transport/http/routes/projects/retention-schema.js';
import type { MetadataStore } from '../../src/storage/sqlite/metadata-store.js';

const FOREVER = 'forever';
/** Longer than a server counts before it answers that it takes too long. */
const ANSWERED_WITHIN_MS = 120_000;

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
  projectId: string,
  days: number | null | undefined,
): Project {
  if (days === undefined) throw new DomainError('invalid', `--set needs --days: how many, or ${FOREVER}`);
  return new ProjectService(identities).change(projectId, { retention_days: days });
}

/**
 * Asks the running server what would go, as it alone can read the spans: with a key that may only read, and that is revoked at once.
 * @param days undefined: by what is set
 */
export async function forecast(
  identity: IdentityService,
  { signIns }: MetadataStore,
  projectId: string,
  days: number | null | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  if (days === null)
    throw new DomainError('invalid', `Nothing goes when traces are kept ${FOREVER}: add --set to set it`);
  const address = signIns.address();
  const [user] = identity.listUsers();
  if (address === null || user === undefined)
    throw new DomainError('unavailable', 'No server has run on this data yet: start it, and ask again');
  const key = identity.createKey({ projectId, userId: user.id, name: 'npm run admin -- retention', access: 'read' });
  try {
    const query = days === undefined ? '' : `?days=${days}`;
    const { going, kept, ...others } = await asked(`${address}/projects/${projectId}/retention${query}`, key.key);
    return {
      ...others,
      ...{ traces: going.traces, spans: going.spans, bytes: going.estimated_bytes },
      ...{ kept_by_tag: kept.tagged.traces, kept_by_feedback: kept.with_feedback.traces },
    };
  } finally {
    identity.revokeKey(projectId, key.id);
  }
}

async function asked(url: string, key: string): Promise<RetentionRead> {
  const signal = AbortSignal.timeout(ANSWERED_WITHIN_MS);
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` }, signal }).catch((error: unknown) => {
    throw new DomainError('unavailable', `No server answers at ${url}: start it, as it alone can read the spans`, {
      cause: error,
    });
  });
  const text = await response.text();
  if (!response.ok)
    throw new DomainError('unavailable', `The server answers ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as RetentionRead;
}
