import { ImagesFoundError, NO_IMAGES } from '../features/images/intake.js';
import { SpanIngest, type SpanIngestParts } from '../features/traces/span-ingest.js';
import { Maskers } from '../features/masking/maskers.js';
import { KnownPrices } from '../features/prices/known-prices.js';
import type { SpanScoresParts, UsedDefinition } from '../features/scores/span-scores.js';
import type { Signals } from '../engine/signals/signals.js';
import { createListPrices } from '../engine/traces/model/span/pricing.js';
import { UnknownNames } from '../engine/validation/unknown-names.js';
import type { EncodedWrites } from '../engine/traces/write/encoded-writes.js';
import { EncodingLog } from '../engine/traces/write/encoding-log.js';
import { RowEncoder } from '../engine/traces/write/rows.js';
import { openMetadataReader } from './metadata-reader.js';
import { renderSpans, type RenderedSpans } from '../http/rendered-spans.js';
import { parseJson } from '../http/wire/json.js';
import { createExport } from '../otlp/export.js';
import type { OtlpEncoding, PartialSuccess } from '../otlp/response.js';
import { sent, type SentError } from './sent-error.js';
import { asBuffer } from './threads.js';

/*
 * What becomes of a body of spans before anything of it is stored. The parts that do it are those of the server; here they have
 * a log that only encodes, a connection to SQLite that only reads, and no place for images or new definitions of scores.
 */

/** Where spans are described, and by which limits. */
export interface BodyReaderOptions {
  readonly dataDir: string;
  readonly maxEncodedBytes: number;
  readonly maxTagBytes: number;
  readonly countsModels: boolean;
}

/** The body of one request, and how to read it. */
export type BodyTask = PostedBody | ExportedBody;

interface Body {
  readonly projectId: string;
  readonly bytes: Uint8Array;
  /** The version of the project's masking rules; null: nothing is masked. */
  readonly masking: number | null;
}

export interface PostedBody extends Body {
  readonly kind: 'rest';
  readonly mayRead: boolean;
  readonly minimal: boolean;
}

export interface ExportedBody extends Body {
  readonly kind: 'otlp';
  readonly encoding: OtlpEncoding;
}

/** What there is to tell an observer of spans, once it has come about. */
export interface Told {
  readonly accepted: Parameters<Signals['spansAccepted']>[0][];
  readonly rejected: Parameters<Signals['spansRejected']>[0][];
  readonly models: Parameters<Signals['modelsCounted']>[0][];
}

/** A body whose spans may be stored, and then be answered. */
export interface ReadSpans<Answer> {
  readonly outcome: 'read';
  /** Null: there are no spans. */
  readonly writes: EncodedWrites | null;
  readonly answer: Answer;
  readonly told: Told;
  /** Names of fields that are not known. */
  readonly unknown: readonly string[];
  /** Definitions by which scores were read. */
  readonly definitions: readonly UsedDefinition[];
}

/** A request that is refused. */
export interface Refused {
  readonly outcome: 'refused';
  readonly error: SentError;
  readonly told: Told;
  readonly unknown: readonly string[];
}

/** A body that only the main thread can take, as it came: it has images, or makes definitions of scores. */
export interface NotHere {
  readonly outcome: 'not here';
  readonly bytes: Uint8Array;
}

export type BodyOutcome<Answer> = ReadSpans<Answer> | Refused | NotHere;

/** Opens what reads bodies, one after the other. @throws SqliteError */
export function openBodyReader({ dataDir, maxEncodedBytes, maxTagBytes, countsModels }: BodyReaderOptions) {
  const metadata = openMetadataReader(dataDir);
  const { price } = new KnownPrices(metadata.prices, createListPrices());
  const maskers = new Maskers(metadata.masking);
  const encoder = new RowEncoder();
  return async (task: BodyTask): Promise<BodyOutcome<RenderedSpans | PartialSuccess | null>> => {
    const bytes = asBuffer(task.bytes);
    const log = new EncodingLog(encoder, maxEncodedBytes);
    const told: Told = { accepted: [], rejected: [], models: [] };
    const observer: SpanIngestParts['observer'] = {
      spansAccepted: (accepted) => told.accepted.push(accepted),
      spansRejected: (rejected) => told.rejected.push(rejected),
      modelsCounted: (models) => told.models.push(models),
    };
    const unknown = new UnknownNames();
    const { prompts } = metadata;
    let definitions: readonly UsedDefinition[] = [];
    const scores: SpanScoresParts = {
      definitions: metadata.scoreDefinitions,
      keep(_projectId, used, made) {
        if (made.length > 0) throw new DefinitionMadeError();
        definitions = used.map(({ name, kind }) => ({ name, kind }));
      },
    };
    const masker = (projectId: string) => maskers.at(projectId, task.masking);
    const parts = { log, price, prompts, masker, attachments: NO_IMAGES, scores, maxTagBytes, countsModels, observer };
    const spans = new SpanIngest(parts);
    const exportTraces = createExport({ ingest: spans, observer, maxEncodedBytes, maxTagBytes, parse: parseJson });
    try {
      const answer =
        task.kind === 'otlp'
          ? await exportTraces(task.projectId, { bytes, encoding: task.encoding })
          : renderSpans(await spans.postSpans(task.projectId, parseJson(bytes), { ...task, unknown }));
      return { outcome: 'read', writes: log.take(), answer, told, unknown: unknown.names, definitions };
    } catch (error) {
      if (error instanceof ImagesFoundError || error instanceof DefinitionMadeError)
        return { outcome: 'not here', bytes };
      return { outcome: 'refused', error: sent(error), told, unknown: unknown.names };
    }
  };
}

/** Scores make definitions, which this thread cannot store. */
class DefinitionMadeError extends Error {}
