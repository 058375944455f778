import { v5 as uuidFrom } from 'uuid';
import { DomainError, MAX_ISSUES } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { parseJsonText } from '../../engine/json-text.js';
import type { Window } from '../../engine/schema/page.js';
import type { ExperimentResults, MeasuredResult } from '../../engine/traces/model/experiment/results.js';
import type { ScoreValue } from '../../engine/traces/model/score/score.js';
import { invalid } from '../../engine/validation/validation.js';
import { signalValue } from '../scores/given-value.js';
import { MAX_SCORES } from '../scores/schema.js';
import type { ScoreService } from '../scores/score-service.js';
import type { ScorerInput, ScorerScores } from './eval-schema.js';
import {
  MAX_METRIC_BYTES,
  MAX_METRICS,
  MAX_SCORER_BYTES,
  MAX_SCORERS,
  type Scorer,
  type ScoringStore,
  type StatedMetric,
} from './experiment.js';
import type { ExperimentService } from './experiment-service.js';
import { jsonIssues, MAX_RESULT_SCORES } from './schema.js';
import { isJsonObject } from '../../engine/json-object.js';

/** Results whose scores are removed together. */
const REMOVED_AT_ONCE = 1_000;
/** Names the ids of what scorers found. */
const NAMESPACE = 'd7a5f0c2-51b4-4f6c-8e1d-0a9b7c3e6f21';

export interface ScorerServiceParts {
  readonly experiments: Pick<ExperimentService, 'find'>;
  readonly scoring: ScoringStore;
  readonly scores: Pick<ScoreService, 'post' | 'removeOf'>;
  readonly results: Pick<ExperimentResults, 'measured' | 'outlines'>;
}

interface NamedScore {
  /** Index of the element that it came in. */
  readonly element: number;
  readonly score: {
    readonly entity_type: 'span';
    readonly entity_id: string;
    readonly name: string;
    readonly value: ScoreValue;
    readonly source: 'code';
    readonly author: string;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
}

/** What the Python SDK says of the results of experiments: by programs that score them, and figures that it computes. */
export class ScorerService {
  readonly #parts: ScorerServiceParts;

  constructor(parts: ScorerServiceParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found` */
  list(projectId: string, experimentId: string): Scorer[] {
    this.#parts.experiments.find(projectId, experimentId);
    return this.#parts.scoring.scorers(experimentId);
  }

  /** The scorer with this name and mode, which is made unless it is there. @throws DomainError `not_found`, `conflict` */
  ensure(projectId: string, experimentId: string, input: ScorerInput): Scorer {
    const { name, scoring_mode, code, description, outputs, output_formats } = input;
    const mode = scoring_mode ?? 'row';
    const scorers = this.list(projectId, experimentId);
    const known = scorers.find((scorer) => scorer.name === name && scorer.mode === mode);
    if (known !== undefined) return known;
    const draft = {
      ...{ name, mode, code: code ?? '', description: description ?? '', outputs: outputs ?? [] },
      ...{ output_formats: output_formats ?? {}, created_at: Date.now() * 1000 },
    };
    requireRoom('scorers', scorers, draft);
    return this.#parts.scoring.ensureScorer(experimentId, draft);
  }

  /** @throws DomainError `not_found`, `conflict` */
  setFormats(projectId: string, experimentId: string, id: string, formats: Readonly<Record<string, string>>): Scorer {
    const changed = { ...this.#find(projectId, experimentId, id), output_formats: formats };
    const others = this.list(projectId, experimentId).filter((scorer) => scorer.id !== id);
    requireRoom('scorers', others, changed);
    this.#parts.scoring.setFormats(id, formats);
    return changed;
  }

  /** Removes a scorer with what it found: scores of results, and figures of its name. @throws DomainError `not_found`; those of WriteLog */
  async remove(projectId: string, experimentId: string, id: string): Promise<void> {
    const { scoring, scores, results } = this.#parts;
    const scorer = this.#find(projectId, experimentId, id);
    const by = { source: 'code', author: scorer.name } as const;
    const others = this.list(projectId, experimentId).filter((other) => other.id !== id);
    // Scores say the name of their scorer, which one of another mode may have, too.
    if (!others.some(({ name }) => name === scorer.name))
      for await (const portion of results.outlines(projectId, experimentId)) {
        const spans = portion.map(({ id: span }) => span);
        for (let from = 0; from < spans.length; from += REMOVED_AT_ONCE)
          await scores.removeOf(projectId, spans.slice(from, from + REMOVED_AT_ONCE), by);
      }
    scoring.removeScorer(experimentId, scorer);
  }

  #find(projectId: string, experimentId: string, id: string): Scorer {
    const found = this.list(projectId, experimentId).find((scorer) => scorer.id === id);
    if (found === undefined) throw new DomainError('not_found', 'The experiment has no scorer with this id');
    return found;
  }

  /**
   * Stores what a scorer found as scores of the results' spans.
   * @returns for each element the id of its first score; null: it has none
   * @throws DomainError `not_found`; `invalid` with every issue; those of WriteLog
   */
  async post(
    by: Principal,
    experimentId: string,
    scorerId: string,
    sent: ScorerScores,
  ): Promise<{ readonly id: string | null; readonly eval_result_id: string }[]> {
    const scorer = this.#find(by.project_id, experimentId, scorerId);
    const elements = sent.map((element, index) => scoresOf(element, index, scorer));
    const issues = elements.flatMap((scores, index) =>
      scores.length <= MAX_RESULT_SCORES
        ? []
        : [{ pointer: `/${index}/score_value`, detail: `must have at most ${MAX_RESULT_SCORES} scores` }],
    );
    if (issues.length > 0) throw invalid(issues.slice(0, MAX_ISSUES));
    const named = elements.flat();
    const first = new Map<number, string>();
    for (let from = 0; from < named.length; from += MAX_SCORES) {
      const portion = named.slice(from, from + MAX_SCORES);
      const stored = await this.#store(by, portion);
      for (const [index, id] of stored.entries()) {
        const element = portion[index]?.element ?? -1;
        if (!first.has(element)) first.set(element, id);
      }
    }
    return sent.map(({ eval_result_id }, index) => ({ id: first.get(index) ?? null, eval_result_id }));
  }

  async #store(by: Principal, portion: readonly NamedScore[]): Promise<string[]> {
    try {
      const stored = await this.#parts.scores.post(
        by,
        portion.map(({ score }) => score),
      );
      return stored.map(({ id }) => id);
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error;
      const at = (pointer: string) => portion[Number(pointer.split('/')[1] ?? 0)];
      throw invalid(
        error.issues.map(({ pointer, detail }) => ({
          pointer: `/${at(pointer)?.element ?? 0}/score_value`,
          detail: `${JSON.stringify(at(pointer)?.score.name ?? '')} ${detail}`,
        })),
      );
    }
  }

  /** Results that have scores of a scorer, by row and repetition. @throws DomainError `not_found`, `unavailable` */
  async scored(
    projectId: string,
    experimentId: string,
    scorerId: string,
    { limit, offset }: Window,
    signal?: AbortSignal,
  ): Promise<
    { readonly id: string; readonly eval_result_id: string; readonly score_value: MeasuredResult['scores'] }[]
  > {
    const { name, outputs } = this.#find(projectId, experimentId, scorerId);
    const names = outputs.length === 0 ? [name] : outputs;
    const found: { id: string; eval_result_id: string; score_value: MeasuredResult['scores'] }[] = [];
    let passed = 0;
    for await (const portion of this.#parts.results.measured(projectId, experimentId, names, signal))
      for (const { id, scores } of portion) {
        if (Object.keys(scores).length === 0) continue;
        passed += 1;
        if (passed <= offset) continue;
        found.push({ id: uuidFrom(`${scorerId}/${id}`, NAMESPACE), eval_result_id: id, score_value: scores });
        if (found.length === limit) return found;
      }
    return found;
  }

  /** @throws DomainError `not_found` */
  metrics(projectId: string, experimentId: string): StatedMetric[] {
    this.#parts.experiments.find(projectId, experimentId);
    return this.#parts.scoring.metrics(experimentId);
  }

  /** Keeps figures as a client computed them. @throws DomainError `not_found`, `invalid`, `conflict` */
  keep(projectId: string, experimentId: string, stated: Omit<StatedMetric, 'created_at'>): StatedMetric {
    this.#parts.experiments.find(projectId, experimentId);
    const issues = jsonIssues({ results: stated.results });
    if (issues.length > 0) throw invalid(issues);
    const metric = { ...stated, created_at: Date.now() * 1000 };
    const others = this.#parts.scoring
      .metrics(experimentId)
      .filter(
        ({ scope, name, repetition }) =>
          scope !== stated.scope || name !== stated.name || repetition !== stated.repetition,
      );
    requireRoom('metrics', others, metric);
    this.#parts.scoring.putMetric(experimentId, metric);
    return metric;
  }
}

const MOST = {
  scorers: { count: MAX_SCORERS, bytes: MAX_SCORER_BYTES },
  metrics: { count: MAX_METRICS, bytes: MAX_METRIC_BYTES },
} as const;

/** @throws DomainError `conflict` where an experiment cannot keep one more beside others */
function requireRoom(what: keyof typeof MOST, others: readonly object[], added: object): void {
  const { count, bytes } = MOST[what];
  if (others.length >= count) throw new DomainError('conflict', `An experiment can have at most ${count} ${what}`);
  if (Buffer.byteLength(JSON.stringify([...others, added])) > bytes)
    throw new DomainError('conflict', `The ${what} of an experiment can have at most ${bytes} bytes as JSON together`);
}

function scoresOf(element: ScorerScores[number], index: number, scorer: Scorer): NamedScore[] {
  const { eval_result_id, trace_id } = element;
  return Object.entries(valuesOf(element, scorer.name)).flatMap(([name, said]) => {
    const value = scoreValue(said);
    if (value === null) return [];
    const metadata = trace_id == null ? {} : { metadata: { trace_id } };
    const about = { entity_type: 'span', entity_id: eval_result_id, source: 'code', author: scorer.name } as const;
    return [{ element: index, score: { ...about, name, value, ...metadata } }];
  });
}

/** What is said, by name. */
function valuesOf({ score_value, score_type }: ScorerScores[number], name: string): Readonly<Record<string, unknown>> {
  const said = score_type === 'text' ? undefined : pythonJson(score_value);
  if (said === undefined)
    return { [name]: score_value === 'None' ? null : signalValue(score_value, 'numerical').first };
  return isJsonObject(said) ? said : { [name]: said };
}

/** A string may lack its end: no match from a quote fails, so that each text is read once. */
const STRING_OR_NO_NUMBER = /("(?:[^"\\]|\\.)*"?)|-?Infinity|NaN/g;

/** JSON as Python writes it, in which numbers that are none count as nothing. @returns undefined: it is no JSON */
function pythonJson(text: string): unknown {
  const plain = parsed(text);
  if (plain !== undefined) return plain;
  return parsed(text.replace(STRING_OR_NO_NUMBER, (_match, string?: string) => string ?? 'null'));
}

function parsed(json: string): unknown {
  try {
    return parseJsonText(json);
  } catch {
    return undefined;
  }
}

/** @returns null: nothing is said */
function scoreValue(said: unknown): ScoreValue | null {
  if (said === null || said === undefined || said === '') return null;
  if (typeof said === 'number' || typeof said === 'boolean' || typeof said === 'string') return said;
  return JSON.stringify(said);
}
