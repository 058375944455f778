import { join } from 'node:path';
import { openMetadataStore } from '../../src/compose/metadata-store.js';
import { openStoreAt } from './trace-store.js';

/** Creates the tables of both stores in a data directory, for the runner: `node dist/test/harness/template.js <directory>`. */
const [directory = ''] = process.argv.slice(2);
openMetadataStore(directory).close();
const opened = await openStoreAt(join(directory, 'clickhouse'));
await opened.close();
process.exit(0);
