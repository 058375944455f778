/** Why there is no verdict, in words that say what to do. */
export class CiError extends Error {}
