import type { ModelUsage } from '../../engine/traces/model/span/pricing.js';
import type { Micros } from '../../engine/timestamp.js';

/** Rates in US dollars per million tokens. */
export interface Rates {
  readonly input_per_million: number;
  readonly output_per_million: number;
  /** Rate of input tokens read from a cache; null: that of other input. */
  readonly cache_read_per_million: number | null;
}

/** A price of a project's own. Names are those of the spans' attributes; case does not matter. */
export interface ModelPrice extends Rates {
  readonly provider: string;
  readonly model: string;
  readonly created_at: Micros;
  readonly updated_at: Micros;
}

const PLACES = 12;
const UNITS = 10n ** BigInt(PLACES);
const MILLION = 1_000_000n;

/** Cost of a call at these rates, in US dollars: calculated in decimals and rounded once, to 1e-12. */
export function costAt(
  rates: Rates,
  usage: Pick<ModelUsage, 'inputTokens' | 'outputTokens' | 'cacheReadTokens'>,
): number {
  const read = units(usage.cacheReadTokens);
  const input = units(usage.inputTokens) - read;
  const product =
    input * units(rates.input_per_million) +
    read * units(rates.cache_read_per_million ?? rates.input_per_million) +
    units(usage.outputTokens) * units(rates.output_per_million);
  // Tokens and rates are in units of 1e-12 each, and one of the two scales stays.
  const divisor = UNITS * MILLION;
  const rounded = (2n * product + divisor) / (2n * divisor);
  return Number(`${rounded}e-${PLACES}`);
}

/** A number as the decimal it was written as, in units of 1e-12. */
function units(amount: number): bigint {
  const written = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(amount));
  if (!written) throw new RangeError(`not a number from 0: ${amount}`);
  const [, whole = '', fraction = '', exponent = '0'] = written;
  const missing = PLACES + Number(exponent) - fraction.length;
  if (missing < 0) return BigInt(amount.toFixed(PLACES).replace('.', ''));
  return BigInt(`${whole}${fraction}${'0'.repeat(missing)}`);
}
