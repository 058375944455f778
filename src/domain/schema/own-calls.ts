/** The tags by which the stored calls of judges and of jobs are known; their values are the ids of these. */
export const JUDGE_TAG = 'spanhouse.judge';
export const CALIBRATION_TAG = 'spanhouse.calibration';
export const OPTIMIZATION_TAG = 'spanhouse.optimization';

/** Tags of the model calls that the server makes itself. Spans with one are never judged, or it would never end. */
export const OWN_CALL_TAGS = [JUDGE_TAG, CALIBRATION_TAG, OPTIMIZATION_TAG] as const;
