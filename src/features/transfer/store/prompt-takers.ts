import type { Database } from '../../../engine/metadata/database.js';
import { NO_VERSION } from '../../prompts/store/tag-pins.js';
import type { MetadataPart } from '../parts.js';
import { insertion, ownership } from './insertion.js';
import { bit, missing, text, type By, type Take, type Values } from './take.js';

/** How the records of prompts are stored. */
export function promptTakers(db: Database, by: By) {
  const hasPrompt = ownership(db, 'prompts');
  const prompt = insertion(db, 'prompts', ['id', 'project_id', 'slug', 'created_at', 'last_version'], 'project_id');
  const version = insertion(
    db,
    'prompt_versions',
    [
      ...['id', 'prompt_id', 'version', 'content_hash', 'model_id', 'metadata', 'created_at', 'created_by'],
      ...['updated_at', 'content', 'is_chat', 'config'],
    ],
    'prompt_id',
  );
  const count = db.prepare<Values>(
    'UPDATE prompts SET last_version = max(last_version, @version) WHERE id = @prompt_id',
  );
  // One to a version that is not there, as it was deleted since, is history alone.
  const move = db.prepare<Values>(
    `INSERT INTO prompt_tag_pins (prompt_id, tag, version, pinned_at, stored_at, pinned_by, counts)
     VALUES (@prompt_id, @tag, @version, @pinned_at, @now, @by, @version = ${NO_VERSION}
       OR EXISTS (SELECT 1 FROM prompt_versions WHERE prompt_id = @prompt_id AND version = @version))`,
  );
  const moved = db.prepare<Values, number>(
    `SELECT 1 FROM prompt_tag_pins
     WHERE prompt_id = @prompt_id AND tag = @tag AND pinned_at = @pinned_at AND version = @version LIMIT 1`,
  );
  return {
    prompts: (projectId, record) => prompt(record['id'], projectId, () => record),
    prompt_versions(projectId, record) {
      if (!hasPrompt(projectId, record['prompt_id'])) return missing('prompt_id', 'prompt');
      const stored = version(record['id'], record['prompt_id'], () => ({
        ...record,
        content_hash: String(record['content_hash']).toLowerCase(),
        metadata: text(record['metadata']),
        is_chat: bit(record['is_chat']),
        config: text(record['config'] ?? {}),
        created_by: by(projectId, record['created_by']),
      }));
      if (stored === true) count.run(record);
      return stored;
    },
    tag_moves(projectId, { pinned_by, ...record }) {
      if (!hasPrompt(projectId, record['prompt_id'])) return missing('prompt_id', 'prompt');
      const row = { ...record, version: record['version'] ?? NO_VERSION };
      if (moved.get(row) !== undefined) return false;
      move.run({ ...row, by: by(projectId, pinned_by), now: Date.now() * 1000 });
      return true;
    },
  } satisfies Partial<Record<MetadataPart, Take>>;
}
