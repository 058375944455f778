import { RUNNING_TAG } from '../running-version.js';
import { OPTIMIZATION, type VersionUses } from '../version-uses.js';
import type { StoredVersion } from '../prompt.js';
import type { Database } from '../../../engine/metadata/database.js';
import { pinnedTags, pinnedVersion } from './tag-pins.js';

interface OfVersion {
  readonly projectId: string;
  readonly promptId: string;
  readonly slug: string;
  readonly version: number;
}

/** The version that judges with the prompt as their task run with, as `runningVersion` chooses it. */
const RUNNING = `coalesce(
  ${pinnedVersion('@promptId', `'${RUNNING_TAG}'`)},
  (SELECT max(version) FROM prompt_versions WHERE prompt_id = @promptId))`;
const OF_JUDGES = 'project_id = @projectId AND deleted_at IS NULL';
const OF_OPTIMIZATIONS = `project_id = @projectId AND kind = '${OPTIMIZATION}' AND subject_id = @promptId`;

function prepare(db: Database) {
  const texts = (sql: string) => db.prepare<OfVersion, string>(sql).pluck();
  const is = (sql: string) => db.prepare<OfVersion, number>(`SELECT ${sql}`).pluck();
  return {
    tags: texts(`SELECT tag FROM (${pinnedTags('@promptId')}) WHERE version = @version ORDER BY tag`),
    judges: texts(
      `SELECT name FROM judges WHERE ${OF_JUDGES} AND task_slug = @slug AND @version = ${RUNNING} ORDER BY created_at`,
    ),
    optimizations: texts(
      `SELECT id FROM jobs
       WHERE ${OF_OPTIMIZATIONS} AND finished_at IS NULL AND summary ->> 'base_version' = @version ORDER BY seq`,
    ),
    isOnly: is('count(*) = 1 FROM prompt_versions WHERE prompt_id = @promptId'),
    filteringJudges: texts(
      `SELECT name FROM judges WHERE ${OF_JUDGES} AND filters ->> 'prompt_slug' = @slug ORDER BY created_at`,
    ),
    hasFeedback: is('EXISTS (SELECT 1 FROM feedback WHERE prompt_id = @promptId)'),
    hasLinks: is('EXISTS (SELECT 1 FROM feedback_links WHERE project_id = @projectId AND prompt_id = @promptId)'),
    hasOptimizations: is(`EXISTS (SELECT 1 FROM jobs WHERE ${OF_OPTIMIZATIONS})`),
    forgetPromotions: db.prepare<OfVersion>(
      `DELETE FROM promotions WHERE version = @version AND job_id IN (SELECT id FROM jobs WHERE ${OF_OPTIMIZATIONS})`,
    ),
    removeVersion: db.prepare<[string]>('DELETE FROM prompt_versions WHERE id = ?'),
    removePins: db.prepare<[string]>('DELETE FROM prompt_tag_pins WHERE prompt_id = ?'),
    removePrompt: db.prepare<[string]>('DELETE FROM prompts WHERE id = ?'),
  };
}

/** Removes versions of prompts, inside transactions of the caller's. */
export class VersionRemoval {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  usesOf(projectId: string, version: StoredVersion): VersionUses {
    const { tags, judges, optimizations, isOnly, ...ofPrompt } = this.#statements;
    const of = placeOf(projectId, version);
    return {
      tags: tags.all(of),
      judges: judges.all(of),
      optimizations: optimizations.all(of),
      prompt:
        isOnly.get(of) === 1
          ? {
              judges: ofPrompt.filteringJudges.all(of),
              has_feedback: ofPrompt.hasFeedback.get(of) === 1,
              has_links: ofPrompt.hasLinks.get(of) === 1,
              has_optimizations: ofPrompt.hasOptimizations.get(of) === 1,
            }
          : null,
    };
  }

  /** Removes a version that nothing needs. A candidate that had become it is promoted no more. */
  remove(projectId: string, version: StoredVersion, { prompt }: VersionUses): void {
    const { forgetPromotions, removeVersion, removePins, removePrompt } = this.#statements;
    forgetPromotions.run(placeOf(projectId, version));
    removeVersion.run(version.id);
    if (prompt === null) return;
    // Only pins of removed tags can be left: others keep their version.
    removePins.run(version.prompt_id);
    removePrompt.run(version.prompt_id);
  }
}

function placeOf(projectId: string, { prompt_id: promptId, slug, version }: StoredVersion): OfVersion {
  return { projectId, promptId, slug, version };
}
