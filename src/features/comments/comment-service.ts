import { v7 as uuidv7 } from 'uuid';
import { DomainError } from '../../engine/errors.js';
import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Window } from '../../engine/schema/page.js';
import { invalid } from '../../engine/validation/validation.js';
import type { MaskerOf } from '../masking/maskers.js';
import type { BesideTraces } from '../traces/beside-traces.js';
import { MAX_COMMENT, MAX_COMMENTS, MAX_COMMENTS_OF_PROJECT, type Comment, type CommentStore } from './comment.js';
import type { CommentInput, CommentPatch } from './schema.js';

export interface CommentServiceParts {
  readonly store: CommentStore;
  readonly beside: Pick<BesideTraces, 'keep'>;
  readonly masker: MaskerOf;
  readonly audit: AuditLog;
}

const MOST = { ofTrace: MAX_COMMENTS, ofProject: MAX_COMMENTS_OF_PROJECT };
const TOO_MANY = {
  ofTrace: `A trace has at most ${MAX_COMMENTS} comments: delete one first`,
  ofProject: `A project has at most ${MAX_COMMENTS_OF_PROJECT} comments: delete some first`,
};

/** What people say to each other about traces. Everything is inside the caller's project. */
export class CommentService {
  readonly #parts: CommentServiceParts;

  constructor(parts: CommentServiceParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found` unless the trace, and the span in it, is stored; `invalid`; `conflict` with too many */
  async create(by: Principal, traceId: string, { text, span_id = null }: CommentInput): Promise<Comment> {
    const { store, beside } = this.#parts;
    const { project_id, user_id } = by;
    const comment = {
      ...{ id: uuidv7(), project_id, trace_id: traceId, span_id, user_id },
      ...{ text: this.#text(project_id, text), created_at: Date.now() * 1000 },
    };
    const insert = (after_deletion: number) => {
      const met = store.insert({ ...comment, after_deletion }, MOST);
      if (met !== null) throw new DomainError('conflict', TOO_MANY[met]);
    };
    await beside.keep(comment, insert, () => store.remove(comment.id));
    return this.#get(project_id, comment.id);
  }

  /** The oldest first, of which trace ever; none of one that has none. @param spanId only those about this span */
  list(projectId: string, traceId: string, spanId: string | null, window: Window) {
    const { store } = this.#parts;
    return {
      comments: store.list(projectId, traceId, spanId, window),
      total: store.count(projectId, traceId, spanId),
    };
  }

  /** @throws DomainError `not_found`; `forbidden` unless it is the caller's own */
  edit(by: Principal, id: string, { text }: CommentPatch): Comment {
    const { project_id } = by;
    const known = this.#get(project_id, id);
    if (known.user_id !== by.user_id) throw new DomainError('forbidden', 'Only its author can edit a comment');
    this.#parts.store.edit(id, this.#text(project_id, text), Date.now() * 1000);
    return this.#get(project_id, id);
  }

  /** @throws DomainError `not_found`; `forbidden` unless it is the caller's own, or the caller manages the project */
  remove(by: Principal, id: string): void {
    const { store, audit } = this.#parts;
    const { project_id } = by;
    const { user_id } = this.#get(project_id, id);
    if (user_id !== by.user_id && !by.scopes.has('admin'))
      throw new DomainError('forbidden', 'Only its author, or an admin of the project, can delete a comment');
    audit.together(() => {
      store.remove(id);
      audit.done({ event: 'commentDeleted', by, project_id, subject_id: id });
    });
  }

  #get(projectId: string, id: string): Comment {
    const comment = this.#parts.store.find(projectId, id);
    if (comment === undefined) throw new DomainError('not_found', 'There is no comment with this id');
    return comment;
  }

  /** What is stored of a text; UTF-8 has no half of a surrogate pair. @throws DomainError `invalid` for nothing but spaces */
  #text(projectId: string, text: string): string {
    if (text.trim() === '')
      throw invalid([{ pointer: '/text', detail: 'must contain a character other than a space' }]);
    const wellFormed = text.toWellFormed();
    return this.#parts.masker(projectId)?.maskText(wellFormed, MAX_COMMENT) ?? wellFormed;
  }
}
