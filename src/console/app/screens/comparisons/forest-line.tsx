import type { ComparedMetric, ForestRow } from '../../../model/forest.js';
import { NOTHING } from '../../../model/format.js';

const WIDTH = 200;
const HEIGHT = 20;

interface ForestLineProps {
  /** Absent: there is no difference to be drawn. */
  readonly row: ForestRow | undefined;
  readonly verdict: ComparedMetric['verdict'];
}

/** A line of a forest plot. What it says stands in figures beside it. */
export function ForestLine({ row, verdict }: ForestLineProps) {
  if (row === undefined) return <span class="nothing">{NOTHING}</span>;
  const { at, interval, margin, noise } = row;
  const middle = HEIGHT / 2;
  return (
    <svg class={`forest is-${verdict}`} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {noise !== null && (
        <rect
          class="forest-noise"
          x={noise.from * WIDTH}
          y="3"
          width={(noise.to - noise.from) * WIDTH}
          height={HEIGHT - 6}
        />
      )}
      <line class="forest-axis" x1="0" x2={WIDTH} y1={middle} y2={middle} />
      <line class="forest-zero" x1={WIDTH / 2} x2={WIDTH / 2} y1="0" y2={HEIGHT} />
      {margin !== null && (
        <>
          <rect class="forest-worse" x="0" y="0" width={margin * WIDTH} height={HEIGHT} />
          <line class="forest-margin" x1={margin * WIDTH} x2={margin * WIDTH} y1="0" y2={HEIGHT} />
        </>
      )}
      {interval !== null && (
        <path
          class="forest-interval"
          d={`M${interval.from * WIDTH} ${middle - 4}v8m0-4H${interval.to * WIDTH}m0-4v8`}
        />
      )}
      <circle class="forest-point" cx={at * WIDTH} cy={middle} r="4" />
    </svg>
  );
}
