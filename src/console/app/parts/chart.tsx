import { useEffect, useRef, useState } from 'preact/hooks';
import { bucketAt, heightOf, labelled, linePath, stacked, ticks, type Axis } from '../../model/chart.js';
import { duration } from '../../model/format.js';
import { zoneName, zoneNames } from '../../model/time.js';
import { bucketEnd, isShownTwice } from '../../model/zoned-time.js';
import { zone } from '../state/preferences.js';

export interface Series {
  readonly label: string;
  /** One value per bucket; null: nothing is known of it. */
  readonly values: readonly (number | null)[];
  /** Which of the chart's colors: `count`, `error`, `1` to `8`. */
  readonly look: string;
}

interface TimeChartProps {
  /** What it shows, such as `Traces and errors`. */
  readonly label: string;
  /** Start of each bucket, ISO 8601. */
  readonly starts: readonly string[];
  readonly bucketSeconds: number;
  readonly series: readonly Series[];
  /** Whether something else beside it says so, too. */
  readonly isTitled?: boolean;
  /** Bars stand on each other, lines beside. */
  readonly kind: 'bars' | 'lines';
  readonly format: (value: number | null) => string;
  readonly height?: number;
  /** What happens when buckets are chosen: with the pointer drawn over them, or with the arrow keys and Enter. */
  readonly onRange?: (from: string, to: string) => void;
}

const AXIS = 48;
const BELOW = 18;

/** Figures over time. Read by eye, by arrow keys, or as a table. */
export function TimeChart(props: TimeChartProps) {
  const { label, starts, bucketSeconds, series, kind, format, height = 96, onRange } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box) - AXIS;
  const [span, setSpan] = useState<readonly [from: number, to: number] | null>(null);
  const shown = series.flatMap(({ values }) => values.map((value) => value ?? 0));
  const largest =
    kind === 'bars'
      ? Math.max(
          0,
          ...stacked(series.map(({ values }) => values.map((value) => value ?? 0))).map(
            (parts) => parts.at(-1)?.to ?? 0,
          ),
        )
      : Math.max(0, ...shown);
  const counted = series.every(({ values }) => values.every((value) => Number.isInteger(value ?? 0)));
  const unit = format === duration ? unitOf(largest) : 1;
  const least = kind === 'bars' ? 0 : Math.min(0, ...shown);
  const { at, bottom, top } = ticks(largest / unit, counted || unit > 1, least / unit);
  const axis = { bottom: bottom * unit, top: top * unit };
  const zones = zoneNames(zone.value, moment(starts[0]), moment(starts.at(-1)));
  const timeOf = (bucket: number) => bucketLabel(starts[bucket], bucketSeconds, zones.includes('/'));
  const [from, to] = span === null ? [0, 0] : [Math.min(...span), Math.max(...span)];
  const reading = span === null ? '' : readingOf(props, from, to, timeOf);
  const choose = () => {
    const first = starts[from];
    if (span === null || onRange === undefined || first === undefined) return;
    // Bounds are inclusive, and times have microseconds: the last one before the next bucket.
    const end = new Date(bucketEnd(starts, to, bucketSeconds, zone.value) - 1).toISOString();
    onRange(first, end.replace('Z', '999Z'));
    setSpan(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const [start, end] = span ?? [-1, -1];
    const next = { ArrowRight: end + 1, ArrowLeft: end - 1, Home: 0, End: starts.length - 1 }[event.key];
    if (next !== undefined) {
      const moved = Math.max(0, Math.min(starts.length - 1, next));
      setSpan(event.shiftKey && span !== null ? [start, moved] : [moved, moved]);
    } else if (event.key === 'Enter') choose();
    else if (event.key === 'Escape' && span !== null) setSpan(null);
    else return;
    event.preventDefault();
  };
  const pointed = (event: PointerEvent) => {
    const left = box.current?.getBoundingClientRect().left ?? 0;
    return bucketAt(event.clientX - left - AXIS, width, starts.length);
  };
  return (
    <figure class="chart" ref={box}>
      <h2 class={props.isTitled === true ? 'unseen' : 'chart-title'}>{label}</h2>
      <div
        role="slider"
        tabIndex={0}
        aria-label={`${label}, by ${bucketName(bucketSeconds)}, times in ${zones}`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, starts.length - 1)}
        aria-valuenow={to}
        aria-valuetext={reading === '' ? 'Select a time with the arrow keys' : reading}
        onKeyDown={onKeyDown}
        onBlur={() => setSpan(null)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setSpan([pointed(event), pointed(event)]);
        }}
        onPointerMove={(event) => {
          const bucket = pointed(event);
          setSpan(event.buttons === 1 && span !== null ? [span[0], bucket] : [bucket, bucket]);
        }}
        onPointerLeave={() => setSpan(null)}
        onPointerUp={choose}
      >
        <svg height={height + BELOW} aria-hidden="true">
          <g transform={`translate(${AXIS} 0)`}>
            {at.map((value) => (
              <g key={value} transform={`translate(0 ${heightOf(value * unit, axis, height)})`}>
                <line class="grid" x2={width} />
                <text x="-6" y="4" text-anchor="end">
                  {format(value * unit).replace(/ 00 [sm]$/, '')}
                </text>
              </g>
            ))}
            {span !== null && (
              <rect
                class="chosen"
                x={(from / starts.length) * width}
                width={((to - from + 1) / starts.length) * width}
                height={height}
              />
            )}
            {kind === 'bars' ? (
              <Bars series={series} axis={axis} width={width} height={height} />
            ) : (
              <Lines series={series} axis={axis} width={width} height={height} />
            )}
            {labelled(starts.length, width, 84).map((bucket) => (
              <text key={bucket} x={((bucket + 0.5) / starts.length) * width} y={height + 14} text-anchor="middle">
                {timeOf(bucket)}
              </text>
            ))}
          </g>
        </svg>
      </div>
      {reading !== '' && <p class="chart-reading small">{reading}</p>}
      <figcaption class="line small">
        {series.map(({ label: name, look }) => (
          <span key={name} class="line">
            <i class={`swatch look-${look}`} /> {name}
          </span>
        ))}
      </figcaption>
      <Table {...props} timeOf={timeOf} />
    </figure>
  );
}

/** What an axis of milliseconds is divided by, so that its figures are whole minutes or hours where it is long. */
function unitOf(largest: number): number {
  return largest < 120_000 ? 1 : largest < 7_200_000 ? 60_000 : 3_600_000;
}

interface Drawn {
  readonly series: readonly Series[];
  readonly axis: Axis;
  readonly width: number;
  readonly height: number;
}

function Bars({ series, axis, width, height }: Drawn) {
  const parts = stacked(series.map(({ values }) => values.map((value) => value ?? 0)));
  const step = width / Math.max(1, parts.length);
  const gap = step > 4 ? 1 : 0;
  return (
    <>
      {parts.map((bucket, index) =>
        bucket.map(({ from, to }, which) =>
          to === from ? null : (
            <rect
              key={`${index}-${which}`}
              class={`look-${series[which]?.look ?? ''}`}
              x={index * step}
              width={Math.max(1, step - gap)}
              y={heightOf(to, axis, height)}
              height={Math.max(1, ((to - from) / axis.top) * height)}
            />
          ),
        ),
      )}
    </>
  );
}

function Lines({ series, axis, width, height }: Drawn) {
  return (
    <>
      {series.map(({ label, look, values }) => (
        <path key={label} class={`line-of look-${look}`} d={linePath(values, axis, width, height)} />
      ))}
    </>
  );
}

/** The same figures, for those who do not see them. */
function Table({
  label,
  starts,
  series,
  format,
  timeOf,
}: TimeChartProps & { readonly timeOf: (bucket: number) => string }) {
  return (
    <details class="small">
      <summary>View as table</summary>
      <div class="table-box chart-table" role="region" aria-label={`${label} as a table`} tabIndex={0}>
        <table class="table">
          <caption class="unseen">{label}</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              {series.map((one) => (
                <th key={one.label} scope="col" class="num">
                  {one.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {starts.map((start, bucket) => (
              <tr key={start}>
                <td>{timeOf(bucket)}</td>
                {series.map((one) => (
                  <td key={one.label} class="num">
                    {format(one.values[bucket] ?? null)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function readingOf(
  { series, format }: TimeChartProps,
  from: number,
  to: number,
  timeOf: (bucket: number) => string,
): string {
  const when = from === to ? timeOf(from) : `${timeOf(from)} – ${timeOf(to)}`;
  if (from !== to) return `${when}: press Enter or release to zoom in`;
  return `${when}: ${series.map(({ label, values }) => `${label} ${format(values[from] ?? null)}`).join(', ')}`;
}

const moment = (start: string | undefined) => (start === undefined ? Date.now() : Date.parse(start));

/** What clocks show when a bucket begins; with the zone's name where they show it twice, as they may where they change. */
function bucketLabel(start: string | undefined, seconds: number, clocksChange: boolean): string {
  if (start === undefined) return '';
  const options: Intl.DateTimeFormatOptions =
    seconds >= 86_400
      ? { month: 'short', day: 'numeric' }
      : seconds >= 3600
        ? { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
        : { hour: '2-digit', minute: '2-digit', ...(seconds < 60 && { second: '2-digit' }), hourCycle: 'h23' };
  const label = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone.value }).format(new Date(start));
  if (!clocksChange || seconds >= 86_400 || !isShownTwice(Date.parse(start), zone.value)) return label;
  return `${label} ${zoneName(zone.value, Date.parse(start))}`;
}

function bucketName(seconds: number): string {
  for (const [unit, size] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const)
    if (seconds >= size && seconds % size === 0) return seconds === size ? unit : `${seconds / size} ${unit}s`;
  return `${seconds} seconds`;
}

function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const { current } = element;
    if (current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(160, entry?.contentRect.width ?? 640)));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return width;
}
