import type { ScoreInput } from '../../src/features/scores/schema.js';
import type { ScoreKind, ScoreSource } from '../../src/engine/traces/model/score/score.js';
import type { NotTaken, SentItem, Step } from './step.js';

const MAX_SCORES = 500;

/** A score with the time that it has where it comes from. */
export interface DatedScore {
  /** What to call it where it is refused. */
  readonly what: string;
  readonly score: Pick<ScoreInput, 'entity_type' | 'entity_id' | 'name' | 'value' | 'comment' | 'metadata'>;
  readonly kind: ScoreKind;
  readonly source: ScoreSource;
  readonly author: string | null;
  readonly at: string;
}

/** Scores that are sent together, with their times; what values those of a name have is said before. */
export class ScoreBatch {
  readonly #projectId: string;
  readonly #defined = new Set<string>();
  #definitions: SentItem[] = [];
  #scores: SentItem[] = [];

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  /** @param score or why there is none */
  *add(score: DatedScore | NotTaken): Iterable<Step> {
    if ('why' in score) yield { type: 'left', left: score };
    else yield* this.#add(score);
  }

  *#add({ what, score, kind, source, author, at }: DatedScore): Iterable<Step> {
    this.#define(score.name, kind, at);
    const record = { ...score, source, created_at: at, ...(author !== null && { author }) };
    this.#scores.push({ value: record, name: what, tally: { scores: 1 } });
    if (this.#scores.length >= MAX_SCORES) yield* this.steps();
  }

  /** What waits. */
  *steps(): Iterable<Step> {
    const at = `/projects/${this.#projectId}/import`;
    const parts = [
      { path: `${at}/score_definitions`, items: this.#definitions, alone: true },
      { path: `${at}/scores`, items: this.#scores },
    ];
    [this.#definitions, this.#scores] = [[], []];
    for (const request of parts) if (request.items.length > 0) yield { type: 'request', request };
  }

  #define(name: string, kind: ScoreKind, at: string): void {
    if (this.#defined.has(name)) return;
    this.#defined.add(name);
    const value = {
      ...{ name, kind, min: null, max: null, categories: null, direction: null, description: null },
      ...{ created_at: at, updated_at: at },
    };
    this.#definitions.push({ value, name: `what scores ${name} are`, tally: {} });
  }
}
