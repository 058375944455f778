import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import type { Examples } from './examples.js';
import type { Instruction } from './instruction.js';
import type { Judge } from './judge.js';
import type { Pin } from './pin.js';

/** A pinned version, as a span is judged by it. */
export interface VersionInHand {
  readonly instruction: Instruction;
  readonly examples: Examples;
}

/** Versions of judges that stay what they are. @throws DomainError `unavailable` */
export interface PinnedVersions {
  /** Keeps what the judge is now, with an instruction. Undefined: too many versions are kept. */
  pin(judge: Judge, promptVersionId: string): Promise<Pin | undefined>;
  /** Keeps an instruction that is shown no corrections. */
  pinWithout(judge: Judge, promptVersionId: string): Pin | undefined;
  /** Null: it cannot be had anymore. */
  inHand(judge: Judge, seq: number, span: JudgedSpan): VersionInHand | null;
}

/** Why nothing can be judged by a version anymore. */
export const LOST =
  'This version of the judge is no longer available: its instruction, or a span with one of its corrections, was deleted';
