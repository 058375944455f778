/** How long before it expires a key is warned of. */
const SOON_MS = 7 * 86_400_000;

export function hasExpired(at: string | null, now = Date.now()): boolean {
  return at !== null && Date.parse(at) <= now;
}

export function expiresSoon(at: string | null, now = Date.now()): boolean {
  return at !== null && !hasExpired(at, now) && Date.parse(at) - now < SOON_MS;
}
