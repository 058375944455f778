import type { NumberedRecord } from './reader.js';

type Batch = readonly NumberedRecord[];

interface Request {
  readonly batch: Batch;
  /** The spans that it brings. */
  readonly keys: ReadonlySet<string>;
  /** How many records were stored. */
  readonly stored: Promise<number>;
}

/** So many that the server checks records while it commits others, and few enough that its other clients get their turn. */
const AT_ONCE = 4;

/**
 * Sends batches: those of spans several at once, all others one after another, as a record may name one of the batch before.
 * Two versions of a span are never under way at once, since the server would store but one of them, whichever comes
 * first. What became of batches is told in their order.
 */
export class RequestsInOrder {
  readonly #send: (batch: Batch) => Promise<number>;
  readonly #onStored: (batch: Batch, stored: number) => Promise<void>;
  readonly #underWay: Request[] = [];

  constructor(send: (batch: Batch) => Promise<number>, onStored: (batch: Batch, stored: number) => Promise<void>) {
    this.#send = send;
    this.#onStored = onStored;
  }

  /** Resolves when another batch may come. @throws what a request before it failed by */
  async add(batch: Batch): Promise<void> {
    const keys = new Set(batch.flatMap((record) => (record.part === 'spans' ? [keyOf(record)] : [])));
    while (!this.#fits(batch, keys)) await this.#firstEnded();
    const stored = this.#send(batch);
    // Told when it is its turn.
    stored.catch(() => undefined);
    this.#underWay.push({ batch, keys, stored });
  }

  /** Resolves when all are stored. @throws as above */
  async ended(): Promise<void> {
    while (this.#underWay.length > 0) await this.#firstEnded();
  }

  #fits(batch: Batch, keys: ReadonlySet<string>): boolean {
    if (this.#underWay.length === 0) return true;
    const areSpans = (records: Batch) => records[0]?.part === 'spans';
    return (
      this.#underWay.length < AT_ONCE &&
      areSpans(batch) &&
      this.#underWay.every((other) => areSpans(other.batch) && ![...keys].some((key) => other.keys.has(key)))
    );
  }

  async #firstEnded(): Promise<void> {
    const [first] = this.#underWay;
    if (first === undefined) return;
    const stored = await first.stored;
    this.#underWay.shift();
    await this.#onStored(first.batch, stored);
  }
}

/** How a span begins, as it is exported. */
const IDS = /^\{"id":"([0-9a-f-]{36})","trace_id":"([0-9a-f-]{36})",/;
const LONGEST_IDS = 128;

function keyOf({ json }: NumberedRecord): string {
  const [found, id, trace] = IDS.exec(json.toString('latin1', 0, LONGEST_IDS)) ?? [];
  if (found !== undefined) return `${trace ?? ''}/${id ?? ''}`;
  const { trace_id, id: own } = JSON.parse(json.toString()) as { trace_id?: unknown; id?: unknown };
  return `${String(trace_id)}/${String(own)}`;
}
