import type { MoveObserver } from '../../features/move/move.js';
import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';

export type MoveEvents = MoveObserver;

export function moveEvents(logger: Logger): MoveEvents {
  return {
    moveBegun: ({ to }) => say(logger, 'moveBegun', { to }),
    moveCutOff: ({ to }) => say(logger, 'moveCutOff', { to }),
    moveFinished: ({ to, closedMs }) => say(logger, 'moveFinished', { to, refused_ms: Math.round(closedMs) }),
  };
}
