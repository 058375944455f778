import type { Command } from 'commander';
import { serverOf } from '../../src/compose/backup-run.js';
import { ERASURE_STEPS, type ErasedFiles, type ErasureStep } from '../../src/domain/deletion/erasure.js';
import { orderErasure } from '../../src/transport/control/control-client.js';
import type { Row } from '../output.js';
import { startProgress, type Progress } from '../progress.js';
import { megabytes, type Run } from './answer.js';

const LABELS: Record<ErasureStep, string> = {
  purging: 'Taking replaced and deleted spans out of the tables',
  forgetting: 'Taking what is left of deleted traces and sessions out of the tables',
  rewriting: 'Rewriting files',
};

/** Adds the command that erases at once what is deleted. */
export function addEraseCommand(program: Command, run: Run): void {
  program
    .command('erase')
    .description(
      'have the running server rewrite at once the files that still hold deleted or replaced texts, which it otherwise does within ERASE_WITHIN_HOURS; what is cut off goes on when it is run again',
    )
    .action(() => run(erase));
}

async function erase(dataDir: string): Promise<Row> {
  const started = Date.now();
  let shown: Progress | undefined;
  try {
    let current: ErasureStep | undefined;
    const erased = await orderErasure(await serverOf(dataDir), ({ step, done, total }) => {
      if (step !== current && total > 0) {
        shown?.stop();
        shown = startProgress(LABELS[step], total, ERASURE_STEPS[step]);
        current = step;
      }
      shown?.update(done);
    });
    return described(erased, (Date.now() - started) / 1000);
  } finally {
    shown?.stop();
  }
}

function described({ rewritten, keptSeconds }: ErasedFiles, seconds: number): Row {
  const tables = rewritten.map(
    ({ table, partitions, bytes }) =>
      `${table} (${partitions} ${partitions === 1 ? 'partition' : 'partitions'}, ${megabytes(bytes)} MB)`,
  );
  return {
    rewritten: tables.length === 0 ? 'nothing: no table held anything to erase' : tables.join(', '),
    seconds: Math.round(seconds * 10) / 10,
    // What an erasure a moment ago replaced may still be there when this one finds nothing.
    gone_from_disk_at: new Date(Date.now() + keptSeconds * 1000).toISOString(),
    note:
      'No read, merge or backup from now on finds what was deleted or replaced before. ' +
      'ClickHouse removes the files from before by then, or some minutes later where little is written. ' +
      'SQLite and images are done. Earlier backups are yours to erase.',
  };
}
