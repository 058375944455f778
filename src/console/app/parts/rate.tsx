import { kappa, percent } from '../../model/format.js';

interface Range {
  readonly low: number;
  readonly high: number;
}

interface RateProps {
  /** A share from 0 to 1, or κ from −1 to 1; null: not known. */
  readonly of: number | null;
  readonly interval: Range | null;
  readonly kind?: 'share' | 'kappa';
  /** Whether it stands among others to be compared with. */
  readonly wide?: boolean;
  /** What is written instead of the share, where that is the place on another scale. */
  readonly text?: string;
  /** What is said where there is no interval. */
  readonly about?: string;
}

const HEIGHT = 12;

/** A share or κ with its interval of 95 %, as a figure and a bar on its whole scale. */
export function Rate({ of, interval, kind = 'share', wide = false, text, about = 'no interval' }: RateProps) {
  const write = kind === 'share' ? percent : kappa;
  const value = text ?? write(of);
  const low = kind === 'share' ? 0 : -1;
  const width = wide ? 120 : 72;
  const at = (value: number) => ((value - low) / (1 - low)) * width;
  const words = interval === null ? about : `95% CI: ${write(interval.low)} to ${write(interval.high)}`;
  return (
    <span class={`rate${wide ? ' wide' : ''}`} title={of === null ? 'unknown' : `${value}, ${words}`}>
      <span class="num">{value}</span>
      {of !== null && (
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={words}>
          <line class="scale" x1="0" x2={width} y1="6" y2="6" />
          {kind === 'kappa' && <line class="scale" x1={at(0)} x2={at(0)} y1="0" y2={HEIGHT} />}
          {interval !== null && <line class="span" x1={at(interval.low)} x2={at(interval.high)} y1="6" y2="6" />}
          <circle cx={at(of)} cy="6" r="3" />
        </svg>
      )}
    </span>
  );
}
