import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { BackupResult, SnapshotSource } from '../../domain/backup/snapshot.js';
import { DomainError } from '../../domain/errors.js';

/** What commands of this machine ask of a running server. */
export const CONTROL_PATHS = { snapshot: '/snapshot', result: '/backup-result', stores: '/stores' } as const;

/** An answer other than what was asked for. */
export interface ControlProblem {
  readonly kind: DomainError['kind'];
  readonly detail: string;
}

const MAX_BODY_BYTES = 64 * 1024;

const Result = Type.Union([
  Type.Object({
    done: Type.Literal(true),
    id: Type.String(),
    spans: Type.Number(),
    bytes: Type.Number(),
    newBytes: Type.Number(),
    seconds: Type.Number(),
  }),
  Type.Object({ done: Type.Literal(false), reason: Type.String() }),
]) satisfies { static: BackupResult };

export interface ControlOptions {
  readonly path: string;
  readonly snapshots: SnapshotSource;
  readonly onResult: (result: Static<typeof Result>) => void;
  /** Where the stores are, as soon as all that was written is in the figures: an object for whoever reads them. */
  readonly stores: () => Promise<object>;
}

export interface ControlSocket {
  close(): Promise<void>;
}

/**
 * Listens on a Unix socket in `DATA_DIR`: who may open it may read all data anyway, so it asks for no key. A snapshot is
 * held for as long as the connection that asked for it is open, so that it ends with its reader however that ends.
 */
export async function listenControl({ path, snapshots, onResult, stores }: ControlOptions): Promise<ControlSocket> {
  const server = createServer((request, response) => {
    const work =
      request.url === CONTROL_PATHS.snapshot
        ? holdSnapshot(snapshots, response)
        : request.url === CONTROL_PATHS.result
          ? takeResult(request, response, onResult)
          : request.url === CONTROL_PATHS.stores
            ? stores().then(
                (found) => void response.setHeader('content-type', 'application/json').end(JSON.stringify(found)),
              )
            : Promise.reject(new DomainError('not_found', 'There is no such command'));
    work.catch((error: unknown) => refuse(response, error));
  });
  // One that the last server left behind: this one has the lock of the directory.
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await snapshots.end();
    },
  };
}

async function holdSnapshot(snapshots: SnapshotSource, response: ServerResponse): Promise<void> {
  let gone = false;
  response.once('close', () => (gone = true));
  const snapshot = await snapshots.take();
  const end = () => void snapshots.end();
  if (gone) {
    end();
    return;
  }
  response.once('close', end);
  response.setHeader('content-type', 'application/x-ndjson');
  response.write(`${JSON.stringify(snapshot)}\n`);
}

async function takeResult(
  request: IncomingMessage,
  response: ServerResponse,
  onResult: ControlOptions['onResult'],
): Promise<void> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) throw new DomainError('too_large', 'The result is too long');
    pieces.push(piece);
  }
  const result = parsed(Buffer.concat(pieces).toString('utf8'));
  if (!Value.Check(Result, result)) throw new DomainError('invalid', 'This is no result of a backup');
  onResult(result);
  response.writeHead(204).end();
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const problem: ControlProblem =
    error instanceof DomainError
      ? { kind: error.kind, detail: error.message }
      : { kind: 'internal', detail: error instanceof Error ? error.message : String(error) };
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(problem));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
