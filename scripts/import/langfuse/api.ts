import { ImportError } from '../import-error.js';
import { membersIn, membersOf, textOf } from '../members.js';
import type { Step } from '../step.js';
import { RefusedError, Remote } from '../../transfer/remote.js';
import type { Thing } from './shapes.js';

/** A page of things, and how many there are of them; null: nobody says. */
export interface Page {
  readonly things: readonly Thing[];
  readonly total: number | null;
  /** What to ask for the next page with; null: there is none. */
  readonly next: string | null;
}

/** What a page of some list is imported by. */
export interface PageRead {
  readonly steps: Iterable<Step> | AsyncIterable<Step>;
  readonly next: string | null;
  /** How many things of the page count for the progress. */
  readonly read: number;
}

export interface LangfuseKeys {
  readonly url: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

const PATIENCE_MS = 900_000;
const LONGEST_PAUSE_MS = 120_000;
/** Most that the server answers at once. */
const PAGE = 100;

/** The public API of a Langfuse server, which is only read. */
export class LangfuseApi {
  readonly #remote: Remote;

  constructor({ url, publicKey, secretKey }: LangfuseKeys) {
    const authorization = `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`;
    this.#remote = new Remote(url, '', PATIENCE_MS, {
      credentials: { authorization },
      ...{ option: '--source-url', longestPauseMs: LONGEST_PAUSE_MS },
    });
  }

  /** The name of the project of the keys. @throws ImportError when they are refused */
  async project(): Promise<string> {
    try {
      const [project] = membersIn((await this.get('/api/public/projects'))['data']);
      return textOf(project?.['name']) ?? textOf(project?.['id']) ?? 'unknown';
    } catch (error) {
      if (error instanceof RefusedError && [401, 403].includes(error.status))
        throw new ImportError(
          'The Langfuse server rejected the keys: give those of a project with --public-key and --secret-key',
        );
      throw error;
    }
  }

  get(path: string): Promise<Thing> {
    return this.#remote.get<Thing>(path);
  }

  /** A page of a list that has numbers. @param number null: only how many there are */
  async page(path: string, query: Readonly<Record<string, string>>, number: string | null): Promise<Page> {
    const limit = number === null ? '1' : String(PAGE);
    const search = new URLSearchParams({ ...query, page: number ?? '1', limit });
    const { data, meta } = await this.get(`${path}?${search.toString()}`);
    const { totalItems, totalPages } = membersOf(meta);
    const at = Number(number ?? 1);
    const isLast = typeof totalPages === 'number' ? at >= totalPages : membersIn(data).length < PAGE;
    return {
      things: membersIn(data),
      total: typeof totalItems === 'number' ? totalItems : null,
      next: isLast ? null : String(at + 1),
    };
  }

  /** A page of a list that has cursors. */
  async cursorPage(path: string, query: Readonly<Record<string, string>>, cursor: string | null): Promise<Page> {
    const search = new URLSearchParams({ ...query, limit: String(PAGE), ...(cursor !== null && { cursor }) });
    const { data, meta } = await this.get(`${path}?${search.toString()}`);
    return { things: membersIn(data), total: null, next: textOf(membersOf(meta)['cursor']) };
  }
}

/** Whether a server does not have a call. */
export function isMissing(error: unknown): boolean {
  return error instanceof RefusedError && [404, 405, 410].includes(error.status);
}
