import { defineLines } from '../line.js';

/** Moves of the spans to another ClickHouse. */
export const moveLines = defineLines({
  moveBegun: {
    level: 'info',
    message: 'Spans are being moved',
    when:
      '`npm run admin -- move` starts or resumes. Until it is complete, replaced and deleted data stays on the ' +
      'disk.',
  },
  moveCutOff: {
    level: 'warn',
    message: 'Spans were not moved: the command ended before it was through',
    when: 'Spans are accepted and read here as before.',
    action: 'Run the same command again to resume. Or give up the move: npm run admin -- move --cancel',
  },
  moveUnfinished: {
    level: 'warn',
    message: 'A move of the spans is not through',
    when: 'At startup, if a move was interrupted. Until it is complete, replaced and deleted data stays on the disk.',
    action: 'Run the same command again to resume. Or give up the move: npm run admin -- move --cancel',
  },
  moveFinished: {
    level: 'warn',
    message: 'The spans were moved; this server takes none any more',
    when: 'A move is complete. Reads continue here; the next start with the previous settings is refused.',
    action: 'Restart the server with the settings that the command printed',
  },
});
