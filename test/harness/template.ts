import { openStoreAt } from './trace-store.js';

/** Creates the tables of ClickHouse in a directory, for the runner: `node dist/test/template.js <directory>`. */
const opened = await openStoreAt(process.argv[2] ?? '');
await opened.close();
process.exit(0);
