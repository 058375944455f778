import { DomainError } from '../../engine/errors.js';
import { UUID } from '../../engine/schema/ids.js';
import { inPortions } from '../../engine/work/portions.js';
import type { ExperimentResults, MeasuredResult, ResultQuery } from '../../engine/traces/model/experiment/results.js';
import type { FeedbackStore } from '../feedback/feedback-store.js';
import { callTraceId } from '../judges/call-spans.js';
import type { Judge } from '../judges/judge.js';
import type { JudgeStore } from '../judges/judge-store.js';
import type { Pin, PinStore } from '../judges/pin.js';
import type { DefinitionStore, ScoreDefinition } from '../scores/definition.js';
import { sumOf } from './comparison.js';
import { agreementWith, type Corrections, type MetricJudge } from './judge-agreement.js';
import { pause } from './pause.js';

/** What metrics begin with that are the verdicts of a judge, whose id follows. */
const PREFIX = 'judge:';
/** The metric that is the share of people who liked a result. */
const LIKED = 'feedback:thumbs_up';
/** How often a request checks whether results are still being judged. */
const CHECK_EVERY_MS = 1_000;

type Compared = Readonly<Record<'candidate' | 'baseline', { readonly id: string }>>;
type Results = Pick<ExperimentResults, 'measured' | 'page'>;
/** Traces whose costs are looked up together. */
const TRACES_AT_ONCE = 5_000;

export interface JudgedMetricsParts {
  readonly judges: Pick<JudgeStore, 'find'>;
  readonly pins: Pick<PinStore, 'ofExperiment' | 'verdicts' | 'isQueued'>;
  readonly definitions: Pick<DefinitionStore, 'find'>;
  readonly corrections: Corrections;
  readonly feedback: Pick<FeedbackStore, 'liked'>;
  readonly results: Results & Pick<ExperimentResults, 'outlines' | 'costOf'>;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
}

/**
 * Verdicts of judges, by the version that judged both experiments last, and opinions of people as metrics. Everything is inside
 * the caller's project.
 */
export class JudgedMetrics {
  readonly #parts: JudgedMetricsParts;

  constructor(parts: JudgedMetricsParts) {
    this.#parts = parts;
  }

  /** What the values of a score, of a judge or of people are; undefined: there is none of this name. */
  find(projectId: string, name: string): ScoreDefinition | undefined {
    const { judges, definitions } = this.#parts;
    const id = judgeIdOf(name);
    if (name === LIKED) return OF_PEOPLE;
    if (id === null) return definitions.find(projectId, name);
    const judge = judges.find(projectId, id);
    return judge && definitionOf(name, judge);
  }

  /**
   * Waits until nothing is queued for the versions that judged both, or for a while.
   * @throws DomainError `conflict` where something still is; the signal's reason
   */
  async settled(
    projectId: string,
    compared: Compared,
    names: readonly string[],
    until: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { pins, judges, stopping } = this.#parts;
    const { candidate, baseline } = compared;
    const waiting = () =>
      names.find((name) => {
        const pin = this.#common(projectId, compared, judgeIdOf(name));
        return pin !== undefined && [candidate, baseline].some(({ id }) => pins.isQueued(pin.seq, id));
      });
    while (Date.now() < until && waiting() !== undefined) await pause(CHECK_EVERY_MS, signal, stopping);
    const name = waiting();
    if (name === undefined) return;
    const judge = JSON.stringify(judges.find(projectId, judgeIdOf(name) ?? '')?.name ?? name);
    throw new DomainError(
      'conflict',
      `The judge ${judge} is still evaluating results. Retry, or increase wait_seconds.`,
    );
  }

  /** Why two experiments have no verdicts to compare; null: they have, or no judge is asked for. */
  reasonAgainst(projectId: string, compared: Compared, names: readonly string[]): string | null {
    for (const name of names) {
      const id = judgeIdOf(name);
      if (id === null || this.#common(projectId, compared, id) !== undefined) continue;
      return this.#reason(projectId, compared, id);
    }
    return null;
  }

  /** The judge whose verdicts of both experiments a metric compares; null: it is no judge's. */
  judgeOf(projectId: string, compared: Compared, name: string): MetricJudge | null {
    const { judges, corrections } = this.#parts;
    const id = judgeIdOf(name);
    const pin = this.#common(projectId, compared, id);
    if (id === null || pin === undefined) return null;
    const { judge_version } = pin;
    const known = { id, name: judges.find(projectId, id)?.name ?? id, judge_version };
    return { ...known, ...agreementWith(corrections, id, judge_version) };
  }

  /** The results of two experiments, with verdicts and opinions among their scores. */
  resultsOf(projectId: string, compared: Compared, names: readonly string[]): Results {
    const { results } = this.#parts;
    const found = names.flatMap((name) => this.#valuesOf(projectId, compared, name) ?? []);
    return {
      page: (...asked: [string, ResultQuery, AbortSignal?]) => results.page(...asked),
      async *measured(project, experimentId, scores, signal) {
        const own = scores.filter((name) => name !== LIKED && judgeIdOf(name) === null);
        for await (const portion of results.measured(project, experimentId, own, signal))
          yield await withValues(portion, found, signal);
      },
    };
  }

  /** What the calls cost that made the verdicts, in US dollars; null: there are none, or it is not known. */
  async spent(
    projectId: string,
    compared: Compared,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<number | null> {
    const { pins, results } = this.#parts;
    const used = names.flatMap((name) => this.#common(projectId, compared, judgeIdOf(name)) ?? []);
    if (used.length === 0) return null;
    let spent: number | null = null;
    for (const { id } of [compared.candidate, compared.baseline])
      for await (const portion of results.outlines(projectId, id, signal)) {
        const traces: string[] = [];
        const note = (some: typeof portion) => {
          const ids = some.map(({ id: span }) => span);
          const verdicts = used.flatMap((pin) => pins.verdicts(projectId, pin, ids));
          for (const { evaluation_id: run } of verdicts) if (run !== null) traces.push(callTraceId(run));
        };
        await inPortions(portion, note, signal);
        for (let from = 0; from < traces.length; from += TRACES_AT_ONCE)
          spent = sumOf(spent, await results.costOf(projectId, traces.slice(from, from + TRACES_AT_ONCE), signal));
      }
    return spent;
  }

  /** Values of results that are no scores; undefined: the metric is one, or there are none. */
  #valuesOf(projectId: string, compared: Compared, name: string): MetricValues | undefined {
    const { pins, feedback } = this.#parts;
    if (name === LIKED) return { name, of: (ids) => feedback.liked(projectId, ids) };
    const pin = this.#common(projectId, compared, judgeIdOf(name));
    if (pin === undefined) return undefined;
    return {
      name,
      of: (ids) => pins.verdicts(projectId, pin, ids).map(({ score, passed }) => score ?? passed),
    };
  }

  /** The last version that the candidate was judged by, and the baseline too. */
  #common(projectId: string, { candidate, baseline }: Compared, judgeId: string | null): Pin | undefined {
    if (judgeId === null) return undefined;
    const { pins } = this.#parts;
    const others = new Set(pins.ofExperiment(projectId, baseline.id).map(({ seq }) => seq));
    return pins.ofExperiment(projectId, candidate.id).find((pin) => pin.judge_id === judgeId && others.has(pin.seq));
  }

  #reason(projectId: string, { candidate, baseline }: Compared, id: string): string {
    const { judges, pins } = this.#parts;
    const name = JSON.stringify(judges.find(projectId, id)?.name ?? id);
    const last = (experiment: string) =>
      pins.ofExperiment(projectId, experiment).find(({ judge_id }) => judge_id === id);
    const [first, second] = [last(candidate.id), last(baseline.id)];
    const call = (experiment: string, version: string) =>
      `POST /projects/${projectId}/judges/${id}:run ${JSON.stringify({ experiment_id: experiment, judge_version: version })}`;
    const [usable, missing, what] =
      first !== undefined && first.lost_at === null
        ? [first, baseline, 'baseline']
        : second !== undefined && second.lost_at === null
          ? [second, candidate, 'candidate']
          : [undefined, baseline, 'baseline'];
    const by = (pin: Pin | undefined) => (pin === undefined ? 'not at all' : `by the version ${pin.judge_version}`);
    const judged = `The judge ${name} evaluated the candidate ${by(first)}, the baseline ${by(second)}: verdicts of different versions cannot be compared.`;
    if (usable !== undefined)
      return `${judged} Call ${call(missing.id, usable.judge_version)} to have it evaluate the ${what} by that version.`;
    return `${judged} Call ${call(candidate.id, 'current')} for the candidate, then the same for the baseline with the judge_version of the answer.`;
  }
}

/** Null: the metric is no judge's. */
export function judgeIdOf(name: string): string | null {
  const id = name.startsWith(PREFIX) ? name.slice(PREFIX.length).toLowerCase() : '';
  return UUID.test(id) ? id : null;
}

function definitionOf(name: string, judge: Judge): ScoreDefinition {
  const scored = judge.evaluation_type === 'scored';
  return {
    ...{ name, kind: scored ? 'numeric' : 'boolean', min: scored ? judge.score_min : null },
    ...{ max: scored ? judge.score_max : null, categories: null, direction: 'higher', description: null },
    ...{ created_at: judge.created_at, updated_at: judge.updated_at },
  };
}

const OF_PEOPLE: ScoreDefinition = {
  ...{ name: LIKED, kind: 'numeric', min: 0, max: 1, categories: null, direction: 'higher', description: null },
  ...{ created_at: 0, updated_at: 0 },
};

/** A metric whose values are looked up by the spans of results. */
interface MetricValues {
  readonly name: string;
  /** Values of some spans, in their order; null: it has none. */
  readonly of: (spanIds: readonly string[]) => readonly (number | boolean | null)[];
}

/** Results with further values among their scores, looked up in portions between which others have their turns. */
async function withValues(
  portion: readonly MeasuredResult[],
  metrics: readonly MetricValues[],
  signal?: AbortSignal,
): Promise<readonly MeasuredResult[]> {
  if (metrics.length === 0) return portion;
  const withThem: MeasuredResult[] = [];
  const add = (some: readonly MeasuredResult[]) => {
    const ids = some.map(({ id }) => id);
    const found = metrics.map(({ name, of }) => ({ name, values: of(ids) }));
    for (const [place, result] of some.entries()) {
      const given = found.flatMap(({ name, values }) =>
        values[place] == null ? [] : [[name, values[place]] as const],
      );
      withThem.push({ ...result, scores: { ...result.scores, ...Object.fromEntries(given) } });
    }
  };
  await inPortions(portion, add, signal);
  return withThem;
}
