import type { Micros } from '../timestamp.js';
import { remainingQuota } from '../work/fair-quota.js';
import { charactersOf } from './model/partial/partial-span.js';
import type { Span } from './model/span/span.js';
import type { NamedWrites } from './write/write-watch.js';

interface KnownSpan {
  /** Null: it is stored, and to be read. */
  readonly span: Span | null;
  /** When the earliest of what is in it was received. */
  readonly since: Micros;
  readonly bytes: number;
}

/** What is known of the spans of a trace, while no one else writes to it. */
export interface KnownTrace {
  readonly projectId: string;
  readonly traceId: string;
  readonly spans: Map<string, KnownSpan>;
  /** Whether all of its spans are among those: another id is a new span. */
  whole: boolean;
  /** Grows with every write of someone else, after which nothing is known. */
  writes: number;
  /** Readers that rely on every write being reported. */
  users: number;
  bytes: number;
}

/** What a trace takes beside its spans, and a span beside its texts. */
const TRACE_BYTES = 300;
const SPAN_BYTES = 500;

/**
 * Spans that were lately sent in parts: most parts find here what they add to. Bounded by bytes, of which each project may have half
 * of what is left; the trace that was used least lately goes first.
 */
export class KnownTraces {
  readonly #projects = new Map<string, { readonly traces: Map<string, KnownTrace>; bytes: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The trace, which follows writes from now on, until {@link release}. */
  use(projectId: string, traceId: string): KnownTrace {
    let project = this.#projects.get(projectId);
    if (project === undefined) this.#projects.set(projectId, (project = { traces: new Map(), bytes: 0 }));
    let trace = project.traces.get(traceId);
    if (trace === undefined) {
      trace = { projectId, traceId, spans: new Map(), whole: false, writes: 0, users: 0, bytes: 0 };
      this.#count(trace, TRACE_BYTES);
    }
    trace.users += 1;
    project.traces.delete(traceId);
    project.traces.set(traceId, trace);
    return trace;
  }

  release(trace: KnownTrace): void {
    trace.users -= 1;
    this.#shrink(trace.projectId);
  }

  put(trace: KnownTrace, span: Span, since: Micros): void {
    // Of what has ended, hardly more is sent: it goes first.
    const kept = span.ended_at !== null && this.#room(trace.projectId) < this.#maxBytes / 8 ? null : span;
    const bytes = kept === null ? SPAN_BYTES : SPAN_BYTES + 2 * charactersOf(kept);
    this.#count(trace, bytes - (trace.spans.get(span.id)?.bytes ?? 0));
    trace.spans.set(span.id, { span: kept, since, bytes });
  }

  /** Forgets what was written by someone. Call in the turn of the event loop in which it is queued. */
  note({ projectId, spans = [], tombstones = [], removedTraces = [] }: NamedWrites): void {
    const project = this.#projects.get(projectId);
    if (project === undefined) return;
    for (const written of [spans, tombstones, removedTraces])
      for (const { trace_id } of written) {
        const trace = project.traces.get(trace_id);
        if (trace !== undefined) this.forget(trace);
      }
  }

  /** Forgets what is known of a trace: it is another now, or no one knows. */
  forget(trace: KnownTrace): void {
    trace.writes += 1;
    trace.whole = false;
    trace.spans.clear();
    this.#count(trace, TRACE_BYTES - trace.bytes);
  }

  /** Forgets a project, which is removed. */
  forgetProject(projectId: string): void {
    for (const trace of this.#projects.get(projectId)?.traces.values() ?? []) this.forget(trace);
    this.#shrink(projectId, true);
  }

  #count(trace: KnownTrace, bytes: number): void {
    const project = this.#projects.get(trace.projectId);
    if (project === undefined) return;
    trace.bytes += bytes;
    project.bytes += bytes;
    this.#bytes += bytes;
  }

  /** Bytes that a project may have beside those that it has. */
  #room(projectId: string): number {
    const ofParty = this.#projects.get(projectId)?.bytes ?? 0;
    return remainingQuota({ limit: this.#maxBytes, taken: this.#bytes, ofParty });
  }

  #shrink(projectId: string, all = false): void {
    const project = this.#projects.get(projectId);
    if (project === undefined) return;
    for (const trace of project.traces.values()) {
      if (!all && this.#room(projectId) >= 0) break;
      if (trace.users > 0) continue;
      this.#count(trace, -trace.bytes);
      project.traces.delete(trace.traceId);
    }
    if (project.traces.size === 0) this.#projects.delete(projectId);
  }
}
