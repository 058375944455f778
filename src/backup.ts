import type { BackupOrder } from './compose/backup.js';
import { makeBackup } from './compose/backup-run.js';

// A process that makes one backup of the server that started it. It ends with that one.
process.umask(0o077);
process.on('disconnect', () => process.exit(1));
const order = JSON.parse(process.argv[2] ?? '') as BackupOrder;
const unseen = { total: () => undefined, done: () => undefined };
await makeBackup({ ...order, progress: unseen }).then(
  () => process.exit(0),
  () => process.exit(1),
);
