import { isTooLarge } from '../clickhouse/client/client-errors.js';
import { among, type CommittedState, type ReadsInProgress } from '../read/reads-in-progress.js';
import type { ReadScope } from '../read/scope.js';
import type { NotCurrent } from '../rollup/set-aside.js';

/** The parts that know the state of a project. */
export interface StateParts {
  readonly reads: ReadsInProgress;
  readonly notCurrent: (projectId: string) => NotCurrent;
  /** Whether a project has, or had, spans of experiments. */
  readonly hasMarked: (projectId: string) => boolean;
}

/** Which state of which project is read. */
export interface StateOf {
  readonly list: 'spans' | 'traces' | 'sessions';
  readonly projectId: string;
  /** The traces that alone are read, or whose spans are; null: all. */
  readonly ids?: readonly string[] | null;
  /** Whether figures are read, and not spans alone; default: unless the list is that of spans. */
  readonly figures?: boolean;
}

/** Reads what is committed, or where that is asked for, or cannot be had, what is rolled up. */
export async function readState<T>(
  { reads, notCurrent, hasMarked }: StateParts,
  { list, projectId, ids = null, figures = list !== 'spans' }: StateOf,
  read: (scope: ReadScope) => Promise<T>,
): Promise<T> {
  const rolledUp = () => reads.run(projectId, (upTo) => read({ projectId, upTo, hasMarked: hasMarked(projectId) }));
  // Rolled-up rows alone tell that a session is set aside.
  if (list === 'sessions' && notCurrent(projectId).sessions.length > 0) return rolledUp();
  let fresh = false;
  const committed = ({ upTo, traces, sessions: unsettledSessions }: CommittedState) => {
    const aside = figures ? notCurrent(projectId).traces : [];
    const wanted = among(traces, ids);
    // Which of their spans count is known of every unsettled trace, also of those whose figures are too large.
    const unsettled = list === 'spans' ? wanted : wanted.filter((id) => !aside.includes(id));
    fresh = figures && unsettled.length + unsettledSessions.length > 0;
    return read({ projectId, upTo, unsettled, aside, unsettledSessions, hasMarked: hasMarked(projectId) });
  };
  // Of spans, only those up to the version are read in any case, and they are sent while they are read.
  const again = list !== 'spans';
  return reads.ofCommitted(projectId, { figures, traces: ids, again }, committed).catch((error: unknown) => {
    // A trace that is too large is set aside by the round that was to store it.
    if (!fresh || !isTooLarge(error)) throw error;
    return rolledUp();
  });
}
