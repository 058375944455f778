import { BackgroundLoop } from '../../engine/work/background-loop.js';
import type { Micros } from '../../engine/timestamp.js';
import type { Signals } from '../../engine/signals/signals.js';

/** What is known of a clock over restarts. */
export interface ClockNote {
  /** The latest moment that it was believed for. */
  readonly at: Micros;
  /** For how long the server has run since the clock jumped ahead, in microseconds; 0: it is believed; negative: since it is behind. */
  readonly waited: Micros;
}

/** Keeps the note. Throws DomainError `unavailable`. */
export interface ClockMemory {
  /** Null: nothing was noted yet. */
  read(): ClockNote | null;
  /** Writes what follows from the note; another process writes none in between. */
  update(next: (note: ClockNote | null) => ClockNote): void;
}

export interface BelievedClockParts {
  readonly memory: ClockMemory;
  /** When the newest thing that is stored was written; null: nothing is stored. Stands for the note that an upgrade does not find. */
  readonly newestStored: Micros | null;
  /** Whether anything depends on the clock: only then an observer is called. */
  readonly matters: () => boolean;
  readonly observer: Pick<Signals, 'clockLooked'>;
}

/** What a look at the clock came to; microseconds. */
interface Look {
  readonly now: Micros;
  readonly ahead: Micros;
  /** How long it takes until the clock is believed, if it continues as it does; 0: it is. */
  readonly wait: Micros;
  readonly next: ClockNote;
}

/** How much more than the time that the server ran may pass between two looks: a night, or a restart of the machine. */
const UNSEEN: Micros = 86_400e6;
/** Clocks are set back a little now and then. */
const BEHIND: Micros = 3_600e6;
const LOOK_MS = 60_000;

/**
 * The wall clock, for what cannot be undone. One that jumped ahead would have everything be old: from more than a day on it is
 * not believed before the server has run for as long as the jump was beyond that, or someone says that it is right (see
 * {@link trust}). Whether the machine was off for months, or its clock is wrong, is the same to a server that starts: the longer a
 * wrong clock would reach, the more time there is to notice it.
 *
 * How long the server runs is measured by a clock that cannot be set.
 */
export class BelievedClock {
  readonly #parts: BelievedClockParts;
  readonly #loop: BackgroundLoop;
  /** When the note was written, on the clock of `performance`. */
  #notedAt = performance.now();

  constructor(parts: BelievedClockParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({
      round: () => {
        this.now();
        return LOOK_MS;
      },
      // The next look accounts for the time since this one as well.
      onFailure: () => undefined,
    });
  }

  /** Begins to look now and then: what passes in between is accounted for. */
  start(): void {
    this.#loop.wake();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  /** The time; null while the clock is not believed. @throws DomainError `unavailable` */
  now(): Micros | null {
    const { memory, matters, observer } = this.#parts;
    let look: Look | undefined;
    memory.update((note) => {
      look = this.#look(note);
      return look.next;
    });
    if (look === undefined) throw new Error('The clock was not noted');
    const { now, ahead, wait } = look;
    this.#notedAt = performance.now();
    const told = ahead !== 0 && matters() ? ahead : 0;
    observer.clockLooked({ aheadSeconds: told / 1e6, waitSeconds: wait / 1e6 });
    return wait > 0 ? null : now;
  }

  /** How far the clock is ahead, and how long it takes until it is believed, in microseconds; 0: it is. @throws DomainError */
  get state(): { readonly ahead: Micros; readonly wait: Micros } {
    const { ahead, wait } = this.#look(this.#parts.memory.read());
    return { ahead: Math.max(0, ahead), wait };
  }

  #look(note: ClockNote | null): Look {
    const now = Date.now() * 1000;
    const ran = Math.round((performance.now() - this.#notedAt) * 1000);
    const { at, waited } = note ?? { at: this.#parts.newestStored ?? now, waited: 0 };
    const ahead = now - at - ran;
    const waitedAhead = Math.max(0, waited) + ran;
    const wait = Math.max(0, ahead - UNSEEN - waitedAhead);
    if (wait > 0) return { now, ahead, wait, next: { at: at + ran, waited: waitedAhead } };
    if (now >= at - BEHIND) return { now, ahead: 0, wait, next: { at: Math.max(at, now), waited: 0 } };
    // By an hour that was ahead once, jumps up to there would be believed: not for longer than a night.
    const behind = Math.max(0, -waited) + ran;
    return { now, ahead: now - at, wait, next: behind < UNSEEN ? { at, waited: -behind } : { at: now, waited: 0 } };
  }
}

/** Has a clock be believed from now on, whatever it showed before. */
export function trust(memory: ClockMemory, now: Micros): void {
  memory.update(() => ({ at: now, waited: 0 }));
}
