import { randomUUID } from 'node:crypto';
import { ConfigError, loadConfig } from './config/config.js';
import { DomainError } from './engine/errors.js';
import { startServer, type RunningServer } from './server.js';
import { LeaseError } from './engine/traces/clickhouse/lease/lease-error.js';
import { ExternalServerError } from './engine/traces/external-server.js';
import { DataDirLockedError } from './engine/metadata/data-dir-lock.js';
import { WriteLogError } from './engine/traces/write/log/segment.js';
import { MigrationError } from './engine/files/migration-files.js';

/** Where the commands of README and manual look for the server when nothing else is said. */
const DEFAULT_URL = 'http://127.0.0.1:4318';
/** A signal within this time of the first repeats it; a later one means: now. */
const SAME_WISH_MS = 1000;

// Below the constants: while this waits, nothing after it is there but functions.
await run();

async function run(): Promise<void> {
  // Whatever is written from here on holds what only this user may read.
  process.umask(0o077);
  // A fatal error that was printed already is not printed again.
  let fatal = false;
  try {
    const config = loadConfig();
    // Asked to stop while starting: the start is finished first, so that everything is closed in order.
    const starting: Promise<RunningServer> = startServer(config, {
      onFatal(error) {
        process.stderr.write(`${explain(error)}\n`);
        fatal = true;
        void stop(1);
      },
    });
    const stop = stopper(starting, config.shutdownTimeoutSeconds);
    stopOnSignals(() => stop(0));
    const server = await starting;
    process.stdout.write(announcement(server));
  } catch (error) {
    if (!fatal) process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

function stopOnSignals(stop: () => Promise<void>): void {
  let asked: number | undefined;
  const signalled = async () => {
    if (asked !== undefined) {
      // A terminal sends Ctrl-C to npm and to us, and npm passes it on: one wish, arriving twice.
      if (performance.now() - asked <= SAME_WISH_MS) return;
      process.stderr.write('Stopped immediately on the second signal; the next start repairs everything\n');
      process.exit(1);
    }
    asked = performance.now();
    await stop();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void signalled());
}

/** A function that closes everything and ends the process, at the latest after the given time. */
function stopper(starting: Promise<RunningServer>, timeoutSeconds: number): (code: 0 | 1) => Promise<void> {
  return async (code) => {
    const deadline = setTimeout(() => {
      process.stderr.write(`Shutdown did not finish within ${timeoutSeconds} s; exiting anyway\n`);
      process.exit(1);
    }, timeoutSeconds * 1000);
    deadline.unref();
    try {
      await (await starting).stop();
      if (code === 0) process.stdout.write('Stopped\n');
      process.exit(code);
    } catch (error) {
      if (code === 0) process.stderr.write(`${explain(error)}\n`);
      process.exit(1);
    }
  };
}

/** Describes an error to the operator: expected ones by their message alone, others with their stack. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `Cannot listen: ${error.message}. Set PORT to a free port.`;
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOSPC' || code === 'EROFS')
    return `Cannot start Spanhouse: ${error.message}`;
  const types = [
    ConfigError,
    DataDirLockedError,
    ExternalServerError,
    LeaseError,
    MigrationError,
    WriteLogError,
    DomainError,
  ];
  const expected = types.some((type) => error instanceof type);
  return expected ? error.message : (error.stack ?? error.message);
}

/** On the first start: everything needed for a first span, to be copied as it stands. The key is never shown again. */
function announcement({ url, consoleUrl, grpcPort, created }: RunningServer): string {
  const grpc = grpcPort === null ? '' : `, OTLP over gRPC on port ${grpcPort}`;
  if (created === null)
    return `Spanhouse is ready at ${url}${grpc}\nConsole: ${consoleUrl} (npm run admin -- signin prints a sign-in link)\n`;
  const variables = [
    `SPANHOUSE_KEY=${created.key ?? '"$SPANHOUSE_INIT_API_KEY"'}`,
    `SPANHOUSE_PROJECT=${created.projectId}`,
    ...(url === DEFAULT_URL ? [] : [`SPANHOUSE_URL=${url}`]),
  ];
  const now = Date.now();
  const span = {
    trace_id: randomUUID(),
    name: 'hello',
    started_at: new Date(now - 120).toISOString(),
    ended_at: new Date(now).toISOString(),
  };
  return `
Open the console in your browser; this link signs you in once and expires in one hour:

  ${created.signInUrl}

Spanhouse is ready at ${url}, with its manual at ${url}/docs${grpc}

The API key of the first project${created.key === null ? ' is the one in SPANHOUSE_INIT_API_KEY' : ', shown only once: save it'}. For the commands below and in the README and manual:

  export ${variables.join(' ')}

Send a first span, then look at its trace:

  curl -sS ${url}/spans -H "Authorization: Bearer $SPANHOUSE_KEY" -H 'Content-Type: application/json' -d '[${JSON.stringify(span)}]'
  curl -sS ${url}/traces -H "Authorization: Bearer $SPANHOUSE_KEY"

`;
}
