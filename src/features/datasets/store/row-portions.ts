/** Rows that one transaction removes: a few milliseconds of work. */
export const AT_ONCE = 500;
/** The same of rows and contents that are overwritten as they go: each may have a megabyte. */
export const TEXTS_AT_ONCE = 20;
