import type { Manifest } from '../../src/engine/traces/model/backup/manifest.js';

/** The list of a backup that has no spans. */
export function manifestOf(id: string, images: Manifest['images'] = null): Manifest {
  return {
    format: 1,
    id,
    taken_at: '',
    spanhouse: '',
    up_to: 0,
    migrations: [],
    tables: [],
    metadata: { sha256: '0'.repeat(64), bytes: 1, rows: {} },
    images,
    figures: [],
  };
}
