import { LRUCache } from 'lru-cache';
import { NO_EXAMPLES, type Examples } from '../judges/examples.js';
import { instructionIn } from '../judges/instruction.js';
import type { Judge } from '../judges/judge.js';
import { judgeVersion } from '../judges/evaluation.js';
import type { Pin, PinDraft, PinnedCorrection, PinStore } from '../judges/pin.js';
import type { PinnedVersions, VersionInHand } from '../judges/pinned-versions.js';
import type { PromptStore } from '../prompts/prompt-store.js';
import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import type { CorrectionExamples } from './correction-examples.js';
import { ExamplePool } from './example-pool.js';
import { keptExample, readKeptExample } from './kept-example.js';
import { examplesMessage, selectExamples } from './selection.js';
import { examplesId } from './versions.js';

/** Bytes of the pools of corrections that are in memory: some twenty of the largest, or very many of the usual ones. */
const MAX_POOL_BYTES = 256 * 1024 * 1024;
/** About what a pool takes of memory for a character of an example, with the index of its words, and for each example. */
const BYTES_OF_CHARACTER = 2;
const BYTES_OF_EXAMPLE = 1_000;

export interface PinnedExamplesParts {
  readonly pins: Pick<PinStore, 'keep' | 'read' | 'corrections'>;
  readonly prompts: Pick<PromptStore, 'findVersionById'>;
  readonly examples: Pick<CorrectionExamples, 'all'>;
  /** Tokens that the examples of one evaluation may take, estimated. */
  readonly maxTokens: number;
}

/** Pins versions of judges, and gives out what they are: the instruction, and the corrections that they chose from then. */
export class PinnedExamples implements PinnedVersions {
  readonly #parts: PinnedExamplesParts;
  readonly #pools = new LRUCache<number, ExamplePool>({ maxSize: MAX_POOL_BYTES });

  constructor(parts: PinnedExamplesParts) {
    this.#parts = parts;
  }

  /** Undefined: too many are kept. @throws DomainError `unavailable` */
  async pin(judge: Judge, promptVersionId: string): Promise<Pin | undefined> {
    const { revision, entries } = await this.#parts.examples.all(judge);
    return this.#keep(judge, promptVersionId, revision, entries.map(keptExample));
  }

  pinWithout(judge: Judge, promptVersionId: string): Pin | undefined {
    return this.#keep(judge, promptVersionId, 0, []);
  }

  inHand(judge: Judge, seq: number, span: JudgedSpan): VersionInHand | null {
    const { pins, prompts } = this.#parts;
    const pin = pins.read(seq);
    const version = pin && prompts.findVersionById(judge.project_id, pin.prompt_version_id);
    if (pin === undefined || pin.lost_at !== null || version === undefined) {
      this.#pools.delete(seq);
      return null;
    }
    return { instruction: instructionIn(version), examples: this.#examples(pin, span) };
  }

  #keep(judge: Judge, promptVersionId: string, revision: number, corrections: readonly PinnedCorrection[]) {
    const draft: PinDraft = {
      ...{ project_id: judge.project_id, judge_id: judge.id, revision, corrections, created_at: Date.now() * 1000 },
      ...{ prompt_version_id: promptVersionId, judge_version: judgeVersion(promptVersionId, examplesId(revision)) },
    };
    return this.#parts.pins.keep(draft);
  }

  #examples(pin: Pin, span: JudgedSpan): Examples {
    if (pin.revision === 0) return NO_EXAMPLES;
    const chosen = selectExamples(this.#pool(pin), span, this.#parts.maxTokens);
    return {
      id: examplesId(pin.revision),
      messages: chosen.length === 0 ? [] : [{ role: 'user', content: examplesMessage(chosen) }],
      span_ids: chosen.map(({ span_id }) => span_id),
    };
  }

  #pool({ seq, revision }: Pin): ExamplePool {
    const known = this.#pools.get(seq);
    if (known !== undefined) return known;
    const corrections = this.#parts.pins.corrections(seq);
    const pool = new ExamplePool(Math.max(1, corrections.length));
    let size = 1;
    for (const { example } of corrections) {
      const { correction, step, line } = readKeptExample(example);
      pool.add(correction, step, line);
      size += BYTES_OF_EXAMPLE + BYTES_OF_CHARACTER * example.length;
    }
    pool.revision = revision;
    this.#pools.set(seq, pool, { size });
    return pool;
  }
}
