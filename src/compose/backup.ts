import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.js';
import { BackupSchedule } from '../features/backup/schedule.js';
import type { BackupResult } from '../features/backup/snapshot.js';
import type { Signals } from '../engine/signals/signals.js';
import type { FileErasure } from '../engine/traces/model/deletion/erasure.js';
import type { MoveSource } from '../features/move/move.js';
import type { RetentionService } from '../features/retention/retention-service.js';
import { lastBackup } from '../features/backup/store/backups.js';
import { addressOf, openPlace } from '../features/backup/store/open-place.js';
import { privateSocket } from '../engine/files/private-socket.js';
import { listenControl } from '../control/control-socket.js';
import { CONTROL_FILE, MADE, type BackupRun } from './backup-run.js';
import type { RunningStores } from './check-stores.js';
import type { Context } from './context.js';
import { Snapshots } from './snapshots.js';
import type { Storage } from './storage.js';

/** What a process that makes a backup is told. */
export type BackupOrder = Omit<BackupRun, 'progress' | 'onMade'>;

/** What commands of this machine ask for, besides backups. */
export interface Ordered {
  readonly moves: MoveSource;
  readonly erasure: FileErasure;
  readonly retention: Pick<RetentionService, 'forecast'>;
}

/**
 * Lets commands of this machine back this server up, move its spans, erase what is deleted and ask what retention would remove;
 * makes backups by itself where the settings say so.
 */
export async function openBackups(context: Context, storage: Storage, ordered: Ordered): Promise<void> {
  const { config, events, closers } = context;
  const { dataDir } = config;
  const socket = await privateSocket(dataDir, 'control.sock');
  const file = join(dataDir, CONTROL_FILE);
  closers.push(async () => {
    await socket.remove();
    await rm(file, { force: true });
  });
  const control = await listenControl({
    path: socket.path,
    dataDir,
    snapshots: new Snapshots(context, storage),
    ...ordered,
    stores: async () => {
      await storage.traces.rollUp();
      return { clickhouse: storage.endpoint, s3: config.attachments.s3 } satisfies RunningStores;
    },
    onResult: (result) => tell(result, events),
  });
  closers.push(() => control.close());
  await writeFile(file, socket.path, { mode: 0o600 });
  if (config.backup.schedule !== null) await openSchedule(context, config.backup.schedule);
}

function tell(result: BackupResult, events: Signals): void {
  if ('notPruned' in result) events.backupsNotPruned({ reason: result.notPruned });
  else if (result.done) events.backupFinished(result);
  else events.backupFailed(result);
}

async function openSchedule(
  { config, events, closers }: Context,
  { everyMs, to, keep }: NonNullable<Config['backup']['schedule']>,
): Promise<void> {
  const { dataDir, backup } = config;
  events.backupsScheduled({ everyMs });
  const place = await openPlace(to, backup.s3);
  closers.push(() => place.close());
  const schedule = new BackupSchedule({
    everyMs,
    last: async () => {
      const found = await lastBackup(place);
      events.backupFound({ ...found, to });
      return found.at;
    },
    run: async (signal) => {
      const isThrough = await runApart({ dataDir, to, s3: backup.s3, keep }, signal);
      if (!isThrough)
        events.backupsNotPruned({ reason: 'The process removing them was killed, probably for lack of memory' });
    },
    onFailure: (error) => events.backupRetried({ error }),
  });
  closers.push(() => schedule.close());
}

/**
 * Makes a backup in a process of its own, which says itself what became of it.
 * @returns false: it made one, and died while it removed older ones
 * @throws Error when no backup was made
 */
async function runApart(order: BackupOrder, signal: AbortSignal): Promise<boolean> {
  const child = fork(fileURLToPath(new URL('../backup.js', import.meta.url)), {
    // Keys to a bucket may be anywhere in the environment that the AWS SDK looks at.
    ...(addressOf(order.to).kind === 'bucket' ? {} : { env: {} }),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end);
  try {
    const exit = once(child, 'exit');
    let isMade = false;
    child.once('message', (said) => (isMade = said === MADE));
    child.send(order);
    const [code] = (await exit) as [number | null];
    if (code !== 0 && (!isMade || signal.aborted)) throw new Error('The backup failed');
    return code === 0;
  } finally {
    signal.removeEventListener('abort', end);
  }
}
