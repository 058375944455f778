import { randomUUID } from 'node:crypto';
import type { PromptSummary, StoredVersion, TagEntry, TagMove, VersionDraft, VersionSelector } from '../prompt.js';
import { DomainError } from '../../../engine/errors.js';
import { LATEST, MAX_TAGS } from '../prompt.js';
import { readMessages } from '../prompt-messages.js';
import type { PromptStore } from '../prompt-store.js';
import { MAX_VERSIONS } from '../schema.js';
import type { VersionUses } from '../version-uses.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, transact, WatchedStore, type Database } from '../../../engine/metadata/database.js';
import { countOfTags, hadTag, NO_VERSION, pinnedTags, pinnedVersion, timeOfMove } from './tag-pins.js';
import { VersionRemoval } from './version-removal.js';

type Row<T> = Omit<T, 'metadata' | 'config' | 'messages'> & {
  readonly metadata: string;
  readonly config: string;
  readonly is_chat: number;
};
interface OfPrompt {
  readonly projectId: string;
  readonly slug: string;
}

const LATEST_VERSION = '(SELECT max(version) FROM prompt_versions WHERE prompt_id = p.id)';
const VERSION = `SELECT v.id, v.prompt_id, p.slug, v.version, ${LATEST_VERSION} AS latest_version, v.content, v.content_hash,
  v.model_id, v.metadata, v.created_at, v.updated_at, v.is_chat, v.config
FROM prompts AS p JOIN prompt_versions AS v ON v.prompt_id = p.id`;
const OF_PROMPT = 'p.project_id = @projectId AND p.slug = @slug';

/** SQL for who moved a tag or made a version. */
const WHO = 'u.id, u.email, u.name';

function prepare(db: Database) {
  return { ...versionStatements(db), ...tagStatements(db), ...listStatements(db) };
}

function versionStatements(db: Database) {
  const version = (condition: string) =>
    db.prepare<OfPrompt & { version?: number; hash?: string; tag?: string }, Row<StoredVersion>>(
      `${VERSION} WHERE ${OF_PROMPT} AND ${condition}`,
    );
  return {
    promptId: db.prepare<OfPrompt, string>(`SELECT p.id FROM prompts AS p WHERE ${OF_PROMPT}`).pluck(),
    insertPrompt: db.prepare<OfPrompt & { id: string; at: Micros }>(
      'INSERT INTO prompts (id, project_id, slug, created_at) VALUES (@id, @projectId, @slug, @at)',
    ),
    byNumber: version('v.version = @version'),
    after: version(
      'v.version = (SELECT min(version) FROM prompt_versions WHERE prompt_id = p.id AND version > @version)',
    ),
    byHash: version('v.content_hash = @hash'),
    byTag: version(`v.version = ${pinnedVersion('p.id', '@tag')}`),
    latest: version(`v.version = ${LATEST_VERSION}`),
    byId: db.prepare<{ projectId: string; id: string }, Row<StoredVersion>>(
      `${VERSION} WHERE v.id = @id AND p.project_id = @projectId`,
    ),
    insertVersion: db.prepare<Row<VersionDraft> & { id: string; promptId: string }>(
      `INSERT INTO prompt_versions
         (id, prompt_id, version, content_hash, model_id, metadata, created_at, created_by, updated_at, content, is_chat, config)
       SELECT @id, id, last_version, @content_hash, @model_id, @metadata, @created_at, @created_by, @created_at, @content,
         @is_chat, @config
       FROM prompts WHERE id = @promptId`,
    ),
    takeNumber: db.prepare<[string, number]>(
      'UPDATE prompts SET last_version = last_version + 1 WHERE id = ? AND last_version < ?',
    ),
    bindModel: db.prepare<OfPrompt & { version: number; modelId: string | null; at: Micros }>(
      `UPDATE prompt_versions SET model_id = @modelId, updated_at = @at
       WHERE version = @version AND prompt_id = (SELECT p.id FROM prompts AS p WHERE ${OF_PROMPT})`,
    ),
  };
}

function tagStatements(db: Database) {
  return {
    pin: db.prepare<OfPrompt & TagEntry & { at: Micros; by: string }>(
      `INSERT INTO prompt_tag_pins (prompt_id, tag, version, pinned_at, stored_at, pinned_by)
       SELECT p.id, @tag, v.version, ${timeOfMove('p.id', '@tag', '@at')}, @at, @by FROM prompts AS p JOIN prompt_versions AS v ON v.prompt_id = p.id
       WHERE ${OF_PROMPT} AND v.version = @version`,
    ),
    removeTag: db.prepare<OfPrompt & { tag: string; at: Micros; by: string }>(
      `INSERT INTO prompt_tag_pins (prompt_id, tag, version, pinned_at, stored_at, pinned_by)
       SELECT p.id, @tag, ${NO_VERSION}, ${timeOfMove('p.id', '@tag', '@at')}, @at, @by FROM prompts AS p
       WHERE ${OF_PROMPT} AND ${pinnedVersion('p.id', '@tag')} IS NOT NULL`,
    ),
    hadTag: db.prepare<{ prompt: string; tag: string }, number>(`SELECT ${hadTag('@prompt', '@tag')}`).pluck(),
    countTags: db.prepare<{ prompt: string }, number>(countOfTags('@prompt', MAX_TAGS)).pluck(),
    tags: db.prepare<{ prompt: string }, TagEntry>(`${pinnedTags('@prompt')} ORDER BY tag`),
    pins: db.prepare<OfPrompt & Window & { tag: string }, MoveRow>(
      `SELECT nullif(t.version, ${NO_VERSION}) AS version, t.pinned_at AS at, ${WHO} FROM prompts AS p
       JOIN prompt_tag_pins AS t ON t.prompt_id = p.id JOIN users AS u ON u.id = t.pinned_by
       WHERE ${OF_PROMPT} AND t.tag = @tag ORDER BY t.pinned_at DESC, t.id DESC LIMIT @limit OFFSET @offset`,
    ),
  };
}

function listStatements(db: Database) {
  return {
    creations: db.prepare<OfPrompt & Window, MoveRow>(
      `SELECT v.version, v.created_at AS at, ${WHO} FROM prompts AS p
       JOIN prompt_versions AS v ON v.prompt_id = p.id JOIN users AS u ON u.id = v.created_by
       WHERE ${OF_PROMPT} ORDER BY v.version DESC LIMIT @limit OFFSET @offset`,
    ),
    count: db
      .prepare<{ projectId: string; q: string }, number>(`SELECT count(*) FROM prompts AS p WHERE ${LISTED}`)
      .pluck(),
    prompts: db.prepare<Window & { projectId: string; q: string }, Omit<PromptSummary, 'tags'>>(
      `SELECT p.id, p.slug, p.created_at, v.version AS latest_version, v.created_at AS updated_at,
         (SELECT count(*) FROM prompt_versions WHERE prompt_id = p.id) AS version_count
       FROM prompts AS p JOIN prompt_versions AS v ON v.prompt_id = p.id AND v.version = ${LATEST_VERSION}
       WHERE ${LISTED} ORDER BY p.slug LIMIT @limit OFFSET @offset`,
    ),
  };
}

/** Slugs are of ASCII alone, whose case SQLite knows. */
const LISTED = `p.project_id = @projectId AND instr(lower(p.slug), lower(@q)) > 0`;

interface MoveRow {
  readonly version: number | null;
  readonly at: Micros;
  readonly id: string;
  readonly email: string | null;
  readonly name: string;
}

/** Prompts, their versions and tags in the SQLite file. */
export class SqlitePromptStore extends WatchedStore<ReturnType<typeof prepare>> implements PromptStore {
  readonly #removal: VersionRemoval;

  constructor(db: Database) {
    super(db, prepare);
    this.#removal = new VersionRemoval(db);
  }

  hasPrompt(projectId: string, slug: string): boolean {
    return guarded(() => this.statements.promptId.get({ projectId, slug }) !== undefined);
  }

  countPrompts(projectId: string, q: string): number {
    return guarded(() => this.statements.count.get({ projectId, q }) ?? 0);
  }

  listPrompts(projectId: string, window: Window, q: string): Omit<PromptSummary, 'tags'>[] {
    return guarded(() => this.statements.prompts.all({ projectId, q, ...window }));
  }

  ensureVersion(projectId: string, slug: string, draft: VersionDraft): StoredVersion {
    const { promptId, insertPrompt, takeNumber, insertVersion } = this.statements;
    const selector = { by: 'hash', hash: draft.content_hash } as const;
    const ensure = () => {
      const existing = this.findVersion(projectId, slug, selector);
      if (existing !== undefined) return existing;
      let prompt = promptId.get({ projectId, slug });
      if (prompt === undefined) {
        prompt = randomUUID();
        insertPrompt.run({ id: prompt, projectId, slug, at: draft.created_at });
      }
      if (takeNumber.run(prompt, MAX_VERSIONS).changes === 0)
        throw new DomainError(
          'conflict',
          `The prompt ${slug} has no version number left: an import set it to ${MAX_VERSIONS}, the maximum. Use a prompt with another slug.`,
        );
      const { messages, config, metadata, ...rest } = draft;
      const json = { metadata: JSON.stringify(metadata), config: JSON.stringify(config) };
      insertVersion.run({ ...rest, ...json, is_chat: messages === null ? 0 : 1, id: randomUUID(), promptId: prompt });
      return this.findVersion(projectId, slug, selector);
    };
    // Most calls find what they ask for; only the others need the write lock, under which it is looked for again.
    const found = this.findVersion(projectId, slug, selector) ?? transact(this.db, ensure);
    if (found === undefined) throw new Error('A version vanished inside its own transaction');
    return found;
  }

  findVersion(projectId: string, slug: string, selector: VersionSelector): StoredVersion | undefined {
    const { byNumber, byHash, byTag, latest } = this.statements;
    const prompt = { projectId, slug };
    return guarded(() => {
      if (selector.by === 'number') return parsed(byNumber.get({ ...prompt, version: selector.version }));
      if (selector.by === 'hash') return parsed(byHash.get({ ...prompt, hash: selector.hash }));
      return parsed(selector.tag === LATEST ? latest.get(prompt) : byTag.get({ ...prompt, tag: selector.tag }));
    });
  }

  versionAfter(projectId: string, slug: string, version: number): StoredVersion | undefined {
    return guarded(() => parsed(this.statements.after.get({ projectId, slug, version })));
  }

  findVersionById(projectId: string, id: string): StoredVersion | undefined {
    return guarded(() => parsed(this.statements.byId.get({ projectId, id })));
  }

  bindModel(projectId: string, slug: string, version: number, modelId: string | null, at: Micros): boolean {
    return guarded(() => this.statements.bindModel.run({ projectId, slug, version, modelId, at }).changes > 0);
  }

  removeVersion(projectId: string, slug: string, version: number, admit: (uses: VersionUses) => void): boolean {
    return transact(this.db, () => {
      const found = this.findVersion(projectId, slug, { by: 'number', version });
      if (found === undefined) return false;
      const uses = this.#removal.usesOf(projectId, found);
      admit(uses);
      this.#removal.remove(projectId, found, uses);
      return true;
    });
  }

  pin(projectId: string, slug: string, entry: TagEntry, at: Micros, by: string): boolean {
    return guarded(() => this.statements.pin.run({ projectId, slug, ...entry, at, by }).changes > 0);
  }

  together<T>(writes: () => T): T {
    return transact(this.db, writes);
  }

  takesTag(projectId: string, slug: string, tag: string): boolean {
    const { promptId, hadTag: had, countTags } = this.statements;
    return guarded(() => {
      const prompt = promptId.get({ projectId, slug }) ?? '';
      return had.get({ prompt, tag }) === 1 || (countTags.get({ prompt }) ?? 0) < MAX_TAGS;
    });
  }

  removeTag(projectId: string, slug: string, tag: string, at: Micros, by: string): boolean {
    return guarded(() => this.statements.removeTag.run({ projectId, slug, tag, at, by }).changes > 0);
  }

  listTags(projectId: string, slug: string): TagEntry[] {
    return guarded(() => this.tagsOf(this.statements.promptId.get({ projectId, slug }) ?? ''));
  }

  tagsOf(promptId: string): TagEntry[] {
    return guarded(() => this.statements.tags.all({ prompt: promptId }));
  }

  tagHistory(projectId: string, slug: string, tag: string, window: Window): TagMove[] {
    const { pins, creations } = this.statements;
    const prompt = { projectId, slug, ...window };
    const rows = guarded(() => (tag === LATEST ? creations.all(prompt) : pins.all({ ...prompt, tag })));
    return rows.map(({ version, at, ...by }) => ({ version, at, by }));
  }
}

function parsed(row: Row<StoredVersion> | undefined): StoredVersion | undefined {
  if (row === undefined) return undefined;
  const { is_chat, ...rest } = row;
  return {
    ...rest,
    messages: is_chat === 1 ? readMessages(row.content) : null,
    config: JSON.parse(row.config) as StoredVersion['config'],
    metadata: JSON.parse(row.metadata) as StoredVersion['metadata'],
  };
}
