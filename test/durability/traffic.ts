import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../scripts/random.js';
import type { SpanRead, TraceRead } from '../../src/engine/traces/model/list/fields.js';
import { Ledger, spanKey, type SessionWrite, type SpanWrite, type TraceWrite } from './ledger.js';
import { PROJECT_ID, unhurried, type Answer, type Program } from '../harness/program.js';
import { auditSpans, auditTraces } from './recount.js';

const HOUR_MICROS = 3_600e6;
const DAY_MICROS = 24 * HOUR_MICROS;
/** When traces begin, where a test says nothing else. */
const SPREAD: Spread = { from: Date.UTC(2026, 0, 1), days: 90 };
const OPEN_TRACES = 30;
const PAUSE_MS = 4;
const REFUSED_PAUSE_MS = 50;
const SERVED_WITHIN_MS = 10_000;

/** What became of the requests of all clients. */
export interface Tally {
  acknowledged: number;
  refused: number;
  /** Of the refused, those that write. */
  refusedWrites: number;
  broken: number;
  slowestMs: number;
  /** Answers and figures that may not be. */
  readonly wrong: string[];
}

/** Between when traces begin. */
export interface Spread {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly days: number;
}

export interface CrowdOptions {
  readonly spread?: Spread;
  /** Milliseconds between an answer and the next request of a client. */
  readonly pauseMs?: number;
  /** Where to write down what was sent; default: a ledger of its own. */
  readonly ledger?: Ledger;
}

interface OwnTrace {
  readonly id: string;
  readonly spans: SpanWrite[];
  /** Its spans start within an hour from here; microseconds. */
  readonly from: number;
}

/** One client: writes traces of its own, one request after another, and reads some back. */
export class Client {
  readonly #ledger: Ledger;
  readonly #dice: Random;
  readonly #tally: Tally;
  readonly #sessions: readonly string[];
  readonly #ownSession: string;
  readonly #spread: Spread;
  readonly #pauseMs: number;
  #traces: OwnTrace[] = [];

  /** @param sessions that spans of all clients name; this client states things about the one at `index`. */
  constructor(
    ledger: Ledger,
    dice: Random,
    tally: Tally,
    sessions: readonly string[],
    index: number,
    { spread = SPREAD, pauseMs = PAUSE_MS }: CrowdOptions,
  ) {
    this.#ledger = ledger;
    this.#dice = dice;
    this.#tally = tally;
    this.#sessions = sessions;
    this.#ownSession = sessions[index % sessions.length] ?? '';
    this.#spread = spread;
    this.#pauseMs = pauseMs;
  }

  /** Sends until told to stop; ends when the request under way has ended. */
  async run(program: Program, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const answer = await this.#step(program);
      await sleep(answer.status === 200 ? this.#pauseMs : REFUSED_PAUSE_MS);
    }
  }

  async #step(program: Program): Promise<Answer> {
    const chance = this.#dice.next();
    const trace = this.#traces.length > 0 ? this.#dice.pick(this.#traces) : undefined;
    if (chance < 0.03) return this.#stateSession(program);
    if (chance < 0.07) return this.#stateTrace(program, trace ?? this.#newTrace());
    if (trace === undefined || chance < 0.45) return this.#addSpans(program, this.#newTrace());
    if (chance < 0.7) return this.#addSpans(program, trace);
    if (chance < 0.94) return this.#resend(program, trace);
    return this.#readBack(program, trace);
  }

  #newTrace(): OwnTrace {
    const { from, days } = this.#spread;
    const trace = { id: randomUUID(), spans: [], from: from * 1000 + this.#dice.whole(0, days * DAY_MICROS) };
    this.#traces = [...this.#traces.slice(1 - OPEN_TRACES), trace];
    return trace;
  }

  #addSpans(program: Program, trace: OwnTrace): Promise<Answer> {
    const spans = Array.from({ length: this.#dice.whole(1, 6) }, () => this.#span(randomUUID(), trace));
    trace.spans.push(...spans);
    // The same span twice in one request: the later element wins.
    const [first] = spans;
    if (first && this.#dice.next() < 0.1) spans.push(this.#span(first.id, trace));
    return this.#postSpans(program, spans);
  }

  /** A client's update: other cost, error, time, session; or a plain retry with the same content. */
  #resend(program: Program, trace: OwnTrace): Promise<Answer> {
    if (trace.spans.length === 0) return this.#addSpans(program, trace);
    const spans = Array.from({ length: this.#dice.whole(1, 3) }, () => {
      const span = this.#dice.pick(trace.spans);
      return this.#dice.next() < 0.3 ? span : this.#span(span.id, trace);
    });
    return this.#postSpans(program, [...new Map(spans.map((span) => [span.id, span])).values()]);
  }

  #span(id: string, trace: OwnTrace): SpanWrite {
    const dice = this.#dice;
    const rev = this.#ledger.revision();
    const start = trace.from + dice.whole(0, HOUR_MICROS);
    const parents = trace.spans.filter((span) => span.id !== id);
    const parent = parents.length > 0 && dice.next() < 0.7 ? dice.pick(parents).id : null;
    return {
      id,
      trace_id: trace.id,
      parent_span_id: parent,
      session_id: dice.next() < 0.5 ? dice.pick(this.#sessions) : null,
      name: `step ${dice.whole(1, 9)}`,
      status: dice.pick(['unset', 'ok', 'ok', 'error', null]),
      started_at: iso(start),
      ended_at: dice.next() < 0.9 ? iso(start + dice.whole(0, 5_000_000)) : null,
      cost: dice.next() < 0.6 ? dice.whole(0, 2_000_000) / 1e6 : null,
      error_message: dice.next() < 0.1 ? `refused at ${rev}` : null,
      input_data: `question ${rev}`,
      trace_tags: { last: String(rev) },
      attributes: { rev },
    };
  }

  async #postSpans(program: Program, spans: readonly SpanWrite[]): Promise<Answer> {
    this.#ledger.sentSpans(spans);
    const answer = await program.request('POST', '/spans', spans);
    if (this.#counted(answer, 'POST /spans')) this.#ledger.acknowledgedSpans(spans, answer.json as SpanRead[]);
    return answer;
  }

  async #stateTrace(program: Program, trace: OwnTrace): Promise<Answer> {
    const rev = this.#ledger.revision();
    const session_id = this.#dice.pick(this.#sessions);
    const write: TraceWrite = {
      id: trace.id,
      session_id,
      name: `run ${rev}`,
      started_at: iso(trace.from + this.#dice.whole(0, HOUR_MICROS)),
      attributes: { rev },
    };
    this.#ledger.traces.sent(trace.id, write);
    const answer = await program.request('POST', '/traces', [write]);
    if (this.#counted(answer, 'POST /traces'))
      this.#ledger.traces.acknowledged(trace.id, write, (answer.json as TraceRead[])[0] as TraceRead);
    return answer;
  }

  async #stateSession(program: Program): Promise<Answer> {
    const rev = this.#ledger.revision();
    const write: SessionWrite = {
      id: this.#ownSession,
      project_id: PROJECT_ID,
      name: `talk ${rev}`,
      attributes: { rev },
    };
    this.#ledger.sessions.sent(write.id, write);
    const answer = await program.request('POST', '/sessions', [write]);
    if (this.#counted(answer, 'POST /sessions')) this.#ledger.sessions.acknowledged(write.id, write, answer.json[0]);
    return answer;
  }

  /** Nobody else writes this trace, so what is read of it has to be whole at any moment, also right after a crash. */
  async #readBack(program: Program, trace: OwnTrace): Promise<Answer> {
    const spans = await program.request('GET', `/spans?trace_id=${trace.id}`);
    const found = this.#counted(spans, 'GET /spans');
    const traces = await program.request('GET', `/traces?id=${trace.id}`);
    if (!this.#counted(traces, 'GET /traces') || !found) return traces;
    const keys = trace.spans.map(spanKey).filter((key) => this.#ledger.spans.things.get(key)?.acknowledged);
    const posted = this.#ledger.traces.things.get(trace.id)?.acknowledged ? [trace.id] : [];
    this.#tally.wrong.push(
      ...auditSpans(spans.json as SpanRead[], this.#ledger, keys),
      ...auditTraces(traces.json as TraceRead[], spans.json as SpanRead[], this.#ledger, posted),
    );
    return traces;
  }

  /** @returns whether it was acknowledged. */
  #counted({ status, retryAfter, json, ms }: Answer, call: string): boolean {
    const tally = this.#tally;
    tally.slowestMs = Math.max(tally.slowestMs, ms);
    if (status === 200) tally.acknowledged += 1;
    else if (status === 0) tally.broken += 1;
    else if (status !== 503 && status !== 429) tally.wrong.push(`${call} answers ${status}: ${JSON.stringify(json)}`);
    else if (retryAfter === null) tally.wrong.push(`${call} answers ${status} without Retry-After`);
    else {
      tally.refused += 1;
      if (call.startsWith('POST')) tally.refusedWrites += 1;
    }
    return status === 200;
  }
}

function iso(micros: number): string {
  const millis = Math.floor(micros / 1000);
  return new Date(millis).toISOString().replace('Z', `${String(micros - millis * 1000).padStart(3, '0')}Z`);
}

/** Clients that write at the same time, over as many lives of the server as the test has. */
export class Crowd {
  readonly ledger: Ledger;
  readonly tally: Tally = { acknowledged: 0, refused: 0, refusedWrites: 0, broken: 0, slowestMs: 0, wrong: [] };
  readonly #clients: readonly Client[];

  constructor(size: number, seed: number, options: CrowdOptions = {}) {
    const { ledger = new Ledger() } = options;
    this.ledger = ledger;
    const sessions = Array.from({ length: size * 2 }, () => randomUUID());
    this.#clients = Array.from(
      { length: size },
      (_, index) => new Client(ledger, new Random(seed + index * 7919), this.tally, sessions, index, options),
    );
  }

  /** Lets them all write. @returns how to stop: resolves when their last requests have ended. */
  start(program: Program): () => Promise<void> {
    const stop = new AbortController();
    const running = Promise.all(this.#clients.map((client) => client.run(program, stop.signal)));
    running.catch(() => undefined);
    return async () => {
      stop.abort();
      await running;
    };
  }
  /** Waits until one more request is acknowledged. */
  async served(): Promise<void> {
    const { acknowledged } = this.tally;
    const deadline = performance.now() + unhurried(SERVED_WITHIN_MS);
    while (this.tally.acknowledged === acknowledged) {
      if (performance.now() > deadline) throw new Error('the clients are not served');
      await sleep(10);
    }
  }
}
