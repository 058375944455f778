import { remainingQuota } from '../../work/fair-quota.js';

/** A request, by what it takes of the queue and of a commit. */
export interface Queued {
  readonly projectId: string;
  readonly rows: number;
  readonly bytes: number;
}

export interface GroupLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
}

/**
 * The requests that wait for a commit. Projects share its bytes, so that one that sends more than can be stored leaves
 * room for the others, and take turns, so that a request waits for one of each other project and not for all of them.
 */
export class CommitQueue<Request extends Queued> {
  readonly #maxBytes: number;
  /** Waiting requests by project, in the order in which projects are served next. */
  readonly #waiting = new Map<string, Request[]>();
  #length = 0;
  /** Bytes by project, of its requests that wait or are being committed. */
  readonly #heldBytes = new Map<string, number>();
  #held = { rows: 0, bytes: 0 };

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Requests that wait. */
  get length(): number {
    return this.#length;
  }

  /** The projects whose requests wait. */
  get projects(): string[] {
    return [...this.#waiting.keys()];
  }

  /** Rows and bytes of what waits and of what is being committed. */
  get held(): Readonly<{ rows: number; bytes: number }> {
    return this.#held;
  }

  /** How many bytes a project may add. A request larger than the whole queue must still be possible, alone. */
  room(projectId: string): number {
    if (this.#held.bytes === 0) return Number.POSITIVE_INFINITY;
    const ofParty = this.#heldBytes.get(projectId) ?? 0;
    const taken = this.#held.bytes;
    return ofParty === 0 ? this.#maxBytes - taken : remainingQuota({ limit: this.#maxBytes, taken, ofParty });
  }

  add(request: Request): void {
    const waiting = this.#waiting.get(request.projectId);
    if (waiting === undefined) this.#waiting.set(request.projectId, [request]);
    else waiting.push(request);
    this.#length += 1;
    this.#hold(request, 1);
  }

  /**
   * Removes the requests of the next commit: one of each project in turn, and at least one. They are still held.
   * @param mustWait projects that are passed over; with them alone, the commit would hold nothing
   */
  nextGroup({ maxRows, maxBytes }: GroupLimits, mustWait: (projectId: string) => boolean = () => false): Request[] {
    const group: Request[] = [];
    let rows = 0;
    let bytes = 0;
    for (const [projectId, waiting] of this.#waiting) {
      const [request] = waiting;
      if (request === undefined || mustWait(projectId)) continue;
      if (group.length > 0 && (rows + request.rows > maxRows || bytes + request.bytes > maxBytes)) break;
      rows += request.rows;
      bytes += request.bytes;
      group.push(request);
      waiting.shift();
      // The project goes to the end of the map, which this loop comes to in its turn.
      this.#waiting.delete(projectId);
      if (waiting.length > 0) this.#waiting.set(projectId, waiting);
    }
    this.#length -= group.length;
    return group;
  }

  /** Removes everything that waits; it is still held. */
  takeAll(): Request[] {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#length = 0;
    return all;
  }

  /** Lets go of a request that was removed and is answered now. */
  release(request: Request): void {
    this.#hold(request, -1);
  }

  #hold({ projectId, rows, bytes }: Request, sign: 1 | -1): void {
    this.#held = { rows: this.#held.rows + sign * rows, bytes: this.#held.bytes + sign * bytes };
    const ofProject = (this.#heldBytes.get(projectId) ?? 0) + sign * bytes;
    if (ofProject > 0) this.#heldBytes.set(projectId, ofProject);
    else this.#heldBytes.delete(projectId);
  }
}
