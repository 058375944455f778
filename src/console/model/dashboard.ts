import { joinValues } from '../../engine/traces/model/list/comma-values.js';
import { scoreOf } from '../../engine/traces/model/list/columns.js';
import type { DashboardRead } from '../../features/dashboards/schema.js';
import { compact, duration, money } from './format.js';
import { askedWithin } from './list-address.js';
import { fieldLabel, type ListName } from './list-query.js';
import type { TimeRange } from './range.js';
import { partsOf } from './score-chart.js';
import { tokensOf, type FiguresRead, type StatisticsRead } from './statistics.js';

/* What the charts of a dashboard ask for and draw. */

export type Chart = DashboardRead['charts'][number];

/** A figure of statistics. */
export interface ShownFigure {
  readonly label: string;
  readonly format: (value: number | null) => string;
  readonly read: (of: FiguresRead) => number | null;
}

/** A measure as it is shown. */
interface ShownMeasure {
  readonly label: string;
  readonly figures: readonly ShownFigure[];
  /** The one that is drawn of each group. */
  readonly ofGroups: ShownFigure;
  /** Whether the parts of a whole add up, so that bars may stand on each other. */
  readonly addsUp: boolean;
}

/** A chart over time. */
export interface Drawing {
  readonly label: string;
  readonly kind: 'bars' | 'lines';
  readonly format: (value: number | null) => string;
  readonly series: readonly { readonly label: string; readonly look: string; readonly values: (number | null)[] }[];
}

const COUNT: ShownFigure = { label: 'count', format: compact, read: (of) => of.count ?? null };
const ERRORS: ShownFigure = { label: 'errors', format: compact, read: (of) => of.error_count ?? null };
const COST: ShownFigure = { label: 'cost', format: money, read: (of) => of.cost ?? null };
const TOKENS: ShownFigure = { label: 'tokens', format: compact, read: tokensOf };
const tokens = (name: string): ShownFigure => ({
  label: `${name} tokens`,
  format: compact,
  read: (of) => of.tokens?.[name] ?? null,
});
const percentile = (name: 'p50' | 'p95'): ShownFigure => ({
  label: name,
  format: duration,
  read: (of) => of.duration_ms?.[name] ?? null,
});
const [P50, P95] = [percentile('p50'), percentile('p95')];

const one = (label: string, figure: ShownFigure, addsUp: boolean): ShownMeasure => ({
  label,
  figures: [figure],
  ofGroups: figure,
  addsUp,
});

/** How a measure of a list is shown. */
export function shownMeasure(measure: string, list: ListName): ShownMeasure {
  switch (measure) {
    case 'count':
      return one(`Number of ${list}`, COUNT, true);
    case 'errors':
      return one('Errors', ERRORS, true);
    case 'cost':
      return one('Cost', COST, true);
    case 'duration':
      return { label: 'Duration', figures: [P50, P95], ofGroups: P95, addsUp: false };
    case 'tokens':
      return { label: 'Tokens', figures: [tokens('input'), tokens('output')], ofGroups: TOKENS, addsUp: true };
    default: {
      const name = scoreOf(measure) ?? measure;
      const key = `scores.${name}` as const;
      const read = (of: FiguresRead) => of[key]?.mean ?? null;
      return one(`Mean of ${name}`, { label: name, format: compact, read }, false);
    }
  }
}

/** All figures of a chart, each named so that it can be told from the others. */
export function figuresOf({ measures, list }: Pick<Chart, 'measures' | 'list'>): ShownFigure[] {
  return measures.flatMap((measure) => shownMeasure(measure, list).figures);
}

const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
/** As `:stats` takes them. */
const MOST_BUCKETS = 1_000;

/** A length such as `24h` in seconds; null: it is none. */
export function secondsOf(length: string): number | null {
  const [, number = '', unit = ''] = /^(\d+)([smhdw]?)$/.exec(length) ?? [];
  return number === '' ? null : Number(number) * (UNITS[unit] ?? 0);
}

/** What `:stats` is asked for a chart. Buckets that are too short for the time that a reader chose give way. */
export function questionOf(chart: Chart, range: TimeRange, timeZone: string): URLSearchParams {
  const { query, measures, group_by, kind, bucket } = chart;
  const asked = askedWithin(query, range);
  asked.set('measures', joinValues(measures));
  asked.set('time_zone', timeZone);
  if (group_by !== null && kind !== 'number') asked.set('group_by', group_by);
  const length = bucket === null ? null : secondsOf(bucket);
  const time = secondsOf(range.range ?? '');
  if (kind === 'number' || kind === 'table') asked.set('bucket', '3650d');
  else if (bucket !== null && length !== null && time !== null && time / length <= MOST_BUCKETS)
    asked.set('bucket', bucket);
  return asked;
}

/** What is drawn over time: each measure by itself, as each has its own scale. */
export function drawingsOf(chart: Chart, answer: StatisticsRead): Drawing[] {
  const { measures, list, kind, group_by } = chart;
  const isSplit = group_by === null && kind === 'bars' && measures.includes('count') && measures.includes('errors');
  const rest = isSplit ? measures.filter((measure) => measure !== 'count' && measure !== 'errors') : measures;
  const drawn = rest.map((measure): Drawing => {
    const { label, figures, ofGroups, addsUp } = shownMeasure(measure, list);
    const shared = { kind: kind === 'bars' && addsUp ? 'bars' : 'lines' } as const;
    if (group_by === null)
      return {
        ...shared,
        label,
        format: figures[0]?.format ?? compact,
        series: figures.map(({ label: name, read }, index) => ({
          label: name,
          look: measure === 'errors' ? 'error' : figures.length === 1 ? 'count' : String(2 * index + 1),
          values: answer.buckets.map(read),
        })),
      };
    const series = partsOf(answer).map(({ label: name, look, of }) => ({
      label: name,
      look,
      values: of.buckets.map(ofGroups.read),
    }));
    return {
      ...shared,
      label: figures.length > 1 ? `${label} (${ofGroups.label})` : label,
      format: ofGroups.format,
      series,
    };
  });
  return isSplit ? [errorsAmong(list, answer), ...drawn] : drawn;
}

function errorsAmong(list: ListName, { buckets }: StatisticsRead): Drawing {
  const errors = buckets.map(({ error_count = 0 }) => error_count);
  const others = buckets.map(({ count = 0 }, index) => count - (errors[index] ?? 0));
  return {
    label: fieldLabel(list),
    kind: 'bars',
    format: compact,
    series: [
      { label: 'without errors', look: 'count', values: others },
      { label: 'with errors', look: 'error', values: errors },
    ],
  };
}
