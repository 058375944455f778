/** The tags by which the stored calls of judges, of jobs and of the playground are known; their values are the ids of these, or of the user. */
export const JUDGE_TAG = 'spanhouse.judge';
export const CALIBRATION_TAG = 'spanhouse.calibration';
export const OPTIMIZATION_TAG = 'spanhouse.optimization';
export const PLAYGROUND_TAG = 'spanhouse.playground';

/** Tags of the model calls that the server makes itself. Spans with one are never judged, or it would never end. */
export const OWN_CALL_TAGS = [JUDGE_TAG, CALIBRATION_TAG, OPTIMIZATION_TAG, PLAYGROUND_TAG] as const;
