import type { PromptIdentities, PromptIdentity } from '../../../engine/traces/model/prompts/completion.js';
import type { PromptNames } from '../../../engine/traces/model/span/named-prompt.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';

interface Row {
  readonly id: string;
  readonly slug: string;
}

function prepare(db: Database) {
  const prompt = (condition: string) =>
    db.prepare<[string, string], Row>(`SELECT id, slug FROM prompts WHERE project_id = ? AND ${condition}`);
  return {
    ofSlug: prompt('slug = ?'),
    ofId: prompt('id = ?'),
    versions: db.prepare<[string], { id: string; version: number }>(
      'SELECT id, version FROM prompt_versions WHERE prompt_id = ?',
    ),
    version: db.prepare<[string, string], { slug: string; version: number }>(
      `SELECT p.slug, v.version FROM prompt_versions AS v JOIN prompts AS p ON p.id = v.prompt_id
       WHERE v.id = ? AND p.project_id = ?`,
    ),
  };
}

/** The ids and slugs by which spans may name prompts, from the SQLite file. */
export class SqlitePromptIdentities implements PromptIdentities, PromptNames {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  idOf(projectId: string, slug: string): string | undefined {
    return guarded(() => this.#statements.ofSlug.get(projectId, slug)?.id);
  }

  ofSlug(projectId: string, slug: string): PromptIdentity | undefined {
    return guarded(() => this.#withVersions(this.#statements.ofSlug.get(projectId, slug)));
  }

  ofId(projectId: string, id: string): PromptIdentity | undefined {
    return guarded(() => this.#withVersions(this.#statements.ofId.get(projectId, id)));
  }

  versionNamed(projectId: string, id: string): { slug: string; version: number } | undefined {
    return guarded(() => this.#statements.version.get(id, projectId));
  }

  slugNamed(projectId: string, id: string): string | undefined {
    return guarded(() => this.#statements.ofId.get(projectId, id)?.slug);
  }

  #withVersions(row: Row | undefined): PromptIdentity | undefined {
    if (row === undefined) return undefined;
    return { ...row, versions: new Map(this.#statements.versions.all(row.id).map(({ id, version }) => [id, version])) };
  }
}
