import { Type, type Static } from '@sinclair/typebox';
import type { Issue } from '../engine/errors.js';
import { oneOf } from '../engine/schema/parts.js';
import type { Micros } from '../engine/timestamp.js';
import { time } from './parameter.js';

/* The parameters by which a list kept beside spans is answered with figures, and counted. */

/** Longest page of what has its figures. */
export const MAX_WITH_FIGURES = 100;
const DEFAULT_WINDOW: Micros = 7 * 24 * 3600 * 1e6;

export const withFigures = {
  include: Type.Optional(
    oneOf(['figures'], `figures: each item has its figures; \`limit\` may then be ${MAX_WITH_FIGURES}.`),
  ),
  figures_since: Type.Optional(
    time('With `include=figures`: since when figures count, where they do not say otherwise. Default: `7d`.'),
  ),
  count: Type.Boolean({
    default: false,
    description: 'Whether to count all items of the list too, in the header X-Total-Count.',
  }),
};

type Asked = { readonly [Name in 'include' | 'figures_since']?: Static<(typeof withFigures)[Name]> | undefined };

export function checkFigures({ include, figures_since, limit }: Asked & { readonly limit?: number }): Issue[] {
  if (include === undefined)
    return figures_since === undefined
      ? []
      : [{ pointer: '?figures_since', detail: 'must not be given without include=figures' }];
  if (limit === undefined || limit <= MAX_WITH_FIGURES) return [];
  return [{ pointer: '?limit', detail: `must be at most ${MAX_WITH_FIGURES} with include=figures` }];
}

/** Since when figures are asked for; null: they are not. */
export function figuresSince({ include, figures_since }: Asked): Micros | null {
  return include === undefined ? null : (figures_since ?? Date.now() * 1000 - DEFAULT_WINDOW);
}

export const TOTAL_COUNT_HEADERS = { 'X-Total-Count': 'Number of all items; only with `count=true`.' };

/** @param total null: it was not asked for */
export function totalCountHeader(total: number | null): Record<string, string> {
  return total === null ? {} : { 'X-Total-Count': String(total) };
}
