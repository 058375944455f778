import type { Place } from './log/segment-file.js';
import type { Touched } from './commit-follower.js';
import type { TableName } from './table-columns.js';
import type { Version } from './version-clock.js';

/** Rows of one table with their versions, as ClickHouse takes them. */
export interface StampedRows {
  readonly table: TableName;
  readonly bytes: Buffer;
  /** The columns that they are encoded in; absent: those of now. */
  readonly columns?: readonly string[];
}

/** One request that has its versions. */
export interface StampedWrite {
  readonly projectId: string;
  readonly first: Version;
  readonly last: Version;
  readonly rows: number;
  readonly bytes: number;
  readonly touched: Touched;
  /** Whether it deletes, and writes nothing. */
  readonly deletes: boolean;
  /** Where the log has it; null: the log is not used. */
  readonly place: Place | null;
  /** Null: to be read from the log. */
  readonly tables: readonly StampedRows[] | null;
  /** Whether ClickHouse may hold some of it already: an insert failed, or an earlier run ended, without anybody knowing. */
  readonly unsure?: true;
}

/** What a flush takes at most. */
export interface FlushLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
}

interface OfProject {
  /** In the order of their versions. */
  readonly waiting: StampedWrite[];
  readonly flushing: Set<StampedWrite>;
  rows: number;
  bytes: number;
  traces: number;
}

/**
 * Writes that ClickHouse does not hold yet, by project: some wait, some are in a flush in progress. Each project has a state
 * up to which ClickHouse holds all that was acknowledged of it, so that one can be read while much of another still waits.
 */
export class UnflushedWrites {
  readonly #projects = new Map<string, OfProject>();
  readonly #keptBytes: number;
  #acknowledged: Version;
  #rows = 0;
  #bytes = 0;
  /** Of what no flush has taken. */
  #waiting = { rows: 0, bytes: 0 };
  /** Bytes of rows that are in memory. */
  #inMemory = 0;

  /**
   * @param acknowledged the version up to which everything is acknowledged
   * @param keptBytes rows beyond so many bytes are read from the log when their turn comes
   */
  constructor(acknowledged: Version, keptBytes: number) {
    this.#acknowledged = acknowledged;
    this.#keptBytes = keptBytes;
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The version up to which everything is acknowledged. */
  get acknowledged(): Version {
    return this.#acknowledged;
  }

  rowsOf(projectId: string): number {
    return this.#projects.get(projectId)?.rows ?? 0;
  }

  bytesOf(projectId: string): number {
    return this.#projects.get(projectId)?.bytes ?? 0;
  }

  /** How many traces of a project are written to; one that several writes are to counts with each. */
  tracesOf(projectId: string): number {
    return this.#projects.get(projectId)?.traces ?? 0;
  }

  /** Whether a write of a project that ClickHouse does not hold yet concerns one of some traces. */
  concern(projectId: string, traces: readonly string[]): boolean {
    const project = this.#projects.get(projectId);
    if (project === undefined) return false;
    const concerns = ({ touched }: StampedWrite) => traces.some((id) => touched.traces.has(id));
    return project.waiting.some(concerns) || [...project.flushing].some(concerns);
  }

  /** The version up to which ClickHouse holds everything acknowledged. @param projectId default: of all projects */
  storedUpTo(projectId?: string): Version {
    return Math.min(this.#acknowledged, this.#first(projectId) - 1);
  }

  /** The version of the last write of a project that is not stored; 0: all are. @param projectId default: of all projects */
  last(projectId?: string): Version {
    const of = projectId === undefined ? this.#projects.values() : [this.#projects.get(projectId)];
    let last = 0;
    for (const project of of) {
      if (project === undefined) continue;
      last = Math.max(last, project.waiting.at(-1)?.last ?? 0);
      for (const write of project.flushing) last = Math.max(last, write.last);
    }
    return last;
  }

  /** Whether a project has writes that no flush has taken yet. */
  waits(projectId: string): boolean {
    return (this.#projects.get(projectId)?.waiting.length ?? 0) > 0;
  }

  /** Rows and bytes that no flush has taken yet. */
  get untaken(): Readonly<{ rows: number; bytes: number }> {
    return this.#waiting;
  }

  /** Projects that have writes that no flush has taken yet. */
  get waiting(): string[] {
    return [...this.#projects].filter(([, { waiting }]) => waiting.length > 0).map(([projectId]) => projectId);
  }

  /** Adds writes, in the order of their versions. */
  add(writes: readonly StampedWrite[]): void {
    for (const write of writes) {
      const kept = write.place === null || this.#inMemory + write.bytes <= this.#keptBytes;
      this.#of(write.projectId).waiting.push(kept ? write : { ...write, tables: null });
      this.#count(write, 1);
      this.#wait(write, 1);
      if (kept && write.tables !== null) this.#inMemory += write.bytes;
    }
  }

  /** Call in the same turn of the event loop as {@link add}, or once the writes are stored. */
  acknowledge(upTo: Version): void {
    this.#acknowledged = Math.max(this.#acknowledged, upTo);
  }

  /** Takes writes of some projects for a flush: the oldest of each, and at least one. */
  take(projects: readonly string[], { maxRows, maxBytes }: FlushLimits): StampedWrite[] {
    const taken: StampedWrite[] = [];
    let rows = 0;
    let bytes = 0;
    for (const projectId of projects) {
      const project = this.#projects.get(projectId);
      if (project === undefined) continue;
      let count = 0;
      for (const write of project.waiting) {
        if (taken.length > 0 && (rows + write.rows > maxRows || bytes + write.bytes > maxBytes)) break;
        taken.push(write);
        project.flushing.add(write);
        this.#wait(write, -1);
        rows += write.rows;
        bytes += write.bytes;
        count += 1;
      }
      project.waiting.splice(0, count);
    }
    return taken;
  }

  /** Takes just these writes for a flush. @returns those that wait */
  takeThese(writes: readonly StampedWrite[]): StampedWrite[] {
    for (const [projectId, own] of byProject(writes)) {
      const project = this.#of(projectId);
      for (const write of own) {
        project.waiting.splice(project.waiting.indexOf(write), 1);
        project.flushing.add(write);
        this.#wait(write, -1);
      }
    }
    return [...writes];
  }

  /** Puts writes back that a flush took and did not store. @param unsure whether some of them may be stored anyway */
  restore(writes: readonly StampedWrite[], unsure: boolean): void {
    for (const [projectId, own] of byProject(writes)) {
      const project = this.#of(projectId);
      const left = own.filter((write) => project.flushing.delete(write));
      for (const write of left) {
        project.waiting.push(unsure ? { ...write, unsure: true } : write);
        this.#wait(write, 1);
      }
      // Of two flushes that failed, the later one may have been first to.
      project.waiting.sort((one, other) => one.first - other.first);
    }
  }

  /** Forgets writes that a flush took and stored, or that were refused after all. */
  remove(writes: readonly StampedWrite[]): void {
    for (const [projectId, own] of byProject(writes)) {
      const project = this.#of(projectId);
      for (const write of own) {
        if (!project.flushing.delete(write)) continue;
        this.#count(write, -1);
        if (write.tables !== null) this.#inMemory -= write.bytes;
      }
      if (project.waiting.length + project.flushing.size === 0) this.#projects.delete(projectId);
    }
  }

  #first(projectId: string | undefined): Version {
    const of = projectId === undefined ? this.#projects.values() : [this.#projects.get(projectId)];
    let first = Infinity;
    for (const project of of) {
      if (project === undefined) continue;
      first = Math.min(first, project.waiting[0]?.first ?? Infinity);
      for (const write of project.flushing) first = Math.min(first, write.first);
    }
    return first;
  }

  #of(projectId: string): OfProject {
    const known = this.#projects.get(projectId);
    if (known !== undefined) return known;
    const project: OfProject = { waiting: [], flushing: new Set(), rows: 0, bytes: 0, traces: 0 };
    this.#projects.set(projectId, project);
    return project;
  }

  #wait({ rows, bytes }: StampedWrite, sign: 1 | -1): void {
    this.#waiting = { rows: this.#waiting.rows + sign * rows, bytes: this.#waiting.bytes + sign * bytes };
  }

  #count({ projectId, rows, bytes, touched }: StampedWrite, sign: 1 | -1): void {
    const project = this.#of(projectId);
    project.traces += sign * touched.traces.size;
    project.rows += sign * rows;
    project.bytes += sign * bytes;
    this.#rows += sign * rows;
    this.#bytes += sign * bytes;
  }
}

function byProject(writes: readonly StampedWrite[]): Map<string, StampedWrite[]> {
  const projects = new Map<string, StampedWrite[]>();
  for (const write of writes) {
    const own = projects.get(write.projectId);
    if (own === undefined) projects.set(write.projectId, [write]);
    else own.push(write);
  }
  return projects;
}
