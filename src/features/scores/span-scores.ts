import { DomainError, type Issue } from '../../engine/errors.js';
import { Normalizer } from '../../engine/schema/normalize.js';
import { MAX_SCORE_TEXT } from '../../engine/traces/model/score/schema.js';
import type { Score } from '../../engine/traces/model/score/score.js';
import type { SpanInput } from '../../engine/traces/model/span/schema.js';
import { compile } from '../../engine/validation/validation.js';
import { choiceScore } from './choice.js';
import { refuseNew, type DefinitionStore, type ScoreDefinition } from './definition.js';
import { exactly, signalValue, type GivenValue } from './given-value.js';
import { ScoreInput } from './schema.js';
import { ScoreReader, textOf, type GivenScore } from './score-reader.js';

/** A definition as scores were read by it. */
export type UsedDefinition = Pick<ScoreDefinition, 'name' | 'kind'>;

export interface SpanScoresParts {
  readonly definitions: Pick<DefinitionStore, 'find' | 'count'>;
  /**
   * Takes the definitions by which the scores of a request were read, and those that they make, in the turn of the event loop in which
   * the scores are appended.
   * @throws DomainError `unavailable` when a definition is not what it was
   */
  keep(projectId: string, used: readonly UsedDefinition[], made: readonly ScoreDefinition[]): void;
}

/** What an event of a span says of it; its parts may be anything. */
export interface SpanEvaluation {
  /** Index of the span among those of its request. */
  readonly span: number;
  readonly name: unknown;
  readonly value: unknown;
  /** What the value means, in a word. */
  readonly label: unknown;
  readonly comment: unknown;
}

const scoreInput = compile(ScoreInput);

/** Most scores that the spans of one request bring: small in a body, they take a hundred times as much memory. */
const MAX_BROUGHT = 10_000;

/** The scores that the spans of one request bring. */
export class SpanScores {
  readonly #projectId: string;
  readonly #keep: SpanScoresParts['keep'];
  readonly #reader: ScoreReader;
  readonly #scores: Score[] = [];
  #evaluations = 0;

  constructor(projectId: string, mayRead: boolean, { definitions, keep }: SpanScoresParts) {
    this.#projectId = projectId;
    this.#keep = keep;
    this.#reader = new ScoreReader({
      ...{ projectId, mayRead, userName: () => '' },
      find: (name) => definitions.find(projectId, name),
      refuseNew: (made) => refuseNew(definitions, projectId, made),
    });
  }

  get scores(): readonly Score[] {
    return this.#scores;
  }

  /** Reads the signals and choices of a span. @param normalizer that of the span @throws DomainError `too_large` */
  read(spanId: string, { signals, ab_choices: choices }: SpanInput, normalizer: Normalizer): void {
    for (const [name, said] of Object.entries(signals ?? {})) {
      const whole = typeof said === 'object';
      const { value, type } = whole ? said : { value: said, type: null };
      const at = `signals/${segment(name)}`;
      const pointers = { name: at, value: whole ? `${at}/value` : at };
      this.#add({ name }, spanId, signalValue(textOf(value), type ?? null), normalizer, pointers);
    }
    for (const [index, choice] of (choices ?? []).entries()) {
      const at = `ab_choices/${index}`;
      const pointers = { name: `${at}/choice_name`, value: `${at}/variant_key` };
      this.#add(choiceScore(choice), spanId, exactly(textOf(choice.variant_key)), normalizer, pointers);
    }
  }

  /** Reads an evaluation of a span, which becomes a score unless it breaks a rule. @returns what the first is, else null */
  readEvaluation(spanId: string, { name, value, label, comment }: SpanEvaluation): string | null {
    // Also of those that break a rule: each is read in the turn of the request.
    if (++this.#evaluations > MAX_BROUGHT) return `is beyond the ${MAX_BROUGHT} scores of one request`;
    const score: unknown = {
      ...{ entity_type: 'span', entity_id: spanId, name, value },
      ...(typeof comment === 'string' && { comment: shortened(comment) }),
      ...(typeof label === 'string' && { metadata: { label: shortened(label) } }),
    };
    if (this.#scores.length === MAX_BROUGHT) return `is beyond the ${MAX_BROUGHT} scores of one request`;
    const issues: Issue[] = [];
    if (!scoreInput.accepts(score)) issues.push(...scoreInput.issues(score, '', 1));
    else {
      const read = this.#reader.read(score, signalValue(textOf(score.value), 'numerical'), new Normalizer('', issues));
      if (issues.length === 0) this.#scores.push(read);
    }
    const [issue] = issues;
    return issue === undefined ? null : `${issue.pointer.slice(1)} ${issue.detail}`;
  }

  /** Keeps new definitions. Scores must be appended in the same turn. @throws DomainError `unavailable`: nothing is kept */
  keep(): void {
    if (this.#scores.length > 0) this.#keep(this.#projectId, this.#reader.used, this.#reader.defined);
  }

  #add(
    score: Pick<GivenScore, 'name' | 'metadata'>,
    spanId: string,
    value: GivenValue,
    normalizer: Normalizer,
    pointers: Readonly<Record<'name' | 'value', string>>,
  ): void {
    if (this.#scores.length === MAX_BROUGHT)
      throw new DomainError('too_large', `The spans bring more than ${MAX_BROUGHT} scores: send smaller batches`);
    const flaws = {
      id: (_property: string, id: string) => id,
      fail: (property: string, detail: string) =>
        normalizer.fail(property === 'name' ? pointers.name : pointers.value, detail),
    };
    this.#scores.push(this.#reader.read({ entity_type: 'span', entity_id: spanId, ...score }, value, flaws));
  }
}

/** Keeps definitions in a store. @returns how scores of spans keep theirs */
export function keepIn(definitions: DefinitionStore): SpanScoresParts['keep'] {
  return (projectId, used, made) => {
    const isNew = new Set(made.map(({ name }) => name));
    const missing: string[] = [];
    for (const { name, kind } of used) {
      const there = definitions.find(projectId, name);
      if (there === undefined && isNew.has(name)) missing.push(name);
      else if (there?.kind !== kind) throw changed(name);
    }
    if (missing.length > 0)
      definitions.put(
        projectId,
        made.filter(({ name }) => missing.includes(name)),
      );
  };
}

function shortened(text: string): string {
  return text.length > MAX_SCORE_TEXT ? `${text.slice(0, MAX_SCORE_TEXT - 1)}…` : text;
}

function changed(name: string): DomainError {
  const message = `The definition of the score ${JSON.stringify(name)} has just changed. Retry.`;
  return new DomainError('unavailable', message, { retryAfterSeconds: 1 });
}

/** A name as a segment of a pointer. */
function segment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
