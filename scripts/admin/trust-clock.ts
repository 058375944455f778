import { DomainError } from '../../src/engine/errors.js';
import { trust, type ClockMemory } from '../../src/features/retention/believed-clock.js';

const DAY_MS = 86_400_000;
/** Noon of the date that is said lies so near to now, in all zones. */
const SAME_DAY_MS = 1.5 * DAY_MS;

/**
 * Has retention go by the clock of this machine from now on.
 * @param today the date, by somebody who knows it; undefined: nothing changes
 * @throws DomainError `invalid` when the clock says another date
 */
export function trustClock(memory: ClockMemory, today: string | undefined): Readonly<Record<string, unknown>> {
  const now = Date.now();
  const clock = new Date(now).toISOString();
  if (today === undefined) {
    const noted = memory.read()?.at ?? null;
    return {
      clock,
      believed_at: noted === null ? null : new Date(noted / 1000).toISOString(),
      ahead_days: noted === null ? 0 : Math.round((now - noted / 1000) / (DAY_MS / 10)) / 10,
      note: 'If the clock is right, run this again with --today and the date from another clock',
    };
  }
  const noon = /^\d{4}-\d\d-\d\d$/.test(today) ? Date.parse(`${today}T12:00:00Z`) : NaN;
  if (Number.isNaN(noon)) throw new DomainError('invalid', '--today must be a date, such as 2026-01-31');
  if (Math.abs(noon - now) > SAME_DAY_MS)
    throw new DomainError(
      'invalid',
      `The clock of this machine says ${clock}, which is not ${today}: set the clock first. Retention then resumes automatically.`,
    );
  trust(memory, now * 1000);
  return { clock, trusted: true };
}
