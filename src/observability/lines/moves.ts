import { defineLines } from '../line.js';

/** Moves of the spans to another ClickHouse. */
export const moveLines = defineLines({
  moveBegun: {
    level: 'info',
    message: 'Spans are being moved',
    when: '`npm run admin -- move` begins or goes on. Until it is through, what is replaced or deleted stays on the disk.',
  },
  moveCutOff: {
    level: 'warn',
    message: 'Spans were not moved: the command ended before it was through',
    when: 'Spans are taken and read here as before.',
    action: 'Run the same command again: it goes on from there. Or give the move up: npm run admin -- move --cancel',
  },
  moveUnfinished: {
    level: 'warn',
    message: 'A move of the spans is not through',
    when: 'At the start, when a move was cut off. Until it is through, what is replaced or deleted stays on the disk.',
    action: 'Run the same command again: it goes on from there. Or give the move up: npm run admin -- move --cancel',
  },
  moveFinished: {
    level: 'warn',
    message: 'The spans were moved; this server takes none any more',
    when: 'A move is done. Reads go on here; the next start with the settings from before is refused.',
    action: 'Start the server anew with the settings that the command printed',
  },
});
