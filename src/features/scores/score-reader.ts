import { MAX_ISSUES, type Issue } from '../../engine/errors.js';
import { namedUuids } from '../../engine/schema/named-uuids.js';
import { metadataIssues } from '../../engine/schema/metadata.js';
import { Normalizer, normalizeText, optionalText } from '../../engine/schema/normalize.js';
import type { Score, ScoreValue } from '../../engine/traces/model/score/score.js';
import { compile, compileClosed, invalid, type Validator } from '../../engine/validation/validation.js';
import { definitionBy, fitted, type ScoreDefinition } from './definition.js';
import { exactly, signalValue, type GivenValue } from './given-value.js';
import { MAX_SCORES, ScoreInput, SignalInput } from './schema.js';

/** Names the ids of scores, which are made from what tells scores apart. */
const idOf = namedUuids('b0f4a5c7-3c1e-4d0a-9a52-6a1c2f6f9d11');

const scoreInput = compileClosed(ScoreInput);
const signalInput = compile(SignalInput);

export interface ReadScores {
  readonly scores: readonly Score[];
  /** Definitions that the scores make. */
  readonly defined: readonly ScoreDefinition[];
}

export interface ReadContext {
  readonly projectId: string;
  /** Whether the sender may know what definitions say; otherwise only that a value does not fit. */
  readonly mayRead: boolean;
  /** The author of scores of people that name none. */
  readonly userName: () => string;
  readonly find: (name: string) => ScoreDefinition | undefined;
  /** Why no further definition can be made, beside so many that the request makes; null: it can. */
  readonly refuseNew: (made: number) => string | null;
}

/**
 * Reads one score, or an array of them, which stand or fall together.
 * @throws DomainError `invalid` with the issues of all elements, at most 100
 */
export function readScores(body: unknown, context: ReadContext): ReadScores {
  return readEach(body, '', scoreInput, context, (input) => [input, exactly(textOf(input.value))]);
}

/** Scores that stand or fall alone: each, or why it is refused. */
export interface EachRead {
  readonly read: readonly (Score | string)[];
  /** Definitions that the scores make; one that is refused makes none. */
  readonly defined: readonly ScoreDefinition[];
}

/** Reads scores that stand or fall alone. */
export function readEachScore(elements: readonly unknown[], context: ReadContext): EachRead {
  const reader = new ScoreReader(context);
  const read = elements.map((element) => {
    const issues: Issue[] = [];
    const made = reader.defined.length;
    if (scoreInput.accepts(element)) {
      const score = reader.read(element, exactly(textOf(element.value)), new Normalizer('', issues));
      if (issues.length === 0) return score;
      reader.forgetBeyond(made);
    } else issues.push(...scoreInput.issues(element, '', 1));
    const [issue] = issues;
    return issue === undefined ? 'is invalid' : `${issue.pointer.slice(1)} ${issue.detail}`;
  });
  return { read, defined: reader.defined };
}

/**
 * Reads one signal, or an array of them, which stand or fall together.
 * @param pointer where they stand in the request
 * @throws DomainError `invalid` with the issues of all elements, at most 100
 */
export function readSignals(body: unknown, pointer: string, context: ReadContext): ReadScores {
  return readEach(body, pointer, signalInput, context, (input) => [
    input,
    signalValue(textOf(input.value), input.signal_type ?? null),
  ]);
}

export const textOf = (value: ScoreValue) => (typeof value === 'string' ? normalizeText(value) : value);

/** What a score is about, and what is said of it beside its value. */
export type GivenScore = Omit<ScoreInput, 'value'>;

function readEach<I>(
  body: unknown,
  at: string,
  validator: Validator<I>,
  context: ReadContext,
  given: (input: I) => [GivenScore, GivenValue],
): ReadScores {
  const elements: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (elements.length > MAX_SCORES) throw invalid([{ pointer: at, detail: `must have at most ${MAX_SCORES} scores` }]);
  const issues: Issue[] = [];
  const reader = new ScoreReader(context);
  const scores = elements.flatMap((element, index) => {
    if (issues.length >= MAX_ISSUES) return [];
    const pointer = Array.isArray(body) ? `${at}/${index}` : at;
    if (validator.accepts(element)) return [reader.read(...given(element), new Normalizer(pointer, issues))];
    issues.push(...validator.issues(element, pointer, MAX_ISSUES - issues.length));
    return [];
  });
  if (issues.length > 0) throw invalid(issues.slice(0, MAX_ISSUES));
  return { scores, defined: reader.defined };
}

/** Reads the scores of one request: by the definitions that are known, and by those that its first values make. */
export class ScoreReader {
  readonly #context: ReadContext;
  readonly #known = new Map<string, ScoreDefinition>();
  readonly #made: ScoreDefinition[] = [];

  constructor(context: ReadContext) {
    this.#context = context;
  }

  /** Definitions that the scores make. */
  get defined(): readonly ScoreDefinition[] {
    return this.#made;
  }

  /** Forgets the definitions that were made beyond so many: what made them counts for nothing. */
  forgetBeyond(count: number): void {
    for (const { name } of this.#made.splice(count)) this.#known.delete(name);
  }

  /** Definitions that the scores fit, also those that they make. */
  get used(): readonly ScoreDefinition[] {
    return [...this.#known.values()];
  }

  /** @param normalizer notes what is wrong with the score, which counts for nothing then */
  read(input: GivenScore, value: GivenValue, normalizer: Pick<Normalizer, 'id' | 'fail'>): Score {
    const { projectId, mayRead, userName } = this.#context;
    const entityId = normalizer.id('entity_id', input.entity_id);
    const name = normalizeText(input.name);
    const source = input.source ?? 'sdk';
    const author = normalizeText(input.author ?? (source === 'human' ? userName() : ''));
    const metadata = input.metadata ?? {};
    for (const { detail } of metadataIssues(metadata)) normalizer.fail('metadata', detail);
    const definition = this.#definition(name, value.first);
    const fit = typeof definition === 'string' ? { rule: definition } : fitted(definition, value.as(definition.kind));
    if ('rule' in fit)
      normalizer.fail(
        typeof definition === 'string' ? 'name' : 'value',
        mayRead ? fit.rule : 'does not fit its definition',
      );
    const key = { entity_type: input.entity_type, entity_id: entityId, name, source, author };
    return {
      id: scoreId(projectId, key),
      ...key,
      kind: typeof definition === 'string' ? 'text' : definition.kind,
      value: 'rule' in fit ? value.first : fit.value,
      comment: optionalText(input.comment),
      metadata,
    };
  }

  /** The definition of a name, or why there can be none. */
  #definition(name: string, first: ScoreValue): ScoreDefinition | string {
    const known = this.#known.get(name) ?? this.#context.find(name);
    if (known !== undefined) {
      this.#known.set(name, known);
      return known;
    }
    const refused = this.#context.refuseNew(this.#made.length);
    if (refused !== null) return refused;
    const made = definitionBy(name, first, Date.now() * 1000);
    this.#known.set(name, made);
    this.#made.push(made);
    return made;
  }
}

/** What tells scores of a project apart. */
type ScoreKey = Pick<Score, 'entity_type' | 'entity_id' | 'name' | 'source' | 'author'>;

function scoreId(projectId: string, { entity_type, entity_id, name, source, author }: ScoreKey): string {
  return idOf(JSON.stringify([projectId, entity_type, entity_id, name, source, author]));
}
