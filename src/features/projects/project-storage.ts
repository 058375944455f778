import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { StoredBytes, StoredKind } from '../../engine/disk/disk.js';
import type { GrowingDisk } from '../../engine/disk/growth.js';
import type { StorageState } from '../../engine/disk/storage-measurements.js';
import { sessionList, spanList, traceList } from '../../engine/traces/model/list/definitions.js';
import type { Lists, Page } from '../../engine/traces/model/list/lists.js';
import { defaultQuery } from '../../engine/traces/model/list/query.js';

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
    readonly stored_bytes: StoredBytes;
    readonly disks: readonly DiskRead[];
  };
}

/** A disk that data lies on. */
export interface DiskRead {
  readonly name: string;
  readonly holds: readonly StoredKind[];
  readonly free_bytes: number;
  readonly total_bytes: number;
  readonly min_free_bytes: number;
  readonly grows_bytes_per_day: number | null;
  readonly days_left: number | null;
}

export interface ProjectStorageParts {
  readonly lists: Pick<Lists, 'spans' | 'traces' | 'sessions'>;
  readonly spanBytes: (projectId: string, signal?: AbortSignal) => Promise<number>;
  readonly images: (projectId: string) => KeptImages;
  readonly measurements: { read(signal?: AbortSignal): Promise<StorageState> };
  /** Whether spans are in the data directory. */
  readonly embedded: boolean;
}

const ALL = { internal: 'included', experiments: 'included' } as const;

/** What a project stores. Its counts are those of its lists, own calls of the server and experiments included. */
export class ProjectStorage {
  readonly #parts: ProjectStorageParts;

  constructor(parts: ProjectStorageParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `unavailable` */
  async read(projectId: string, signal?: AbortSignal): Promise<StorageRead> {
    const { lists, spanBytes, images, measurements, embedded } = this.#parts;
    const counted = { limit: 1, count: true, ...ALL };
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
    const { measured, disks } = await measurements.read(signal);
    const { stored } = measured;
    const room = disks.find(({ name }) => embedded && name === 'data');
    return {
      spans: {
        count: spans.total ?? 0,
        oldest_started_at: oldest?.started_at ?? null,
        estimated_bytes: bytes,
      },
      traces: { count: traces.total ?? 0 },
      sessions: { count: sessions.total ?? 0 },
      attachments: images(projectId),
      server: {
        embedded,
        database_bytes: stored.spans + stored.rollups + stored.words,
        sqlite_bytes: stored.sqlite,
        disk: room === undefined ? null : { free_bytes: room.free, total_bytes: room.total },
        stored_bytes: stored,
        disks: disks.map(diskRead),
      },
    };
  }
}

/** A disk as it is shown. */
export function diskRead({ name, holds, free, total, minFree, growsPerDay, daysLeft }: GrowingDisk): DiskRead {
  return {
    name,
    holds,
    free_bytes: free,
    total_bytes: total,
    min_free_bytes: minFree,
    grows_bytes_per_day: growsPerDay,
    days_left: daysLeft,
  };
}

/** Reads a page to its end: until then it holds a turn. */
async function rowsOf({ json }: Page): Promise<unknown> {
  return JSON.parse(json instanceof Readable ? await text(json) : json.toString()) as unknown;
}
