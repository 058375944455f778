import { setImmediate as nextTurn } from 'node:timers/promises';
import { sessionList, spanList, traceList } from '../../engine/traces/model/list/definitions.js';
import { SCORE_PREFIX, type ListQuery } from '../../engine/traces/model/list/query.js';
import {
  isOfRows,
  MAX_TOGETHER,
  type Answer,
  type Figures,
  type ListStatistics,
  type Measure,
  type WindowFigures,
  type Windows,
} from '../../engine/traces/model/list/statistics.js';
import {
  BESIDE_SPANS,
  comparedFigure,
  shareOf,
  type Condition,
  type Figure,
  type MonitorMeasure,
} from './condition.js';
import type { Measured } from './moments.js';
import type { CountedOpinions, SlotCounts, Slots } from './monitor.js';

export const MONITORED_LISTS = { spans: spanList, traces: traceList, sessions: sessionList } as const;

export interface MeasurerParts {
  readonly statistics: Pick<ListStatistics, 'windows' | 'windowTogether'>;
  readonly opinions: CountedOpinions;
  /** Filters of a list as text. @throws DomainError `invalid` after an upgrade that knows less */
  readonly parse: (list: Measured['list'], query: string) => ListQuery;
}

/** Conditions of a project that are measured together: those of one list, with the same filters and the same window. */
export interface Group extends Measured {
  readonly projectId: string;
  readonly conditions: readonly Condition[];
}

/** The figures of each condition, window by window. */
export interface GroupFigures {
  readonly figures: readonly (readonly Figure[])[];
  /** Whether nothing started in any of the windows, or later: the figures stay the same until the next write. */
  readonly isEmpty: boolean;
}

/** What `:stats` measures for each measure of monitors. */
const NEEDS: Readonly<Record<MonitorMeasure, readonly Measure[]>> = {
  count: [],
  error_count: ['errors'],
  error_rate: ['errors'],
  cost: ['cost'],
  tokens: ['tokens'],
  duration_p50: ['duration'],
  duration_p95: ['duration'],
  duration_p99: ['duration'],
  score_mean: [],
  judge_pass_rate: [],
  feedback_share: [],
};

/** Slots that are counted together: a few milliseconds between two turns of the event loop. */
const SLOTS_AT_ONCE = 1_500;

/** Measures windows for checks and for tests of monitors. */
export class Measurer {
  readonly #parts: MeasurerParts;

  constructor(parts: MeasurerParts) {
    this.#parts = parts;
  }

  /**
   * Measures one window for several groups of a project, in their order. What groups of spans have in common is read once.
   * @throws as {@link measure}
   */
  async measureTogether(groups: readonly Group[], window: Windows, signal?: AbortSignal): Promise<GroupFigures[]> {
    const found = await this.#together(groups, window, signal);
    const measured: GroupFigures[] = [];
    for (const group of groups) measured.push(await this.measure(group, window, signal, found.get(group)));
    return measured;
  }

  /**
   * @param known of the window of spans, where it was read before
   * @throws DomainError `unavailable`; `invalid` for filters that are none any more
   */
  async measure(
    { projectId, conditions, ...measured }: Group,
    windows: Windows,
    signal?: AbortSignal,
    known?: Answer<WindowFigures>,
  ): Promise<GroupFigures> {
    const shifted = conditions.some(isShifted) ? windows.length / windows.step : 0;
    // Those before come first.
    const all = { ...windows, end: windows.end - shifted * windows.step, count: windows.count + shifted };
    const ofSpans = conditions.filter(({ measure }) => !BESIDE_SPANS.includes(measure));
    const found =
      ofSpans.length === 0
        ? null
        : (known ?? (await this.#ofSpans(projectId, { ...measured, conditions: ofSpans }, all, signal)));
    const figures: Figure[][] = [];
    for (const condition of conditions) {
      const values = BESIDE_SPANS.includes(condition.measure)
        ? await this.#opinions(projectId, condition, all, signal)
        : (found?.windows ?? []).map((window) => figureOf(condition, window));
      const at = (index: number) => values[index] ?? NOTHING;
      figures.push(
        Array.from({ length: windows.count }, (_, index) =>
          comparedFigure(condition, at(index + shifted), isShifted(condition) ? at(index) : null),
        ),
      );
    }
    // What is set aside changes later, when it is computed, without a write.
    const isEmpty = found?.isEmpty === true && found.notCurrent.length === 0;
    return { figures, isEmpty: isEmpty && ofSpans.length === conditions.length };
  }

  /** What is read together: groups of spans, by filters that each span can be asked about. */
  async #together(groups: readonly Group[], { end, length }: Windows, signal?: AbortSignal) {
    const found = new Map<Group, Answer<WindowFigures>>();
    const able = groups.filter(
      ({ list, conditions }) =>
        list === 'spans' &&
        !conditions.some((condition) => isShifted(condition) || condition.score !== null) &&
        conditions.some(({ measure }) => !BESIDE_SPANS.includes(measure)),
    );
    const asked = able
      .map((group) => ({ group, query: this.#parts.parse(group.list, group.query) }))
      .filter(({ query }) => isOfRows(query));
    for (let first = 0; asked.length > 1 && first < asked.length; first += MAX_TOGETHER) {
      const some = asked.slice(first, first + MAX_TOGETHER);
      const measures = measuresFor(some.flatMap(({ group }) => group.conditions));
      const queries = some.map(({ query }) => query);
      const projectId = some[0]?.group.projectId ?? '';
      const read = { queries, measures, end, length };
      const answer = await this.#parts.statistics.windowTogether(projectId, read, signal);
      for (const [index, { group }] of some.entries()) {
        const figures = answer.found[index] ?? { windows: [], isEmpty: false };
        found.set(group, { ...figures, notCurrent: answer.notCurrent });
      }
    }
    return found;
  }

  #ofSpans(
    projectId: string,
    { list, query, conditions }: Omit<Group, 'projectId'>,
    windows: Windows,
    signal?: AbortSignal,
  ) {
    const measures = measuresFor(conditions);
    const scores = [...new Set(conditions.flatMap(({ score }) => score ?? []))];
    const objects = this.#parts.parse(list, query);
    return this.#parts.statistics.windows(list, projectId, { objects, measures, scores, windows }, signal);
  }

  async #opinions(projectId: string, condition: Condition, windows: Windows, signal?: AbortSignal): Promise<Figure[]> {
    const { measure, judge_id } = condition;
    const { opinions } = this.#parts;
    const count = (slots: Slots) =>
      measure === 'judge_pass_rate' ? opinions.verdicts(judge_id ?? '', slots) : opinions.feedback(projectId, slots);
    const perWindow = windows.length / windows.step;
    const total = windows.count - 1 + perWindow;
    // A single window is one slot.
    const length = windows.count === 1 ? windows.length : windows.step;
    const slots = { after: windows.end - windows.length, length, count: windows.count === 1 ? 1 : total };
    const sums = await sumsOf(slots, count, signal);
    const width = windows.count === 1 ? 1 : perWindow;
    return Array.from({ length: windows.count }, (_, index) => {
      const [from, to] = [sums[index], sums[index + width]];
      const [yes, all] = [(to?.yes ?? 0) - (from?.yes ?? 0), (to?.count ?? 0) - (from?.count ?? 0)];
      return shareOf(yes, all, measure === 'judge_pass_rate');
    });
  }
}

const measuresFor = (conditions: readonly Condition[]) => [
  ...new Set<Measure>(['count', ...conditions.flatMap(({ measure }) => NEEDS[measure])]),
];

const NOTHING: Figure = { value: null, count: 0, interval: null };

const isShifted = ({ compared_with }: Condition) => compared_with === 'previous_window';

/** What there is before each slot, and behind the last. */
async function sumsOf(
  slots: Slots,
  count: (slots: Slots) => Map<number, SlotCounts>,
  signal: AbortSignal | undefined,
): Promise<SlotCounts[]> {
  let sum: SlotCounts = { count: 0, yes: 0 };
  const sums = [sum];
  for (let first = 0; first < slots.count; first += SLOTS_AT_ONCE) {
    const some = Math.min(SLOTS_AT_ONCE, slots.count - first);
    const counted = count({ ...slots, after: slots.after + first * slots.length, count: some });
    for (let slot = 0; slot < some; slot += 1) {
      const { count: more = 0, yes = 0 } = counted.get(slot) ?? {};
      sum = { count: sum.count + more, yes: sum.yes + yes };
      sums.push(sum);
    }
    await nextTurn();
    signal?.throwIfAborted();
  }
  return sums;
}

/** A figure of what `:stats` says of a window. */
function figureOf({ measure, score }: Condition, { count = 0, ...figures }: Figures): Figure {
  const of = (value: number | null): Figure => ({ value, count, interval: null });
  switch (measure) {
    case 'count':
      return of(count);
    case 'error_count':
      return of(figures.error_count ?? 0);
    case 'error_rate':
      return shareOf(figures.error_count ?? 0, count, false);
    case 'cost':
      return of(figures.cost == null ? null : Number(figures.cost));
    case 'tokens':
      return of(tokensIn(figures.tokens ?? {}));
    case 'duration_p50':
      return of(figures.duration_ms?.p50 ?? null);
    case 'duration_p95':
      return of(figures.duration_ms?.p95 ?? null);
    case 'duration_p99':
      return of(figures.duration_ms?.p99 ?? null);
    default: {
      const scored = figures[`${SCORE_PREFIX}${score ?? ''}`];
      return { value: scored?.mean ?? null, count: scored?.count ?? 0, interval: null };
    }
  }
}

/** Input tokens and output tokens: the other classes are parts of these. */
function tokensIn(tokens: Readonly<Record<string, number | null>>): number | null {
  const known = [tokens['input'], tokens['output']].filter((sum) => sum != null);
  return known.length === 0 ? null : known.reduce((sum, some) => sum + some, 0);
}
