import type { Micros } from '../timestamp.js';
import type { SignIn } from './sign-in.js';

const DAY: Micros = 24 * 3600 * 1e6;
const LASTS: SessionLasts = { idle: 7 * DAY, total: 30 * DAY };
/** Uses are noted as often, and more often where sessions end soon without any. */
const USE_RESOLUTION: Micros = 600 * 1e6;
const NOTED_WHILE_IDLE = 10;

/** How long sessions last: without use, and however much they are used. */
export interface SessionLasts {
  readonly idle: Micros;
  readonly total: Micros;
}

type Times = Pick<SignIn, 'created_at' | 'last_used_at'>;

/** Says when sessions end. */
export class SessionEnds {
  readonly #lasts: SessionLasts;
  readonly #resolution: Micros;

  constructor(lasts: SessionLasts = LASTS) {
    this.#lasts = lasts;
    this.#resolution = Math.min(USE_RESOLUTION, Math.floor(lasts.idle / NOTED_WHILE_IDLE));
  }

  /** When a session ends that is not used again. @param usedAt default: when it began */
  of(createdAt: Micros, usedAt: Micros = createdAt): Micros {
    return Math.min(usedAt + this.#lasts.idle, createdAt + this.#lasts.total);
  }

  /** Whether one has lasted long enough that began when sessions lasted longer. */
  isPast({ created_at, last_used_at }: Times, now: Micros): boolean {
    return this.of(created_at, (last_used_at ?? created_at) + this.#resolution) <= now;
  }

  /** Whether a use is to be noted. */
  isUseNoted({ last_used_at }: Times, now: Micros): boolean {
    return now - (last_used_at ?? 0) >= this.#resolution;
  }
}
