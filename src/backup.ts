import type { BackupOrder } from './compose/backup.js';
import { MADE, makeBackup } from './compose/backup-run.js';

// A process that makes one backup of the server that started it, and orders it by a message: what is on a command line
// everyone on the machine can read. It ends with that server.
process.umask(0o077);
process.on('disconnect', () => process.exit(1));
const unseen = { total: () => undefined, done: () => undefined };
process.once('message', (order: BackupOrder) => {
  void makeBackup({ ...order, progress: unseen, onMade: () => process.send?.(MADE) }).then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
