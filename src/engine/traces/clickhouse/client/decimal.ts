/** Decimals of money. */
const PLACES = 12;

/**
 * A number as the decimal it was written as, in units of 1e-12: a tenth is a tenth, not the binary fraction next to it.
 * Decimals beyond the twelfth are rounded.
 */
export function decimalUnits(amount: number): bigint {
  const written = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(amount));
  if (!written) throw new RangeError(`not a finite number: ${amount}`);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = written;
  const missing = PLACES + Number(exponent) - fraction.length;
  if (missing < 0) return BigInt(amount.toFixed(PLACES).replace('.', ''));
  return BigInt(`${sign}${whole}${fraction}${'0'.repeat(missing)}`);
}

/** A number as the decimal it was written as, as a text with twelve decimals. */
export function decimalText(amount: number): string {
  const units = decimalUnits(amount);
  const digits = String(units < 0n ? -units : units).padStart(PLACES + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}

/** A decimal as ClickHouse writes it, in units of 1e-12. */
export function unitsOf(text: string): bigint {
  const [, sign = '', whole = '0', digits = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const units = BigInt(whole + digits.padEnd(PLACES, '0'));
  return sign === '-' ? -units : units;
}

/** The same the other way. */
export function textOf(units: bigint): string {
  const digits = String(units < 0n ? -units : units).padStart(PLACES + 1, '0');
  const rest = digits.slice(-PLACES).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -PLACES)}${rest === '' ? '' : `.${rest}`}`;
}
