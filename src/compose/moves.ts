import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../engine/errors.js';
import {
  placeName,
  settingsOf,
  type BegunMove,
  type MoveSource,
  type SettledState,
  type SpanPlace,
} from '../features/move/move.js';
import { readMoveMark, writeMoveMark, type MoveMark } from '../features/move/store/move-mark.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';
import { placeOf } from './place.js';

/** The last step takes seconds; whoever sends again after so many is seldom refused twice. */
const RETRY_SECONDS = 5;
const RETRY_MOVED_SECONDS = 30;
/** How long the removal of a project is waited for. */
const REMOVED_WITHIN_MS = 60_000;
const LOOK_MS = 50;

/** Lets a command of this machine move the spans of this server, one at a time. */
export class Moves implements MoveSource {
  readonly #context: Context;
  readonly #storage: Storage;
  #mark: MoveMark | null = null;
  #closedAt: number | null = null;
  #moved = false;

  constructor(context: Context, storage: Storage) {
    this.#context = context;
    this.#storage = storage;
  }

  async begin(to: SpanPlace): Promise<BegunMove> {
    const { config, events } = this.#context;
    const from = placeOf(config);
    if (this.#mark !== null && this.#moved)
      throw new DomainError('conflict', `Spans are already moved: start the server with ${settingsOf(this.#mark.to)}`);
    if (this.#mark !== null)
      throw new DomainError('conflict', 'Spans are already being moved: wait until the move ends');
    if (config.clickhouse.cluster !== null)
      throw new DomainError(
        'conflict',
        'Spans of a cluster (CLICKHOUSE_CLUSTER) cannot be moved: export and import projects',
      );
    if ((from.url === null) === (to.url === null))
      throw new DomainError(
        'conflict',
        `The spans are in ${placeName(from)}; from there they can only move to ${other(from)}`,
      );
    const before = readMoveMark(config.dataDir);
    const unfinished = before?.done_at === null ? before : null;
    if (unfinished !== null && !isSame(unfinished.to, to))
      throw new DomainError(
        'conflict',
        `A move to ${placeName(unfinished.to)} is unfinished: run it again, or cancel it first (move --cancel)`,
      );
    const mark = unfinished ?? { id: randomUUID(), from, to, begun_at: new Date().toISOString(), done_at: null };
    writeMoveMark(config.dataDir, mark);
    this.#mark = mark;
    events.moveBegun({ to: placeName(to) });
    return { id: mark.id, from, address: this.#storage.endpoint };
  }

  async settled(): Promise<SettledState> {
    this.#requireBegun();
    const upTo = await this.#storage.traces.rollUp();
    const going = new Set(this.#beingDeleted());
    return { upTo, projects: this.#projects().filter((id) => !going.has(id)) };
  }

  async close(): Promise<SettledState> {
    const { traces } = this.#storage;
    this.#requireBegun();
    await this.#projectsRemoved();
    // From this turn on, the removal of a project that is ordered waits for the next start.
    this.#closedAt = performance.now();
    traces.refuseWrites(refusal('The last spans are being moved to another place. Retry.', RETRY_SECONDS));
    const upTo = await traces.written();
    this.#requireBegun();
    return { upTo, projects: this.#projects() };
  }

  finish(): void {
    const { config, events } = this.#context;
    const mark = this.#requireBegun();
    if (this.#closedAt === null)
      throw new DomainError('conflict', 'Spans are still being accepted: the move cannot finish');
    // From here on it is done, whatever happens to this process or the command.
    writeMoveMark(config.dataDir, { ...mark, done_at: new Date().toISOString() });
    this.#moved = true;
    events.moveFinished({ to: placeName(mark.to), closedMs: performance.now() - this.#closedAt });
    this.#storage.traces.refuseWrites(
      refusal('The spans were moved, and this server is about to restart. Retry.', RETRY_MOVED_SECONDS),
    );
  }

  end(): void {
    const mark = this.#mark;
    if (mark === null || this.#moved) return;
    this.#mark = null;
    this.#closedAt = null;
    this.#storage.traces.refuseWrites(null);
    this.#context.events.moveCutOff({ to: placeName(mark.to) });
  }

  /** @throws Error that says why spans are refused */
  check(): void {
    if (this.#moved)
      throw new Error('spans are rejected because they were moved: start the server with the new settings');
    if (this.#closedAt !== null) throw new Error('spans are rejected while the last of them are being moved');
  }

  /** @throws DomainError `conflict` when the command is gone, or the move was given up */
  #requireBegun(): MoveMark {
    const mark = this.#mark;
    if (mark === null || readMoveMark(this.#context.config.dataDir)?.id !== mark.id)
      throw new DomainError('conflict', 'The move was canceled');
    return mark;
  }

  #projects(): string[] {
    return this.#storage.metadata.identities.listProjects().map(({ id }) => id);
  }

  #beingDeleted(): string[] {
    const pending = this.#storage.metadata.deletions.pending();
    return pending.flatMap(({ what, project_id }) => (what === 'project' ? project_id : []));
  }

  async #projectsRemoved(): Promise<void> {
    const deadline = performance.now() + REMOVED_WITHIN_MS;
    while (this.#beingDeleted().length > 0) {
      if (performance.now() > deadline)
        throw new DomainError('unavailable', 'A project is being deleted: run the move again after the deletion');
      await sleep(LOOK_MS);
      this.#requireBegun();
    }
  }
}

function refusal(detail: string, retryAfterSeconds: number): DomainError {
  return new DomainError('unavailable', detail, { retryAfterSeconds, reason: 'moving' });
}

function other({ url }: SpanPlace): string {
  return url === null ? 'a ClickHouse server (--to <URL>)' : 'the embedded engine (--to embedded)';
}

function isSame(one: SpanPlace, another: SpanPlace): boolean {
  return one.url === another.url && one.database === another.database;
}
