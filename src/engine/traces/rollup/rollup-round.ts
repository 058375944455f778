import type { Governor } from '../../work/governor.js';
import type { Version, VersionClock } from '../write/version-clock.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import type { Recomputation } from './recomputation.js';
import type { RollupPressure } from './rollup-pressure.js';
import type { UnsettledChanges } from './unsettled-changes.js';
import type { Signals } from '../../signals/signals.js';

/** Traces, and sessions, of one round: few enough for a round to take a fraction of a second. */
const MAX_ROUND = 2000;
/** Traces, and sessions, of a round that reads wait for: it takes half as long. */
const MAX_AWAITED_ROUND = 1000;
/** Traces of a round for traces that were removed, while no one reads: it takes a second or two, and far less for each. */
const MAX_LARGE_ROUND = 20_000;

export interface RoundParts {
  readonly clock: VersionClock;
  readonly reads: Pick<ReadsInProgress, 'oldestStill' | 'ended'>;
  readonly governor: Pick<Governor, 'listsAreRead'>;
  readonly changes: UnsettledChanges;
  readonly pressure: RollupPressure;
  readonly recomputation: Recomputation;
  readonly observer: Pick<Signals, 'rollupFinished' | 'rollupFailed' | 'rollupPending' | 'tracing'>;
}

/**
 * Runs one round: recomputes what has changed longest, up to the state that is read still. When nothing may be taken, it
 * waits for a read to end.
 * @param awaited projects that are first
 * @param large whether it may take long, unless lists are read
 * @returns how many milliseconds the round took; null: there was nothing to recompute
 * @throws what kept it from being recomputed, after reporting it; all of it waits again
 */
export async function runRound(
  parts: RoundParts,
  awaited: ReadonlySet<string>,
  large: boolean,
): Promise<number | null> {
  const { changes, reads, governor, recomputation, observer } = parts;
  const started = performance.now();
  const upTo = statesToRollUp(parts);
  const items = changes.beginRound(mostTraces(governor, awaited, large), awaited, upTo);
  const { traces, sessions } = items;
  try {
    if (traces.length + sessions.length === 0) {
      if (changes.waiting > 0) await reads.ended();
      return null;
    }
    const recompute = async () => {
      const round = { upTo, round: parts.clock.take(1) };
      if (traces.length > 0) await recomputation.traces(traces, round);
      await recomputation.sessions(sessions, round);
    };
    const size = { traces: traces.length, sessions: sessions.length };
    await (observer.tracing === undefined ? recompute() : observer.tracing.round(size, recompute));
    changes.stored(items, upTo);
    const ms = performance.now() - started;
    // Removed traces take far less, and no list reads them for long.
    if (!traces.some(({ removed }) => removed === true)) parts.pressure.rolledUp({ traces: traces.length, ms });
    observer.rollupFinished({ traces: traces.length, seconds: ms / 1000 });
    return ms;
  } catch (error) {
    changes.restore(items);
    observer.rollupFailed({ error });
    throw error;
  } finally {
    changes.endRound();
    observer.rollupPending({ traces: changes.waitingTraces });
  }
}

function mostTraces(governor: RoundParts['governor'], awaited: ReadonlySet<string>, large: boolean): number {
  if (large) return governor.listsAreRead ? MAX_ROUND : MAX_LARGE_ROUND;
  return awaited.size > 0 ? MAX_AWAITED_ROUND : MAX_ROUND;
}

/** The state of each project that a round rolls up: the oldest one that is being read, or else the last. */
function statesToRollUp({ changes, reads, pressure }: RoundParts): (projectId: string) => Version {
  const states = new Map<string, Version>();
  return (projectId) => {
    const known = states.get(projectId);
    if (known !== undefined) return known;
    const state = Math.min(changes.storedUpTo(projectId), reads.oldestStill(projectId, pressure.isHalfFull(projectId)));
    states.set(projectId, state);
    return state;
  };
}
