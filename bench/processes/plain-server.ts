import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createLogger } from '../../src/observability/logger.js';
import { connect } from '../../src/storage/clickhouse/client.js';
import { startEngine } from '../../src/storage/clickhouse/engine/supervisor.js';
import { migrate } from '../../src/storage/clickhouse/migrations.js';
import { readMigrationFiles } from '../../src/storage/migration-files.js';
import { schemaDirectory } from '../../src/storage/schema-files.js';
import type { GeneratedSpan } from '../data.js';
import { PROJECT_ID } from '../rows.js';

// The plainest server there can be on the same engine and the same table: it parses what comes in, inserts what waits as
// one group, and answers. It checks nothing, prices nothing, keeps no figure of any trace and gives no span back.

const COLUMNS = [
  ...['ver', 'project_id', 'trace_id', 'id', 'parent_span_id', 'session_id', 'name', 'kind', 'status', 'started_at'],
  ...['ended_at', 'duration_ms', 'payload', 'input_bytes', 'no_output', 'attributes', 'tags', 'trace_tags'],
  ...['session_tags', 'error_code', 'error_message', 'error_stack', 'code_filepath', 'code_lineno'],
];
/** Versions of the rows inserted here begin at this moment, a little after the versions' own epoch. */
const FIRST_VERSION = 40_000_000_000_000;

interface Waiting {
  readonly lines: string;
  answer(): void;
}

const path = join(process.argv[2] ?? '', 'clickhouse');
mkdirSync(path, { recursive: true });
const logger = createLogger({ level: 'silent', format: 'json' });
const engine = await startEngine({ path, database: 'spanhouse', memoryMb: 2048, maxReadSeconds: 60, logger });
const client = connect(engine.endpoint, { settings: { async_insert: 0, date_time_input_format: 'best_effort' } });
await migrate(client, readMigrationFiles(schemaDirectory('clickhouse')), null);
await client.command('CREATE TABLE plain_spans AS spans');

let version = FIRST_VERSION;
let waiting: Waiting[] = [];
let running = false;

const server = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    const spans = JSON.parse(body) as GeneratedSpan[];
    waiting.push({ lines: spans.map(lineOf).join(''), answer: () => response.end('{}') });
    if (!running) void run();
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`Plain server is ready at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.once('SIGTERM', () => {
  void client
    .close()
    .then(() => engine.stop())
    .finally(() => process.exit(0));
});

async function run(): Promise<void> {
  running = true;
  while (waiting.length > 0) {
    const group = waiting;
    waiting = [];
    const rows = Buffer.from(group.map(({ lines }) => lines).join(''));
    await client.insert('plain_spans', COLUMNS, 'JSONEachRow', rows);
    for (const { answer } of group) answer();
  }
  running = false;
}

function lineOf({ input_data, output_data, attributes, session: _, ...span }: GeneratedSpan): string {
  const [input, output] = [input_data as string | null, output_data as string | null];
  const row = {
    ...span,
    ver: version++,
    project_id: PROJECT_ID,
    payload: (input ?? '') + (output ?? ''),
    input_bytes: input === null ? null : Buffer.byteLength(input),
    no_output: output === null,
    attributes: JSON.stringify(attributes),
  };
  return `${JSON.stringify(row)}\n`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
