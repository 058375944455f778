/** How figures are written. Null is “–”, never 0; what is shortened here is shown in full in a tooltip, and when copied. */
export const NOTHING = '–';

const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });
const PLAIN = new Intl.NumberFormat('en-US', { maximumFractionDigits: 12 });

type Maybe<T> = T | null | undefined;

export function count(value: Maybe<number>): string {
  return value === null || value === undefined ? NOTHING : COUNT.format(value);
}

/** Such as `1.23M`: for axes and tight columns. */
export function compact(value: Maybe<number>): string {
  if (value === null || value === undefined) return NOTHING;
  return Math.abs(value) < 10_000 ? PLAIN.format(Number(value.toPrecision(4))) : COMPACT.format(value);
}

/** The value of a score: of numbers the first digits. */
export function scoreText(value: number | boolean | string): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'number' ? compact(value) : value;
}

/** A hundred-thousandth of a dollar: what is less is shown as that, as longer figures fill no column of a table. */
const LEAST_SHOWN = 0.00001;

/** US dollars: cents where there are dollars, four digits behind the point where there are cents, else two that matter. */
export function money(value: Maybe<number>): string {
  if (value === null || value === undefined) return NOTHING;
  if (value === 0) return '$0';
  const size = Math.abs(value);
  if (size < LEAST_SHOWN) return `${value < 0 ? '>−' : '<'}$0.00001`;
  const digits =
    size >= 0.01
      ? { minimumFractionDigits: 2, maximumFractionDigits: size >= 1 ? 2 : 4 }
      : { maximumSignificantDigits: 2 };
  return `${value < 0 ? '−' : ''}$${size.toLocaleString('en-US', digits)}`;
}

export function moneyInFull(value: Maybe<number>): string {
  return value === null || value === undefined ? 'unknown' : `$${PLAIN.format(value)}`;
}

/** @param ms milliseconds */
export function duration(ms: Maybe<number>): string {
  if (ms === null || ms === undefined) return NOTHING;
  if (ms < 1) return ms === 0 ? '0 ms' : `${Number((ms * 1000).toPrecision(3))} µs`;
  if (ms < 999.5) return `${Number(ms.toPrecision(3))} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  return hours > 0 ? `${hours} h ${two(minutes)} m` : `${minutes} m ${two(whole % 60)} s`;
}

export function bytes(value: Maybe<number>): string {
  if (value === null || value === undefined) return NOTHING;
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return `${Number((value / 1000 ** power).toPrecision(3))} ${units[power] ?? ''}`;
}

/** @param share 0 to 1 */
export function percent(share: Maybe<number>): string {
  if (share === null || share === undefined) return NOTHING;
  const value = share * 100;
  return `${Number(value.toFixed(value !== 0 && Math.abs(value) < 10 ? 1 : 0))}%`;
}

/** Cohen's κ to two digits. */
export function kappa(value: number | null): string {
  return value === null ? NOTHING : value.toFixed(2).replace('-', '−');
}

/** `one span`, `1,234 spans`. */
export function counted(value: number, singular: string, plural = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : plural}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
