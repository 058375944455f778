import { CONFIDENCE, normalQuantile, zOf } from './intervals.js';

/** How often what is named is to be found. */
const POWER = 0.8;

/**
 * The smallest true difference that so many pairs show in four of five cases; null where nothing varies, which says nothing.
 * Source: N. E. Breslow, N. E. Day, and in this form J. T. Connett, J. A. Smith, R. B. McHugh, Statistics in Medicine 6 (1987)
 * 735–744: of yes and no, the variance of a difference is the share of pairs that differ.
 */
export function detectable(variance: number, count: number, confidence = CONFIDENCE): number | null {
  return variance > 0 && count > 0 ? Math.sqrt((factor(confidence) * variance) / count) : null;
}

/** How many pairs show a difference of that size in four of five cases. */
export function rowsFor(margin: number, variance: number, confidence = CONFIDENCE): number | null {
  return variance > 0 && margin > 0 ? Math.ceil((factor(confidence) * variance) / margin ** 2) : null;
}

const factor = (confidence: number) => (zOf(confidence) + normalQuantile(POWER)) ** 2;
