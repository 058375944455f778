/** A tag of this key, with any value but `false`, keeps a trace from retention. */
export const KEEP_TAG = 'keep';
