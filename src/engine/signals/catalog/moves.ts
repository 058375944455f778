import { catalogOf, signal } from '../signal.js';

/** Moves of the spans to another ClickHouse. */
export const moveCatalog = catalogOf({
  moveBegun: signal<{ to: string }>({
    level: 'info',
    message: 'Move of spans started',
    when: '`npm run admin -- move` starts or resumes. Until it finishes, replaced and deleted data stays on the disk.',
    log: ({ to }) => ({ to }),
  }),
  moveCutOff: signal<{ to: string }>({
    level: 'warn',
    message: 'Move of spans interrupted: the command ended early',
    when: 'This server still accepts and reads spans as before.',
    action: 'Run the same command again to resume, or cancel the move: npm run admin -- move --cancel',
    log: ({ to }) => ({ to }),
  }),
  moveUnfinished: signal<{ to: string; since: string }>({
    level: 'warn',
    message: 'Unfinished move of spans',
    when: 'At start, if a move was interrupted. Until it finishes, replaced and deleted data stays on the disk.',
    action: 'Run the same command again to resume, or cancel the move: npm run admin -- move --cancel',
    log: ({ to, since }) => ({ to, since }),
  }),
  moveFinished: signal<{ to: string; closedMs: number }>({
    level: 'warn',
    message: 'Spans moved; this server no longer accepts spans',
    when: 'A move finished. Reads continue here; the next start with the previous settings is refused.',
    action: 'Restart the server with the settings that the command printed',
    log: ({ to, closedMs }) => ({ to, refused_ms: Math.round(closedMs) }),
  }),
});
