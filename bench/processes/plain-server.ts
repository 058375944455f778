import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { createLogger } from '../../src/engine/signals/logger.js';
import { connect } from '../../src/engine/traces/clickhouse/client/client.js';
import { startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { migrate } from '../../src/engine/traces/migrations.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { packageRoot, schemaDirectory } from '../../src/engine/files/schema-files.js';
import type { GeneratedSpan } from '../data.js';
import { PROJECT_ID } from '../rows.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';

// The plainest server there can be on the same engine and the same table: it parses what comes in, inserts what waits as
// one group, and answers. It checks nothing, maps no attribute, prices nothing, keeps no figure of any trace and gives no
// span back.

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
await client.command(sql`CREATE TABLE plain_spans AS spans`);

let version = FIRST_VERSION;
let waiting: Waiting[] = [];
let running = false;

const otlp = new protobuf.Root();
otlp.resolvePath = (_origin, target) => join(packageRoot(), 'schema', 'otlp', target);
otlp.loadSync('opentelemetry/proto/collector/trace/v1/trace_service.proto');
const ExportRequest = otlp.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest');

const server = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    waiting.push({ lines: linesOf(request, body), answer: () => response.end('{}') });
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

function linesOf({ url, headers }: IncomingMessage, body: Buffer): string {
  if (url !== '/v1/traces') return (JSON.parse(body.toString()) as GeneratedSpan[]).map(lineOf).join('');
  const inProtobuf = headers['content-type'] === 'application/x-protobuf';
  const { resourceSpans } = inProtobuf
    ? (ExportRequest.toObject(ExportRequest.decode(body), { longs: String }) as OtlpRequest)
    : (JSON.parse(body.toString()) as OtlpRequest);
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map(otlpLineOf)
    .join('');
}

function lineOf({ input_data, output_data, attributes, session: _, ...span }: GeneratedSpan): string {
  const [input, output] = [input_data as string | null, output_data as string | null];
  return rowOf({
    ...span,
    payload: (input ?? '') + (output ?? ''),
    input_bytes: input === null ? null : Buffer.byteLength(input),
    no_output: output === null,
    attributes: JSON.stringify(attributes),
  });
}

/** A span of an OTLP request, as protobufjs or JSON.parse decodes it. */
interface OtlpSpan {
  readonly traceId: Uint8Array | string;
  readonly spanId: Uint8Array | string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly object[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[] }[];
}

function otlpLineOf({ traceId, spanId, name, startTimeUnixNano, endTimeUnixNano, attributes }: OtlpSpan): string {
  return rowOf({
    trace_id: uuidOf(traceId),
    id: uuidOf(spanId),
    name,
    started_at: Number(startTimeUnixNano.slice(0, -3)),
    ended_at: Number(endTimeUnixNano.slice(0, -3)),
    attributes: JSON.stringify(attributes),
  });
}

function uuidOf(id: Uint8Array | string): string {
  const hex = (typeof id === 'string' ? id : Buffer.from(id).toString('hex')).padStart(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function rowOf(columns: object): string {
  return `${JSON.stringify({ ...columns, ver: version++, project_id: PROJECT_ID })}\n`;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
