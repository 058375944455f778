const ID = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** The name of a backup: its moment, to the second. @param time in ISO 8601, as UTC */
export function backupId(time: string): string {
  return `${time.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** The moment that the name of a backup says, in milliseconds; null: it says none. */
export function momentOf(id: string): number | null {
  const at = ID.test(id) ? Date.parse(id.replace(ID, '$1-$2-$3T$4:$5:$6Z')) : NaN;
  return Number.isNaN(at) ? null : at;
}

/** Whether a backup is named after a moment that is still to come: the clock is wrong, or was when it was made. */
export function isDatedAhead(id: string, now = Date.now()): boolean {
  return (momentOf(id) ?? now) > now;
}
