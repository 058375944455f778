import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import {
  AssembledSpan,
  charactersOf,
  type PartialSpan,
  type SpanKey,
} from '../../engine/traces/model/partial/partial-span.js';
import { WRITTEN_MEANWHILE, type PartialSpans } from '../../engine/traces/model/partial/partial-spans.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import type { WriteLog } from '../../engine/traces/model/write-log.js';
import type { MaskerOf } from '../masking/maskers.js';
import type { SpanIngest, SpanSource } from './span-ingest.js';

export interface PartialIngestParts {
  readonly spans: PartialSpans;
  readonly log: Pick<WriteLog, 'admit'>;
  /** Masks what each part says, before it is put together with what was masked earlier. */
  readonly masker: MaskerOf;
  /** What stores whole spans, by a log, and masks nothing. @param stored spans as they were before */
  readonly ingest: (log: WriteLog, stored: readonly Span[]) => Pick<SpanIngest, 'storeSpans'>;
}

/** Most attempts at spans that others write meanwhile. */
const MAX_ROUNDS = 5;
/** Largest span that is put together, in characters of its texts and attributes: each part writes all of it. */
const MAX_SPAN_CHARACTERS = 16 * 1024 * 1024;
/** Longest time that spans are put together before other requests get a turn. */
const MAX_TURN_MS = 10;

/** What is asked to be stored, and what is not. */
interface Request {
  readonly projectId: string;
  readonly source: SpanSource;
  readonly parts: readonly PartialSpan[];
  /** For each part why it is refused. */
  readonly refused: (string | null)[];
}

/** The parts of one span in a request. */
interface OfSpan {
  readonly key: SpanKey;
  /** Their places in the request. */
  readonly parts: number[];
}

/**
 * Takes in spans that are sent in parts. Each is put together with what there is of it, and stored whole, as any other span: so
 * figures, costs, deletions and durability are those of whole spans. Requests with parts of one trace take turns.
 */
export class PartialIngest {
  readonly #parts: PartialIngestParts;
  /** The last request with parts of a trace. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(parts: PartialIngestParts) {
    this.#parts = parts;
  }

  /**
   * Stores parts of spans. Parts that say nothing new, such as those that are sent again, change nothing.
   * @returns for each part why its span is not stored; null: it is
   * @throws DomainError those of WriteLog: perhaps nothing is acknowledged, and sending again is safe
   */
  async store(projectId: string, source: SpanSource, parts: readonly PartialSpan[]): Promise<(string | null)[]> {
    this.#parts.log.admit(projectId);
    const said = await this.#masked(projectId, parts);
    const spans = bySpan(said);
    return this.#inTurn(projectId, spans, async () => {
      const refused = said.map((): string | null => null);
      await this.#storeAll({ projectId, source, parts: said, refused }, spans);
      return refused;
    });
  }

  async #masked(projectId: string, parts: readonly PartialSpan[]): Promise<readonly PartialSpan[]> {
    const masker = this.#parts.masker(projectId);
    if (masker === null) return parts;
    const masked = await masker.maskEach(parts.map(({ said }) => said));
    return parts.map((part, index) => ({ ...part, said: masked[index] ?? {} }));
  }

  /** Stores spans; those that are too large together one half after the other, and one that is by itself not at all. */
  async #storeAll(request: Request, spans: readonly OfSpan[]): Promise<void> {
    try {
      await this.#storeAgain(request, spans);
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'too_large') throw error;
      if (spans.length === 1) {
        for (const part of spans[0]?.parts ?? []) request.refused[part] = TOO_LARGE;
        return;
      }
      const half = Math.ceil(spans.length / 2);
      await this.#storeAll(request, spans.slice(0, half));
      await this.#storeAll(request, spans.slice(half));
    }
  }

  async #storeAgain(request: Request, spans: readonly OfSpan[]): Promise<void> {
    for (let round = 1; ; round += 1)
      try {
        await this.#store(request, spans);
        return;
      } catch (error) {
        const again = error instanceof DomainError && error.reason === WRITTEN_MEANWHILE && round < MAX_ROUNDS;
        if (!again) throw error;
      }
  }

  async #store({ projectId, source, parts, refused }: Request, spans: readonly OfSpan[]): Promise<void> {
    const opened = await this.#parts.spans.open(
      projectId,
      spans.map(({ key }) => key),
    );
    try {
      const changed: { readonly span: Span; readonly of: OfSpan }[] = [];
      let began = performance.now();
      const rest = async () => {
        if (performance.now() - began <= MAX_TURN_MS) return;
        await nextTurn();
        began = performance.now();
      };
      for (const of of spans) {
        await rest();
        const stored = opened.find(of.key);
        const assembled = stored === undefined ? AssembledSpan.empty(of.key) : AssembledSpan.of(stored);
        for (const index of of.parts) {
          await rest();
          refused[index] = assembled.add(parts[index] as PartialSpan);
        }
        if (!assembled.changed) continue;
        const span = assembled.toSpan();
        if (charactersOf(span) <= MAX_SPAN_CHARACTERS) changed.push({ span, of });
        else for (const part of of.parts) refused[part] ??= TOO_LARGE;
      }
      if (changed.length === 0) return;
      const whole = changed.map(({ span }) => span);
      const before = changed.flatMap(({ of }) => opened.find(of.key) ?? []);
      const { flaws } = await this.#parts.ingest(opened.log, before).storeSpans(projectId, source, whole);
      for (const { index, issues } of flaws) {
        const rules = issues.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join(', ');
        for (const part of changed[index]?.of.parts ?? []) refused[part] ??= rules;
      }
    } finally {
      opened.close();
    }
  }

  /** Does work once all earlier work with any of the traces has ended. */
  async #inTurn<T>(projectId: string, spans: readonly OfSpan[], work: () => Promise<T>): Promise<T> {
    const traces = [...new Set(spans.map(({ key }) => `${projectId}/${key.trace_id}`))];
    const turn = Promise.all(traces.flatMap((trace) => this.#turns.get(trace) ?? [])).then(work);
    const ended = turn.catch(() => undefined);
    for (const trace of traces) this.#turns.set(trace, ended);
    try {
      return await turn;
    } finally {
      for (const trace of traces) if (this.#turns.get(trace) === ended) this.#turns.delete(trace);
    }
  }
}

const TOO_LARGE = `would make a span of more than ${MAX_SPAN_CHARACTERS / 1024 / 1024} MB`;

function bySpan(parts: readonly PartialSpan[]): OfSpan[] {
  const spans = new Map<string, OfSpan>();
  for (const [index, { trace_id, id }] of parts.entries()) {
    const key = `${trace_id}/${id}`;
    const known = spans.get(key);
    if (known === undefined) spans.set(key, { key: { trace_id, id }, parts: [index] });
    else known.parts.push(index);
  }
  return [...spans.values()];
}
