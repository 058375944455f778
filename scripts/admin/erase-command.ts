import type { Command } from 'commander';
import { serverOf } from '../../src/compose/backup-run.js';
import { ERASURE_STEPS, type ErasedFiles, type ErasureStep } from '../../src/engine/traces/model/deletion/erasure.js';
import { orderErasure } from '../../src/control/control-client.js';
import type { Row } from '../output.js';
import { startProgress, type Progress } from '../progress.js';
import { megabytes, type Run } from './answer.js';

const LABELS: Record<ErasureStep, string> = {
  purging: 'Removing replaced and deleted spans from the tables',
  forgetting: 'Removing remains of deleted traces and sessions from the tables',
  rewriting: 'Rewriting files',
};

/** Adds the command that erases at once what is deleted. */
export function addEraseCommand(program: Command, run: Run): void {
  program
    .command('erase')
    .description(
      'have the running server immediately rewrite the files that still contain deleted or replaced texts, instead ' +
        'of within ERASE_WITHIN_HOURS; if interrupted, run it again to resume',
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
    rewritten: tables.length === 0 ? 'nothing: no table contained anything to erase' : tables.join(', '),
    seconds: Math.round(seconds * 10) / 10,
    // What an erasure a moment ago replaced may still be there when this one finds nothing.
    gone_from_disk_at: new Date(Date.now() + keptSeconds * 1000).toISOString(),
    note:
      'From now on, no read, merge or backup finds what was deleted or replaced before. ClickHouse removes the ' +
      'previous files by then, or some minutes later if little is written. SQLite and images are done. You must ' +
      'erase earlier backups yourself.',
  };
}
