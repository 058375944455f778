/* Money is counted in whole 1e-12 dollars, time in whole microseconds. */

export function sum(amounts: readonly bigint[]): bigint | null {
  return amounts.length === 0 ? null : amounts.reduce((total, amount) => total + amount, 0n);
}

/** Milliseconds, summed in whole nanoseconds. */
export function total(durations: readonly number[]): number {
  const nanos = durations.reduce((all, duration) => all + decimal(duration, 6), 0n);
  return Number(nanos) / 1e6;
}

export function picodollars(cost: number): bigint {
  return decimal(cost, 12);
}

/** Money as a decimal text without trailing zeros. */
export function money(amount: bigint | null): string | null {
  if (amount === null) return null;
  const digits = String(amount).padStart(13, '0');
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '');
}

/** A number as it is written in JSON, in whole units of 10^-places; histories send no finer ones. */
export function decimal(value: number | string, places: number): bigint {
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/i.exec(String(value));
  if (!match) throw new Error(`not a decimal number: ${value}`);
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const shift = places + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  if (digits % 10n ** BigInt(-shift) !== 0n) throw new Error(`finer than 10^-${places}: ${value}`);
  return digits / 10n ** BigInt(-shift);
}

/** Histories write their times as `iso` does. */
export function micros(text: string): number {
  return Date.parse(`${text.slice(0, 19)}Z`) * 1000 + Number(text.slice(20, 26));
}

export function iso(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(micros - seconds * 1e6).padStart(6, '0')}Z`;
}
