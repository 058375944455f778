/** Why an import cannot begin or go on, in words that say what to do. */
export class ImportError extends Error {}
