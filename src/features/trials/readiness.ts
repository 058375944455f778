import { Type, type Static } from '@sinclair/typebox';
import { count } from '../../engine/schema/parts.js';

const half = (description: string) =>
  Type.Object({ needed: count('Required number.'), have: count('Available number.') }, { description });

/** Whether something can be tried with the feedback that there is. @param of the two halves, in words */
export const readinessFields = (of: { readonly training: string; readonly held_out: string }) => ({
  ready: Type.Boolean({ description: 'Whether it can run now.' }),
  training: half(of.training),
  held_out: half(of.held_out),
  next: Type.String({ description: 'What to do next.' }),
});

type ReadinessFields = ReturnType<typeof readinessFields>;

/** One half of the feedback: how many completions or spans it needs, and has. */
type Half = Static<ReadinessFields['training']>;

export interface Halves {
  /** The half that is learned from. */
  readonly training: Half;
  /** The half that is measured by. */
  readonly held_out: Half;
}

export interface Readiness extends Halves {
  readonly ready: boolean;
  /** What to do next, in words. */
  readonly next: string;
}

/** @param obstacle what to do first, or why it cannot be run; null: nothing is in the way */
export function readinessOf(halves: Halves, obstacle: string | null, next: string): Readiness {
  return { ready: obstacle === null, ...halves, next: obstacle ?? next };
}

export function isEnough({ training, held_out }: Halves): boolean {
  return [training, held_out].every(({ needed, have }) => have >= needed);
}
