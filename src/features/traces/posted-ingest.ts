import { DomainError } from '../../engine/errors.js';
import type { SessionRead, TraceRead } from '../../engine/traces/model/list/fields.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import { requireOwnSessions } from '../../engine/traces/model/trace/posted.js';
import { sessionAsSent, traceAsSent } from './as-sent.js';
import type { Maskable } from '../masking/masker.js';
import type { MaskerOf } from '../masking/maskers.js';
import { issuesOf, readElements, refuse } from './elements.js';
import { sessionReader, traceReader } from './readers.js';
import type { PostOptions } from './span-ingest.js';
import { tagFlaws } from './tag-limit.js';
import type { WriteLog } from '../../engine/traces/model/write-log.js';

export interface PostedIngestParts {
  readonly log: WriteLog;
  readonly lists: Pick<Lists, 'tracesById' | 'sessionsById'>;
  /** Masks what is posted before anything else is done with it. */
  readonly masker: MaskerOf;
  /** Largest size of the keys and values of one object of tags, in bytes. */
  readonly maxTagBytes: number;
}

/** Takes in posted traces and posted sessions: check, normalize, store, answer. */
export class PostedIngest {
  readonly #parts: PostedIngestParts;

  constructor(parts: PostedIngestParts) {
    this.#parts = parts;
  }

  /**
   * Stores posted traces and answers them with the figures of their spans, or as they were sent.
   * @throws DomainError `invalid` with every issue, and nothing stored; those of WriteLog
   */
  async postTraces(projectId: string, body: unknown, { mayRead, unknown }: PostOptions): Promise<Partial<TraceRead>[]> {
    const { elements, issues } = readElements(body, traceReader, unknown);
    const traces = await this.#masked(projectId, elements);
    refuse([...issues, ...issuesOf(tagFlaws(traces, this.#parts.maxTagBytes))]);
    if (traces.length === 0) return [];
    await this.#parts.log.append({ projectId, traces });
    const read = () => this.#parts.lists.tracesById(projectId, ids(traces));
    const stored = mayRead ? await whileAvailable(read) : null;
    return stored === null ? traces.map((trace) => traceAsSent(trace, projectId)) : answers(traces, stored);
  }

  /** Stores posted sessions. @throws DomainError as {@link postTraces}; also `forbidden`, when one is to be another project's */
  async postSessions(
    projectId: string,
    body: unknown,
    { mayRead, unknown }: PostOptions,
  ): Promise<Partial<SessionRead>[]> {
    requireOwnSessions(body, projectId);
    const { elements, issues } = readElements(body, sessionReader, unknown);
    const sessions = await this.#masked(projectId, elements);
    refuse([...issues, ...issuesOf(tagFlaws(sessions, this.#parts.maxTagBytes))]);
    if (sessions.length === 0) return [];
    await this.#parts.log.append({ projectId, sessions });
    const read = () => this.#parts.lists.sessionsById(projectId, ids(sessions));
    const stored = mayRead ? await whileAvailable(read) : null;
    return stored === null ? sessions.map((session) => sessionAsSent(session, projectId)) : answers(sessions, stored);
  }

  async #masked<T extends Maskable>(projectId: string, posted: readonly T[]): Promise<readonly T[]> {
    const masker = this.#parts.masker(projectId);
    return masker === null ? posted : masker.maskEach(posted);
  }
}

function ids(posted: readonly { readonly id: string }[]): string[] {
  return [...new Set(posted.map(({ id }) => id))];
}

/** What is read of a write that is stored already; null while nothing can be read, which is no reason to refuse it. */
async function whileAvailable<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'unavailable') return null;
    throw error;
  }
}

/** One answer per element; an element deleted by someone else in between has none left to give. */
function answers<T>(posted: readonly { readonly id: string }[], stored: ReadonlyMap<string, T>): T[] {
  return posted.flatMap(({ id }) => stored.get(id) ?? []);
}
