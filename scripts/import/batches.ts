import { tallyOf } from './spans.js';
import type { PlacedRefusal, Sender } from './sender.js';
import type { SentItems, SentRequest, SentSpan, Step } from './step.js';
import { NOTHING, plus, type Tally } from './tally.js';
import type { ImportProgress } from './import-state.js';

/** Spans of one request, and roughly how many characters of theirs. */
const MAX_SPANS = 500;
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** So many requests that the server checks one while it commits another, and others get their turn. */
const AT_ONCE = 3;

interface UnderWay {
  readonly refused: Promise<readonly PlacedRefusal[]>;
  /** Where an import may go on once this and all before it are stored, and how many of its spans come before that place. */
  readonly progress: ImportProgress | null;
  readonly before: number;
}

export interface BatchListener {
  /** Everything up to here is stored. */
  readonly onStored: (progress: ImportProgress) => Promise<void>;
  readonly onRefused: (refusal: PlacedRefusal) => void;
}

/**
 * Puts what a source says into requests, some of which are under way at once, and counts it. What is noted as stored is
 * exactly what came before a cursor.
 */
export class Batches {
  readonly #sender: Sender | null;
  readonly #listener: BatchListener;
  readonly #underWay: UnderWay[] = [];
  #spans: SentSpan[] = [];
  #characters = 0;
  /** Of all that was said, and of what of it was refused. */
  #said: Tally;
  #refused = NOTHING;
  #cursor: ImportProgress | null = null;
  /** Spans that wait and come before the cursor. */
  #before = 0;

  /** @param sender null: nothing is sent */
  constructor(sender: Sender | null, tally: Tally, listener: BatchListener) {
    this.#sender = sender;
    this.#said = tally;
    this.#listener = listener;
  }

  get tally(): Tally {
    return plus(this.#said, this.#refused, -1);
  }

  async add(step: Extract<Step, { readonly type: 'spans' | 'request' | 'uncount' | 'cursor' }>): Promise<void> {
    switch (step.type) {
      case 'spans':
        for (const span of step.spans) await this.#addSpan(span, step.repeated === true);
        return;
      case 'request':
        return this.#addRequest(step.request);
      case 'uncount':
        this.#said = plus(this.#said, step.tally, -1);
        return;
      case 'cursor':
        this.#cursor = { cursor: step.cursor, tally: this.#said };
        this.#before = this.#spans.length;
    }
  }

  /** Resolves when all is stored. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#settled();
    if (this.#cursor !== null) await this.#noted(this.#cursor);
  }

  async #addSpan(span: SentSpan, repeated: boolean): Promise<void> {
    if (!repeated) this.#said = plus(this.#said, tallyOf(span));
    if (this.#sender === null) return;
    this.#spans.push(span);
    this.#characters += 1000 + (span.input_data?.length ?? 0) + (span.output_data?.length ?? 0);
    if (this.#spans.length >= MAX_SPANS || this.#characters >= MAX_CHARACTERS) await this.#flush();
  }

  async #addRequest(request: SentRequest | SentItems): Promise<void> {
    const tallies = 'items' in request ? request.items.map(({ tally }) => tally) : [request.tally];
    for (const tally of tallies) this.#said = plus(this.#said, tally);
    const sender = this.#sender;
    if (sender === null) return;
    await this.#flush();
    const isAlone = request.alone === true;
    if (isAlone) await this.#settled();
    await this.#start(() => ('items' in request ? sender.items(request) : sender.request(request)), 0);
    if (isAlone) await this.#settled();
  }

  async #settled(): Promise<void> {
    while (this.#underWay.length > 0) await this.#firstEnded();
  }

  async #flush(): Promise<void> {
    const [spans, sender, before] = [this.#spans, this.#sender, this.#before];
    if (spans.length === 0 || sender === null) return;
    [this.#spans, this.#characters, this.#before] = [[], 0, 0];
    await this.#start(() => sender.spans(spans), before);
  }

  async #start(send: () => Promise<readonly PlacedRefusal[]>, before: number): Promise<void> {
    const progress = this.#cursor;
    while (this.#underWay.length >= AT_ONCE) await this.#firstEnded();
    const refused = send();
    // Told when it is its turn.
    refused.catch(() => undefined);
    this.#underWay.push({ refused, progress, before });
  }

  async #firstEnded(): Promise<void> {
    const [first] = this.#underWay;
    if (first === undefined) return;
    const refused = await first.refused;
    this.#underWay.shift();
    const count = (refusals: readonly PlacedRefusal[]) => {
      for (const refusal of refusals) {
        this.#refused = plus(this.#refused, refusal.tally);
        this.#listener.onRefused(refusal);
      }
    };
    const isBefore = ({ index }: PlacedRefusal) => index !== null && index < first.before;
    count(refused.filter(isBefore));
    if (first.progress !== null) await this.#noted(first.progress);
    // What comes behind the cursor is read and refused again by whoever goes on there.
    count(refused.filter((refusal) => !isBefore(refusal)));
  }

  async #noted({ cursor, tally }: ImportProgress): Promise<void> {
    await this.#listener.onStored({ cursor, tally: plus(tally, this.#refused, -1) });
  }
}
