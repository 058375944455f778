import { Type } from '@sinclair/typebox';
import type { Issue } from '../../engine/errors.js';
import { compile } from '../../engine/validation/validation.js';
import { ComparisonInput, ComparisonRead } from './schema.js';

/** Most characters that what a comparison found has as JSON: of 64 metrics with all their slices, categories and moves. */
const MAX_FOUND = 4 * 1024 * 1024;

const request = compile(Type.Pick(ComparisonInput, ['metrics', 'slices']));
const asked = compile(Type.Pick(ComparisonRead, ['confidence', 'errors']));
const found = compile(Type.Pick(ComparisonRead, ['because', 'rows', 'left_out', 'metrics']));

/** What keeps a stored comparison, which comes from elsewhere, from being shown. */
export function storedIssues(comparison: Readonly<Record<string, unknown>>): Issue[] {
  if (JSON.stringify(comparison['found']).length > MAX_FOUND)
    return [{ pointer: '/found', detail: `must have at most ${MAX_FOUND} characters as JSON` }];
  return [
    ...request.issues(comparison['request'], '/request'),
    ...asked.issues(comparison['request'], '/request'),
    ...found.issues(comparison['found'], '/found'),
  ];
}
