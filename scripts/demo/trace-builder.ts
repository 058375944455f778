import type { SpanInput } from '../../src/engine/traces/model/span/schema.js';
import type { Random } from '../random.js';

/** Fields that a step of a trace sets itself; the builder adds ids, times and fields that all spans of the trace share. */
export type Step = Pick<SpanInput, 'name' | 'kind'> &
  Partial<
    Pick<
      SpanInput,
      | 'input_data'
      | 'output_data'
      | 'attributes'
      | 'error_code'
      | 'error_message'
      | 'error_stack'
      | 'code_filepath'
      | 'code_lineno'
    >
  >;

export interface Shared {
  readonly trace_id: string;
  readonly session: { readonly id: string; readonly name: string };
  readonly tags: Readonly<Record<string, string>>;
  readonly trace_tags: Readonly<Record<string, string>>;
  readonly session_tags: Readonly<Record<string, string>>;
}

/** Spans of one trace, laid out in time as they are told: steps follow each other, and a parent lasts as long as its children. */
export class TraceBuilder {
  readonly spans: SpanInput[] = [];
  readonly #shared: Shared;
  readonly #random: Random;
  #now: number;
  #parent: string | null = null;

  /** @param startedAt Unix milliseconds. */
  constructor(shared: Shared, startedAt: number, random: Random) {
    this.#shared = shared;
    this.#now = startedAt;
    this.#random = random;
  }

  /** When the last step has ended, in Unix milliseconds. */
  get now(): number {
    return this.#now;
  }

  /** A step of its own, of about `typicalMs`. @returns the id of its span */
  step(typicalMs: number, step: Step): string {
    const started = this.#now;
    this.#now += this.#random.around(typicalMs, 0.4);
    const id = this.#random.uuid();
    this.#add(id, started, step);
    return id;
  }

  /** A step that consists of others; told what came of it once they are through. */
  group(step: Step, inner: () => Partial<Step> | undefined): void {
    const [id, started, parent] = [this.#random.uuid(), this.#now, this.#parent];
    const at = this.spans.length;
    this.#parent = id;
    this.#now += this.#random.around(3);
    const outcome = inner();
    this.#now += this.#random.around(2);
    this.#parent = parent;
    this.#add(id, started, { ...step, ...outcome });
    // Parents first, as an instrumented program opens them.
    this.spans.splice(at, 0, ...this.spans.splice(-1));
  }

  /** Lets time pass, as before another attempt. */
  wait(ms: number): void {
    this.#now += ms;
  }

  #add(id: string, started: number, step: Step): void {
    this.spans.push({
      id,
      ...this.#shared,
      parent_span_id: this.#parent,
      status: step.error_code === undefined ? 'ok' : 'error',
      started_at: iso(started),
      ended_at: iso(this.#now),
      ...step,
    });
  }
}

/** With microseconds, as tracers have them. */
function iso(ms: number): string {
  const micros = Math.floor((ms % 1) * 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
}
