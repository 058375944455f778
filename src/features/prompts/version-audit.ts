import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { AuditChange } from '../../engine/signals/catalog/audit.js';
import type { StoredVersion } from './prompt.js';

type VersionEvent = 'promptVersionMade' | 'promptVersionChanged' | 'promptVersionDeleted' | 'tagMoved' | 'tagRemoved';

/** Writes to the audit log what was done to a version, or to a tag that points at it. */
export function auditVersion(
  audit: AuditLog,
  event: VersionEvent,
  by: Principal,
  { id, slug, version }: Pick<StoredVersion, 'id' | 'slug' | 'version'>,
  changes: readonly AuditChange[] = [],
): void {
  const about = { project_id: by.project_id, subject_id: id, subject_name: `${slug} v${version}` };
  audit.done({ event, by, ...about, changes });
}
