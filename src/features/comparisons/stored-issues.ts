import { Type, type TObject } from '@sinclair/typebox';
import type { Issue } from '../../engine/errors.js';
import { compile } from '../../engine/validation/validation.js';
import { MAX_FOUND, MAX_REQUEST } from './comparison-store.js';
import { ArmTag, ComparisonInput } from './input-schema.js';
import { ComparisonRead } from './schema.js';

const asked = compile(
  Type.Object({
    ...(Type.Pick(ComparisonInput, ['metrics', 'slices']) as TObject).properties,
    ...(Type.Pick(ComparisonRead, ['confidence', 'errors']) as TObject).properties,
    tags: Type.Optional(Type.Object({ candidate: Type.Optional(ArmTag), baseline: Type.Optional(ArmTag) })),
  }),
);
const found = compile(Type.Pick(ComparisonRead, ['because', 'rows', 'left_out', 'metrics', 'spent']));

/** What keeps a stored comparison, which comes from elsewhere, from being shown. */
export function storedIssues(comparison: Readonly<Record<string, unknown>>): Issue[] {
  const large = [
    ...sizeIssues(comparison['request'], '/request', MAX_REQUEST),
    ...sizeIssues(comparison['found'], '/found', MAX_FOUND),
  ];
  if (large.length > 0) return large;
  return [
    ...asked.issues(comparison['request'], '/request'),
    ...found.issues(verdictless(comparison['found']), '/found'),
  ];
}

function sizeIssues(value: unknown, pointer: string, most: number): Issue[] {
  if (Buffer.byteLength(JSON.stringify(value)) <= most) return [];
  return [{ pointer, detail: `must have at most ${most} bytes as JSON` }];
}

/** The verdict is kept beside what was found, too. */
function verdictless(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { verdict: _verdict, ...rest } = value as Readonly<Record<string, unknown>>;
  return rest;
}
