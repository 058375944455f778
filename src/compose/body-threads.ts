import { DomainError } from '../engine/errors.js';
import { reasonOf } from '../features/traces/span-ingest.js';
import type { Micros } from '../engine/timestamp.js';
import { UnknownNames } from '../engine/validation/unknown-names.js';
import type { Signals } from '../engine/signals/signals.js';
import type { SpanScoresParts } from '../features/scores/span-scores.js';
import type { WriteReceipt } from '../engine/traces/model/write-log.js';
import type { EncodedLog, EncodedWrites } from '../engine/traces/write/encoded-writes.js';
import { fillIn, type RenderedSpans } from '../http/rendered-spans.js';
import type { PostSpans } from '../features/traces/http/post-spans.js';
import type { ExportTraces } from '../otlp/export.js';
import type { PartialSuccess } from '../otlp/response.js';
import {
  type BodyOutcome,
  type BodyReaderOptions,
  type BodyTask,
  type ReadSpans,
  type Refused,
  type NotHere,
} from './body-reader.js';
import type { Context } from './context.js';
import { received } from './sent-error.js';
import { asBuffer, movable, ThreadLostError, Threads } from './threads.js';

/** What takes in bodies of spans. */
export interface BodyDoors {
  readonly postSpans: PostSpans;
  /** Takes OpenTelemetry's spans, over HTTP and gRPC alike. */
  readonly exportTraces: ExportTraces;
}

/** Smaller bodies are read where they came in: two messages cost as much as they do. */
const LEAST_BYTES = 16 * 1024;

/** Has bodies of spans read in threads, unless there are to be none. */
export function openBodyThreads(context: Context, stores: BodyStores, inline: BodyDoors): BodyDoors {
  if (context.config.ingest.threads === 0) return inline;
  const threads = new Threads(threadOptions(context));
  context.closers.push(() => threads.close());
  const { events: observer, overrides } = context;
  const leastBytes = overrides.bodyThreads?.leastBytes ?? LEAST_BYTES;
  return new BodyThreads({ ...stores, inline, threads, observer, leastBytes });
}

/** Where what a thread has read is stored. */
interface BodyStores {
  readonly log: EncodedLog;
  /** Requires that definitions of scores are still what the thread took them for. */
  readonly keepDefinitions: SpanScoresParts['keep'];
  /** The version of a project's masking rules, by which a thread masks; null: nothing is masked. */
  readonly maskingVersion: (projectId: string) => number | null;
}

interface BodyThreadsParts extends BodyStores {
  readonly inline: BodyDoors;
  readonly threads: Threads;
  readonly observer: Pick<Signals, 'spansAccepted' | 'spansRejected' | 'modelsCounted' | 'bodyThreadLost'>;
  /** Smaller bodies are read by this thread. */
  readonly leastBytes: number;
}

/** A body before it is known by which rules it is masked. */
type Unmasked<T extends BodyTask> = T extends BodyTask ? Omit<T, 'masking'> : never;

/** What came of a body that a thread has read. */
type Outcome<Answer> =
  { readonly outcome: 'stored'; readonly answer: Answer; readonly createdAt: readonly Micros[] } | NotHere;

/** Has bodies read in threads, where that pays, and stores what comes of them. Images are kept by this thread alone. */
class BodyThreads implements BodyDoors {
  readonly #parts: BodyThreadsParts;

  constructor(parts: BodyThreadsParts) {
    this.#parts = parts;
  }

  readonly postSpans: PostSpans = async (projectId, body, options) => {
    const { inline, leastBytes } = this.#parts;
    if (body.length < leastBytes) return inline.postSpans(projectId, body, options);
    const { minimal, mayRead, unknown } = options;
    const task = { kind: 'rest' as const, projectId, bytes: movable(body), minimal, mayRead };
    const outcome = await this.#through<RenderedSpans>(task, unknown);
    if (outcome.outcome === 'not here') return inline.postSpans(projectId, asBuffer(outcome.bytes), options);
    return { json: fillIn(outcome.answer, outcome.createdAt), once: true };
  };

  readonly exportTraces: ExportTraces = async (projectId, request) => {
    const { inline, leastBytes } = this.#parts;
    const { bytes, encoding } = request;
    if (bytes.length < leastBytes) return inline.exportTraces(projectId, request);
    const task = { kind: 'otlp' as const, projectId, bytes: movable(bytes), encoding };
    const outcome = await this.#through<PartialSuccess | null>(task, new UnknownNames());
    if (outcome.outcome === 'not here')
      return inline.exportTraces(projectId, { bytes: asBuffer(outcome.bytes), encoding });
    return outcome.answer;
  };

  /** @throws DomainError, also those of the log */
  async #through<Answer>(task: Unmasked<BodyTask>, unknown: UnknownNames): Promise<Outcome<Answer>> {
    const { threads, log } = this.#parts;
    const ask = await threads.take(task.projectId);
    const asked = { ...task, masking: this.#parts.maskingVersion(task.projectId) };
    const reading = async (): Promise<Outcome<Answer>> => {
      const outcome = await ask<BodyOutcome<Answer>>(asked, [task.bytes.buffer as ArrayBuffer]).catch(
        (error: unknown) => {
          throw this.#failed(task, error);
        },
      );
      if (outcome.outcome === 'not here') return outcome;
      for (const name of outcome.unknown) unknown.add(name);
      if (outcome.outcome === 'refused') throw this.#refused(outcome);
      return { outcome: 'stored', answer: outcome.answer, createdAt: await this.#stored(task.projectId, outcome) };
    };
    // Whoever waits for what was accepted waits for spans, too, that have been priced.
    return log.underWay(reading());
  }

  /** @returns when each span was taken in @throws DomainError of the log, or because a definition of scores has changed */
  async #stored(projectId: string, outcome: ReadSpans<unknown>): Promise<readonly Micros[]> {
    const { observer } = this.#parts;
    const { accepted, rejected, models } = outcome.told;
    const { createdAt } = await this.#append(projectId, outcome).catch((error: unknown) => {
      for (const { source, count } of accepted) observer.spansRejected({ source, reason: reasonOf(error), count });
      throw error;
    });
    for (const each of accepted) observer.spansAccepted(each);
    for (const each of rejected) observer.spansRejected(each);
    for (const each of models) observer.modelsCounted(each);
    return createdAt;
  }

  async #append(projectId: string, { writes, definitions }: ReadSpans<unknown>): Promise<WriteReceipt> {
    if (writes === null) return { createdAt: [] };
    this.#parts.keepDefinitions(projectId, definitions, []);
    return this.#parts.log.appendEncoded(withBuffers(writes));
  }

  #refused({ told, error }: Refused): Error {
    for (const rejected of told.rejected) this.#parts.observer.spansRejected(rejected);
    return received(error);
  }

  #failed({ projectId }: Pick<BodyTask, 'projectId'>, error: unknown): unknown {
    if (!(error instanceof ThreadLostError)) return error;
    if (!this.#parts.threads.closed) this.#parts.observer.bodyThreadLost({ project: projectId, error });
    return lost(error);
  }
}

function withBuffers(writes: EncodedWrites): EncodedWrites {
  return { ...writes, tables: writes.tables.map((table) => ({ ...table, bytes: asBuffer(table.bytes) })) };
}

const MEGABYTE = 1024 * 1024;
/**
 * Heap of a thread for each byte of the largest body: twice what the worst of them take, which are full of `{}` or of names. A thread
 * that runs out of it ends alone only where JavaScript runs; in the middle of `JSON.parse`, V8 would end the process.
 */
const HEAP_PER_BYTE = 48;
/** And for the program, with what it keeps. */
const HEAP_MB = 256;

function threadOptions({ config, overrides }: Context) {
  const { maxEncodedBytes, maxTagBytes, threads } = config.ingest;
  const countsModels = config.projectSeries > 0;
  const data: BodyReaderOptions = { dataDir: config.dataDir, maxEncodedBytes, maxTagBytes, countsModels };
  const heapMb = HEAP_MB + (HEAP_PER_BYTE * config.http.maxBodyBytes) / MEGABYTE;
  return {
    what: 'request bodies read',
    module: overrides.bodyThreads?.module ?? new URL('./body-thread.js', import.meta.url),
    count: threads,
    data,
    resourceLimits: { maxOldGenerationSizeMb: overrides.bodyThreads?.heapMb ?? heapMb },
  };
}

/** What a request is told whose thread ended. One that takes too much memory would end the next thread, too. */
function lost(error: ThreadLostError): DomainError {
  return error.outOfMemory
    ? new DomainError('too_large', 'The body needs more memory than one request may use: send smaller batches', {
        cause: error,
      })
    : new DomainError('unavailable', 'The thread reading the body ended. Retry.', {
        retryAfterSeconds: 1,
        cause: error,
      });
}
