import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { LOG_DIRECTORY } from '../../src/compose/directories.js';
import { DomainError } from '../../src/engine/errors.js';
import { lockDataDir } from '../../src/engine/metadata/data-dir-lock.js';
import { salvageLog } from '../../src/engine/traces/write/log/salvage.js';
import type { Row } from '../output.js';
import type { Run } from './answer.js';

/** Adds the command that makes a damaged write-ahead log readable again. */
export function addRecoverLogCommand(program: Command, run: Run): void {
  program
    .command('recover-log')
    .description(
      'while the server is stopped, replace damaged files of the write-ahead log with what can be read of them, and ' +
        'report what is lost',
    )
    .action(() => run(recoverLog, 'No file of the write-ahead log is damaged'));
}

async function recoverLog(dataDir: string): Promise<Row[]> {
  const directory = join(dataDir, LOG_DIRECTORY);
  if (!existsSync(directory)) throw new DomainError('not_found', `There is no write-ahead log in ${directory}`);
  const lock = lockDataDir(dataDir);
  try {
    const segments = await salvageLog(directory);
    return segments.map(({ file, damagedAt, kept, rows, bytes }) => ({
      file,
      damaged_at_byte: damagedAt,
      rows_kept: rows,
      bytes_kept: bytes,
      original: kept,
    }));
  } finally {
    lock.release();
  }
}
