/** The group of calls that clients of LangSmith make. */
export const TAG = 'LangSmith';

/** Where they are: clients append their paths to whatever path they are given. */
export const BASE = '/langsmith';
