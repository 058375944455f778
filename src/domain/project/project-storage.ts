import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { sessionList, spanList, traceList } from '../list/definitions.js';
import type { Lists, Page } from '../list/lists.js';
import { defaultQuery } from '../list/query.js';

/** Room on a disk, in bytes. */
export interface DiskRoom {
  readonly free: number;
  readonly total: number;
}

/** Bytes in the database of spans, whatever project they are of. */
export interface SpanBytes {
  /** The whole database. */
  readonly total: number;
  /** The part that is the project's, by its share of the rows of spans: their sizes are not known by project. */
  readonly ofProject: number;
}

/** Images that are kept of a project. */
export interface KeptImages {
  readonly count: number;
  readonly bytes: number;
}

/** What is stored of a project, and where it lies. */
export interface StorageRead {
  readonly spans: {
    readonly count: number;
    readonly oldest_started_at: string | null;
    readonly estimated_bytes: number;
  };
  readonly traces: { readonly count: number };
  readonly sessions: { readonly count: number };
  readonly attachments: KeptImages;
  readonly server: {
    readonly embedded: boolean;
    readonly database_bytes: number;
    readonly sqlite_bytes: number;
    /** Null: spans lie on another server. */
    readonly disk: { readonly free_bytes: number; readonly total_bytes: number } | null;
  };
}

export interface ProjectStorageParts {
  readonly lists: Pick<Lists, 'spans' | 'traces' | 'sessions'>;
  readonly spanBytes: (projectId: string, signal?: AbortSignal) => Promise<SpanBytes>;
  readonly images: (projectId: string) => KeptImages;
  readonly sqliteBytes: () => number;
  /** The disk of the data directory; null: spans are not there. */
  readonly disk: (() => Promise<DiskRoom>) | null;
}

/** What a project stores. Its counts are those of its lists, own calls of the server included. */
export class ProjectStorage {
  readonly #parts: ProjectStorageParts;

  constructor(parts: ProjectStorageParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `unavailable` */
  async read(projectId: string, signal?: AbortSignal): Promise<StorageRead> {
    const { lists, spanBytes, images, sqliteBytes, disk } = this.#parts;
    const counted = { limit: 1, count: true, internal: 'included' as const };
    const oldestFirst = { sort: 'started_at', descending: false, fields: ['started_at'] };
    const spans = await lists.spans(projectId, { ...defaultQuery(spanList), ...counted, ...oldestFirst }, signal);
    const [oldest] = (await rowsOf(spans)) as { started_at: string }[];
    const traces = await lists.traces(projectId, { ...defaultQuery(traceList), ...counted, fields: ['id'] }, signal);
    await rowsOf(traces);
    const sessions = await lists.sessions(
      projectId,
      { ...defaultQuery(sessionList), ...counted, fields: ['id'] },
      signal,
    );
    await rowsOf(sessions);
    const bytes = await spanBytes(projectId, signal);
    const room = disk === null ? null : await disk();
    return {
      spans: {
        count: spans.total ?? 0,
        oldest_started_at: oldest?.started_at ?? null,
        estimated_bytes: bytes.ofProject,
      },
      traces: { count: traces.total ?? 0 },
      sessions: { count: sessions.total ?? 0 },
      attachments: images(projectId),
      server: {
        embedded: disk !== null,
        database_bytes: bytes.total,
        sqlite_bytes: sqliteBytes(),
        disk: room && { free_bytes: room.free, total_bytes: room.total },
      },
    };
  }
}

/** Reads a page to its end: until then it holds a turn. */
async function rowsOf({ json }: Page): Promise<unknown> {
  return JSON.parse(json instanceof Readable ? await text(json) : json.toString()) as unknown;
}
