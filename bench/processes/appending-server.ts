import { open } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

// The plainest server that makes writes durable: it parses the JSON of a request, appends its body to a file, one
// fdatasync for all that waits, and answers `{}`. It checks and keeps nothing, and gives nothing back.

interface Waiting {
  readonly body: Buffer;
  answer(): void;
}

const NEWLINE = Buffer.from('\n');
const file = await open(process.argv[2] ?? '', 'a');
let waiting: Waiting[] = [];
let running = false;

const server = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    JSON.parse(body.toString());
    const answer = () => response.setHeader('content-type', 'application/json').end('{}');
    waiting.push({ body, answer });
    if (!running) void run();
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`Appending server is ready at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.once('SIGTERM', () => process.exit(0));

async function run(): Promise<void> {
  running = true;
  while (waiting.length > 0) {
    const group = waiting;
    waiting = [];
    await file.writev(group.flatMap(({ body }) => [body, NEWLINE]));
    await file.datasync();
    for (const { answer } of group) answer();
  }
  running = false;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
