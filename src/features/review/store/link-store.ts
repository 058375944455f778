import { randomUUID } from 'node:crypto';
import type { Window } from '../../../engine/schema/page.js';
import type { FeedbackLink, LinkDraft, ListedLink } from '../feedback-link.js';
import type { GuestDraft, LinkHoldings, LinkStore } from '../link-store.js';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';

/** The table says `prompt_completion` of every link. */
const FIELDS = `l.id, l.project_id, l.prompt_id, p.slug AS prompt_slug, iif(l.spans IS NULL, l.link_type, 'span') AS link_type,
  l.spans, l.created_at, l.expires_at, l.revoked_at`;
const LINKS = 'feedback_links AS l LEFT JOIN prompts AS p ON p.id = l.prompt_id';
const LINK = `SELECT ${FIELDS} FROM ${LINKS}`;

const LISTED = `SELECT ${FIELDS}, u.id AS creator_id, u.name AS creator_name,
  (SELECT count(*) FROM feedback_guests AS g WHERE g.link_id = l.id) AS reviewer_count
FROM ${LINKS} JOIN users AS u ON u.id = l.created_by`;

/** A link with its spans as JSON. */
type Row<T extends FeedbackLink> = Omit<T, 'span_ids'> & { readonly spans: string | null };

interface Guest {
  readonly linkId: string;
  readonly key: string;
}

interface HoldingsRow {
  readonly reviewers: number;
  readonly reviewersOfSite: number;
  readonly bytes: number;
  readonly bytesOfSite: number;
}

function prepare(db: Database) {
  return {
    insert: db.prepare<Omit<LinkDraft, 'span_ids' | 'link_type'> & { readonly spans: string | null }>(
      `INSERT INTO feedback_links (id, project_id, prompt_id, link_type, spans, token_hash, created_at, created_by, expires_at)
       VALUES (@id, @project_id, @prompt_id, 'prompt_completion', @spans, @token_hash, @created_at, @created_by, @expires_at)`,
    ),
    list: db.prepare<Window & { projectId: string }, Row<ListedLink>>(
      `${LISTED} WHERE l.project_id = @projectId ORDER BY l.created_at DESC, l.rowid DESC LIMIT @limit OFFSET @offset`,
    ),
    listed: db.prepare<[string, string], Row<ListedLink>>(`${LISTED} WHERE l.project_id = ? AND l.id = ?`),
    find: db.prepare<[string, string], Row<FeedbackLink>>(`${LINK} WHERE l.project_id = ? AND l.id = ?`),
    expire: db.prepare<{ projectId: string; id: string; at: Micros }>(
      `UPDATE feedback_links SET expires_at = @at WHERE project_id = @projectId AND id = @id AND revoked_at IS NULL`,
    ),
    revoke: db.prepare<{ projectId: string; id: string; at: Micros }>(
      `UPDATE feedback_links SET revoked_at = coalesce(revoked_at, @at) WHERE project_id = @projectId AND id = @id`,
    ),
    // A project may have very many links: none of them is written to when its deletion is ordered.
    byToken: db.prepare<[Buffer], Row<FeedbackLink>>(
      `${LINK} WHERE l.token_hash = ?
         AND NOT EXISTS (SELECT 1 FROM deletions AS d WHERE d.project_id = l.project_id AND d.what = 'project')`,
    ),
    guest: db
      .prepare<Guest, string>('SELECT user_id FROM feedback_guests WHERE link_id = @linkId AND guest_key = @key')
      .pluck(),
    holdings: db.prepare<{ linkId: string; site: string }, HoldingsRow>(
      `SELECT count(*) AS reviewers, count(*) FILTER (WHERE site = @site) AS reviewersOfSite,
         ifnull(sum(bytes), 0) AS bytes, ifnull(sum(bytes) FILTER (WHERE site = @site), 0) AS bytesOfSite
       FROM feedback_guests WHERE link_id = @linkId`,
    ),
    insertUser: db.prepare<{ id: string; name: string; at: Micros }>(
      'INSERT INTO users (id, name, email, created_at) VALUES (@id, @name, NULL, @at)',
    ),
    insertGuest: db.prepare<Guest & { userId: string; site: string }>(
      'INSERT INTO feedback_guests (link_id, guest_key, user_id, site) VALUES (@linkId, @key, @userId, @site)',
    ),
  };
}

/** Feedback links and the guests who came by them, in the SQLite file. */
export class SqliteLinkStore implements LinkStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  insert({ span_ids, link_type: _type, ...draft }: LinkDraft): void {
    const spans = span_ids && JSON.stringify(span_ids);
    guarded(() => this.#statements.insert.run({ ...draft, spans }));
  }

  list(projectId: string, window: Window): ListedLink[] {
    return guarded(() => this.#statements.list.all({ projectId, ...window })).map((row) => toLink<ListedLink>(row));
  }

  listed(projectId: string, id: string): ListedLink | undefined {
    return optionalLink<ListedLink>(guarded(() => this.#statements.listed.get(projectId, id)));
  }

  find(projectId: string, id: string): FeedbackLink | undefined {
    return optionalLink<FeedbackLink>(guarded(() => this.#statements.find.get(projectId, id)));
  }

  expire(projectId: string, id: string, at: Micros): boolean {
    return guarded(() => this.#statements.expire.run({ projectId, id, at }).changes > 0);
  }

  revoke(projectId: string, id: string, at: Micros): boolean {
    return guarded(() => this.#statements.revoke.run({ projectId, id, at }).changes > 0);
  }

  findByTokenHash(hash: Buffer): FeedbackLink | undefined {
    return optionalLink<FeedbackLink>(guarded(() => this.#statements.byToken.get(hash)));
  }

  guest(linkId: string, key: string): string | undefined {
    return guarded(() => this.#statements.guest.get({ linkId, key }));
  }

  makeGuest(linkId: string, { key, name, site, at }: GuestDraft): string {
    const { guest, insertUser, insertGuest } = this.#statements;
    return transact(this.#db, () => {
      const known = guest.get({ linkId, key });
      if (known !== undefined) return known;
      const id = randomUUID();
      insertUser.run({ id, name, at });
      insertGuest.run({ linkId, key, userId: id, site });
      return id;
    });
  }

  holdings(linkId: string, site: string): LinkHoldings {
    const row = guarded(() => this.#statements.holdings.get({ linkId, site }));
    if (row === undefined) throw new Error('An aggregate returned nothing');
    return {
      reviewers: { taken: row.reviewers, ofParty: row.reviewersOfSite },
      bytes: { taken: row.bytes, ofParty: row.bytesOfSite },
    };
  }
}

function toLink<T extends FeedbackLink>({ spans, ...row }: Row<T>): T {
  return { ...row, span_ids: spans === null ? null : (JSON.parse(spans) as string[]) } as unknown as T;
}

const optionalLink = <T extends FeedbackLink>(row: Row<T> | undefined): T | undefined => row && toLink<T>(row);
