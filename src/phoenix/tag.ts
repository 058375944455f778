/** The group of calls that clients of Phoenix make. */
export const TAG = 'Phoenix';

/** Where they are: clients append their paths to whatever path they are given, and some of these paths are taken by other calls. */
export const BASE = '/phoenix';
