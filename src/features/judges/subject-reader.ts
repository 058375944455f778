import type { Micros } from '../../engine/timestamp.js';
import type { JudgedSpan, SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import type { WholeOutline, WholeReader, WholeShape } from '../../engine/traces/model/judged/whole-reader.js';
import type { EvaluationStore } from './evaluation-store.js';
import type { Judge } from './judge.js';
import type { IdentifyPrompt } from './matching.js';
import type { Run } from './run.js';
import type { RunOutcome } from './run-store.js';
import { filtersOfSessions } from './whole-runs.js';
import { LONGEST_QUIET, MAX_AUTOMATIC, quietOf, shapeOf } from './whole-settings.js';

export interface SubjectReaderParts {
  readonly spans: Pick<SpanReader, 'read'>;
  readonly wholes: Pick<WholeReader, 'readWholes' | 'outlines'>;
  readonly evaluations: Pick<EvaluationStore, 'countOfWhole' | 'newestAutomaticUpto'>;
  readonly identifyPrompt: IdentifyPrompt;
}

/** What a run is about, or how it ends as there is nothing to evaluate, or nothing yet. */
export type Subject = { readonly span: JudgedSpan } | { readonly outcome: RunOutcome };

/** A run about a trace or session. */
interface WholeRun {
  readonly run: Run;
  readonly id: string;
}

/** Spans that arrive later than now did so by a clock that was set back since. */
const MAX_AHEAD: Micros = 60e6;

/** Reads what runs are about: spans, traces and sessions. */
export class SubjectReader {
  readonly #parts: SubjectReaderParts;

  constructor(parts: SubjectReaderParts) {
    this.#parts = parts;
  }

  /** By the id of the run. @param judges those that there are, by id @throws DomainError `unavailable` */
  async read(
    projectId: string,
    runs: readonly Run[],
    judges: ReadonlyMap<string, Judge | undefined>,
  ): Promise<Map<string, Subject>> {
    const found = new Map<string, Subject>();
    const ofSpans = runs.filter(({ subject_id }) => subject_id == null);
    const spans =
      ofSpans.length === 0 ? new Map<string, JudgedSpan>() : await this.#parts.spans.read(projectId, ofSpans);
    for (const run of ofSpans) {
      const span = spans.get(run.span_id);
      // The trace that a result shows may be gone by now.
      const isEmpty = run.pin != null && span?.output === null;
      found.set(run.id, spanOr(run, isEmpty ? undefined : span));
    }
    for (const [id, judge] of judges) {
      const shape = judge && shapeOf(judge);
      const ofJudge = runs.flatMap((run) =>
        run.judge_id === id && run.subject_id != null ? [{ run, id: run.subject_id }] : [],
      );
      if (judge === undefined || shape == null || ofJudge.length === 0) continue;
      for (const [run, subject] of await this.#wholes(judge, shape, ofJudge)) found.set(run, subject);
    }
    return found;
  }

  async #wholes(judge: Judge, shape: WholeShape, runs: readonly WholeRun[]): Promise<Map<string, Subject>> {
    const { wholes, spans } = this.#parts;
    const found = await this.#early(judge, shape, runs);
    const wanted = runs.filter(({ run }) => !found.has(run.id));
    if (wanted.length === 0) return found;
    const read = await wholes.readWholes(judge.project_id, [...new Set(wanted.map(({ id }) => id))], shape);
    // Of an experiment, the result itself stands for its trace: verdicts are found by it.
    const results = wanted.flatMap(({ run }) => (run.pin == null ? [] : [run]));
    const anchors = results.length === 0 ? new Map<string, JudgedSpan>() : await spans.read(judge.project_id, results);
    for (const { run, id } of wanted) {
      const whole = read.get(id);
      const anchor = run.pin == null ? whole : anchors.get(run.span_id);
      const span = whole && anchor && { ...anchor, whole: whole.whole ?? null };
      const later = span?.whole && this.#later(run, judge, span.whole.arrived_at);
      found.set(run.id, later ? { outcome: later } : spanOr(run, span));
    }
    return found;
  }

  /** Runs of new spans for which nothing is to be evaluated, or nothing yet: of those, no texts are read. */
  async #early(judge: Judge, { kind }: WholeShape, runs: readonly WholeRun[]): Promise<Map<string, Subject>> {
    const automatic = runs.filter(({ run }) => run.origin === 'automatic');
    const found = new Map<string, Subject>();
    if (automatic.length === 0) return found;
    const ids = automatic.map(({ id }) => id);
    const asked = filtersOfSessions(judge, this.#parts.identifyPrompt);
    const outlines = await this.#parts.wholes.outlines(judge.project_id, kind, ids, asked ?? null);
    for (const { run, id } of automatic) {
      const outline = outlines.get(id);
      const outcome =
        outline === undefined || !this.#isWanted(judge, outline, asked === null)
          ? ({ kind: 'dropped', run } as const)
          : this.#later(run, judge, outline.arrived_at);
      if (outcome !== null) found.set(run.id, { outcome });
    }
    return found;
  }

  /** Whether the judge is to evaluate it: it matches, or did once, and changed since, and was not evaluated often enough. */
  #isWanted({ id: judgeId }: Judge, outline: WholeOutline, matchesNothing: boolean): boolean {
    const { id, arrived_at, internal, tried, matches } = outline;
    if (internal || tried) return false;
    const { evaluations } = this.#parts;
    const made = evaluations.countOfWhole(judgeId, id, MAX_AUTOMATIC);
    if (made === 0) return !matchesNothing && matches !== false;
    return made < MAX_AUTOMATIC && (evaluations.newestAutomaticUpto(judgeId, id) ?? -1) < arrived_at;
  }

  /** A run of new spans waits until there have been none for a while; null: it need not wait. */
  #later(run: Run, judge: Judge, arrivedAt: Micros): RunOutcome | null {
    const now = Date.now() * 1000;
    if (run.origin !== 'automatic' || arrivedAt > now + MAX_AHEAD) return null;
    const at = Math.min(arrivedAt + quietOf(judge), run.created_at + LONGEST_QUIET);
    return at <= now ? null : { kind: 'postponed', run, at };
  }
}

function spanOr(run: Run, span: JudgedSpan | undefined): Subject {
  return span === undefined ? { outcome: { kind: 'dropped', run } } : { span };
}
