import type { Command } from 'commander';
import { loadConfig } from '../../src/config/config.js';
import { makeBackup, withBackups, type MadeBackup } from '../../src/compose/backup-run.js';
import { isDatedAhead } from '../../src/features/backup/backup-id.js';
import { contentsOf, sizeOf } from '../../src/engine/traces/model/backup/manifest.js';
import { DomainError } from '../../src/engine/errors.js';
import type { Backups, ListedBackup } from '../../src/features/backup/store/backups.js';
import type { CopyProgress } from '../../src/features/backup/store/copy-snapshot.js';
import { verifyBackup } from '../../src/features/backup/store/verify-backup.js';
import type { Row } from '../output.js';
import { startProgress, type Progress } from '../progress.js';
import { MEGABYTE, megabytes, type Run } from './answer.js';

/** Exit code of `backup` when there is one, and older ones were not removed. */
const NOT_PRUNED = 2;
const PLACE = 'folder of backups, or a bucket as s3://bucket/prefix';

/** Adds the commands about backups. */
export function addBackupCommands(program: Command, run: Run): void {
  program
    .command('backup')
    .description(
      'back up the running server to a folder or bucket: a consistent snapshot of spans, metadata and images',
    )
    .argument(
      '<to>',
      `${PLACE}; a folder is created if it does not exist. Copies only what is new since the last backup there`,
    )
    .option('--keep <count>', 'remove the oldest backups beyond this number', wholeNumber)
    .action((to: string, { keep }: { keep?: number }) =>
      run((dataDir) =>
        withProgress('Backing up', async (progress, stop) => {
          const onMade = (id: string) => {
            stop();
            if (keep !== undefined)
              process.stderr.write(`Backup ${id} is complete; removing the oldest beyond ${keep}\n`);
          };
          const made = await makeBackup({ dataDir, to, s3: bucketAccess(), keep: keep ?? null, progress, onMade });
          if (made.notPruned !== null) process.exitCode = NOT_PRUNED;
          return described(made);
        }),
      ),
    );

  program
    .command('restore')
    .description(
      'restore a backup into an empty DATA_DIR on which no server runs, and compare the result with the backup',
    )
    .argument('<from>', PLACE)
    .option('--backup <id>', 'backup to restore (default: the newest; see list-backups)')
    .action((from: string, { backup: id }: { backup?: string }) =>
      run((dataDir) =>
        withProgress('Restoring', async (progress) => {
          const config = { ...loadConfig(), dataDir };
          const { restoreBackup } = await import('../../src/compose/restore.js');
          const onVerify = () => process.stderr.write('All data is copied; comparing figures\n');
          const { begunAnew, bytes, ...restored } = await restoreBackup({
            config,
            from,
            progress,
            onVerify,
            ...(id === undefined ? {} : { id }),
          });
          return {
            ...restored,
            mb: megabytes(bytes),
            note: `${begunAnew ? 'An earlier restore was interrupted; this one started from the beginning. ' : ''}Figures equal those of the backup. Start the server on ${dataDir}.`,
          };
        }),
      ),
    );

  program
    .command('list-backups')
    .description('list the backups in a folder or bucket')
    .argument('<in>', PLACE)
    .action((address: string) => run(() => listBackups(address), 'There are no backups yet: create one with backup'));

  program
    .command('verify-backup')
    .description('read all files of a backup and verify their checksums')
    .argument('<in>', PLACE)
    .option('--backup <id>', 'backup to verify (default: the newest; see list-backups)')
    .action((address: string, { backup: id }: { backup?: string }) =>
      run(() =>
        withProgress('Verifying', (progress) =>
          withBackups(address, bucketAccess(), 'reading', (backups) => verified(backups, id, progress)),
        ),
      ),
    );

  program
    .command('prune-backups')
    .description('remove the oldest backups from a folder or bucket, and the remains of an interrupted backup')
    .argument('<in>', PLACE)
    .requiredOption('--keep <count>', 'number of backups to keep', wholeNumber)
    .action((address: string, { keep }: { keep: number }) =>
      run(async () => {
        // A place that holds none yet becomes no place of backups by this.
        await withBackups(address, bucketAccess(), 'reading', async () => undefined);
        return withBackups(address, bucketAccess(), 'writing', async (backups) => {
          const freed = await backups.prune(keep);
          const left = await backups.ids();
          const ahead = left.filter((id) => isDatedAhead(id)).length;
          const note = `${ahead} of them are dated ahead of the clock of this machine: they do not count, and stay.`;
          return { backups: left.length, freed_mb: megabytes(freed), ...(ahead === 0 ? {} : { note }) };
        });
      }),
    );
}

function bucketAccess() {
  return loadConfig().backup.s3;
}

async function listBackups(address: string): Promise<Row[]> {
  return withBackups(address, bucketAccess(), 'reading', async (backups) => {
    const rows: Row[] = [];
    for await (const backup of backups.all()) rows.push(listed(backup));
    const begun = await backups.unfinished();
    return begun === null ? rows : [...rows, { id: 'unfinished', taken_at: begun, problem: UNFINISHED }];
  });
}

async function verified(backups: Backups, id: string | undefined, { total, done }: CopyProgress): Promise<Row> {
  const manifest = await backups.manifest(id);
  const contents = [...new Map([...contentsOf(manifest)].map(({ sha256, bytes }) => [sha256, bytes])).values()];
  total(contents.reduce((sum, bytes) => sum + bytes, 0));
  const problems = await verifyBackup(backups, manifest, done);
  if (problems.length > 0)
    throw new DomainError('invalid', `Backup ${manifest.id} cannot be restored:\n${problems.join('\n')}`);
  return { id: manifest.id, whole: true, files: contents.length, spans: sizeOf(manifest).spans };
}

const AHEAD = 'dated ahead of the clock of this machine: restore takes it for the newest, which it may not be';
const UNFINISHED = 'interrupted or in progress: backup reuses what was copied, prune-backups removes it';

function listed({ id, manifest, problem }: ListedBackup): Row {
  if (manifest === null) return { id, problem };
  const { taken_at, spanhouse } = manifest;
  const { spans, bytes } = sizeOf(manifest);
  return {
    id,
    taken_at,
    spans,
    mb: megabytes(bytes),
    images: manifest.images?.length ?? 'in the bucket',
    spanhouse,
    ...(isDatedAhead(id) ? { problem: AHEAD } : {}),
  };
}

function described({ id, spans, bytes, newBytes, seconds, wentOnFrom, lostImages, notPruned }: MadeBackup): Row {
  const notes = [
    ...(wentOnFrom === null ? [] : [`Reused what the interrupted backup of ${wentOnFrom} had copied.`]),
    ...(lostImages === 0 ? [] : [`${lostImages} images are referenced but missing or incomplete.`]),
    ...(notPruned === null ? [] : [`This backup is complete, but older ones were not removed. ${notPruned}`]),
  ];
  return {
    id,
    spans,
    mb: megabytes(bytes),
    new_mb: megabytes(newBytes),
    seconds: Math.round(seconds * 10) / 10,
    ...(notes.length === 0 ? {} : { note: notes.join(' ') }),
  };
}

/** Shows the progress of work that is counted in bytes. */
async function withProgress<T>(
  label: string,
  work: (progress: CopyProgress, stop: () => void) => Promise<T>,
): Promise<T> {
  let shown: Progress | undefined;
  const stop = () => {
    shown?.stop();
    shown = undefined;
  };
  try {
    return await work(
      {
        total: (bytes) => (shown = startProgress(label, Math.ceil(bytes / MEGABYTE), 'MB')),
        done: (bytes) => shown?.update(Math.ceil(bytes / MEGABYTE)),
      },
      stop,
    );
  } finally {
    stop();
  }
}

function wholeNumber(text: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(text))
    throw new DomainError('invalid', `--keep must be a whole number from 1, not ${text}`);
  return Number(text);
}
