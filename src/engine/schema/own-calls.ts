/** The tags by which the stored calls of judges, of jobs and of the playground are known; their values are the ids of these, or of the user. */
export const JUDGE_TAG = 'spanhouse.judge';
export const CALIBRATION_TAG = 'spanhouse.calibration';
export const OPTIMIZATION_TAG = 'spanhouse.optimization';
export const PLAYGROUND_TAG = 'spanhouse.playground';

/** What made a call, by its tag. One of a trial or an optimization may have the judge's tag, too. */
const CALLERS = [
  [PLAYGROUND_TAG, 'the playground'],
  [CALIBRATION_TAG, 'a calibration trial'],
  [OPTIMIZATION_TAG, 'an optimization'],
  [JUDGE_TAG, 'a judge'],
] as const;

export type OwnCaller = (typeof CALLERS)[number][1];

/** What made the call that has these tags; null: the server did not make it. */
export function ownCaller(tags: Readonly<Record<string, string>>): OwnCaller | null {
  return CALLERS.find(([tag]) => Object.hasOwn(tags, tag))?.[1] ?? null;
}

/** Tags of the model calls that the server makes itself. Spans with one are never judged, or it would never end. */
export const OWN_CALL_TAGS = [JUDGE_TAG, CALIBRATION_TAG, OPTIMIZATION_TAG, PLAYGROUND_TAG] as const;
