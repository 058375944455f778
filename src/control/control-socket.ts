import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { BackupResult, SnapshotSource } from '../features/backup/snapshot.js';
import type { ErasedFiles, ErasureProgress, FileErasure } from '../engine/traces/model/deletion/erasure.js';
import { DomainError } from '../engine/errors.js';
import type { MoveSource, SpanPlace } from '../features/move/move.js';
import type { RetentionService } from '../features/retention/retention-service.js';
import { dataDirIdentity } from './data-dir-identity.js';

/** A line of the answer to `erase`: how far it is, and at last what came of it. */
export type ErasureLine =
  { readonly progress: ErasureProgress } | { readonly erased: ErasedFiles } | { readonly problem: ControlProblem };

/** What commands of this machine ask of a running server. */
export const CONTROL_PATHS = {
  snapshot: '/snapshot',
  result: '/backup-result',
  move: '/move',
  moveSettled: '/move/settled',
  moveClose: '/move/close',
  moveFinish: '/move/finish',
  stores: '/stores',
  erase: '/erase',
  retention: '/retention',
} as const;

/** Names the `DATA_DIR` that a command is about. */
export const DATA_DIR_HEADER = 'x-spanhouse-data-dir';

/** An answer other than what was asked for. */
export interface ControlProblem {
  readonly kind: DomainError['kind'];
  readonly detail: string;
}

const MAX_BODY_BYTES = 64 * 1024;
const OTHER_DATA_DIR =
  'No server runs on this DATA_DIR: it is a copy, and its control.path points to the server of the original. Start a server ' +
  'on it, or use the original';

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
  Type.Object({ notPruned: Type.String() }),
]) satisfies { static: BackupResult };

const Place = Type.Object({
  url: Type.Union([Type.String(), Type.Null()]),
  database: Type.String(),
}) satisfies { static: SpanPlace };

const AskedRetention = Type.Object({
  projectId: Type.String(),
  days: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
});
/** What `retention` is asked about; days null: by what is set. */
export type AskedRetention = Static<typeof AskedRetention>;

export interface ControlOptions {
  readonly path: string;
  /** The folder that is served. */
  readonly dataDir: string;
  readonly snapshots: SnapshotSource;
  readonly moves: MoveSource;
  readonly erasure: FileErasure;
  readonly retention: Pick<RetentionService, 'forecast'>;
  readonly onResult: (result: Static<typeof Result>) => void;
  /** Where the stores are, as soon as all that was written is in the figures: an object for whoever reads them. */
  readonly stores: () => Promise<object>;
}

export interface ControlSocket {
  close(): Promise<void>;
}

/**
 * Listens on a Unix socket in `DATA_DIR`: who may open it may read all data anyway, so it asks for no key. A snapshot, or a
 * move, is held for as long as the connection that asked for it is open, so that it ends with the command however that ends.
 */
export async function listenControl(options: ControlOptions): Promise<ControlSocket> {
  const { path, dataDir, snapshots, moves } = options;
  const identity = await dataDirIdentity(dataDir);
  const commands = commandsOf(options);
  const server = createServer((request, response) => {
    const work = Promise.resolve().then(() => {
      if (request.headers[DATA_DIR_HEADER] !== identity) throw new DomainError('conflict', OTHER_DATA_DIR);
      const command = commands.get(request.url ?? '');
      if (command === undefined) throw new DomainError('not_found', 'Unknown command');
      return command(request, response);
    });
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
      moves.end();
      await snapshots.end();
    },
  };
}

type Command = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** What answers each command, by its path. */
function commandsOf({
  snapshots,
  moves,
  erasure,
  retention,
  stores,
  onResult,
}: ControlOptions): ReadonlyMap<string, Command> {
  const commands: Readonly<Record<string, Command>> = {
    [CONTROL_PATHS.snapshot]: (_request, response) => holdSnapshot(snapshots, response),
    [CONTROL_PATHS.result]: (request, response) => takeResult(request, response, onResult),
    [CONTROL_PATHS.move]: (request, response) => holdMove(moves, request, response),
    [CONTROL_PATHS.moveSettled]: async (_request, response) => answer(response, await moves.settled()),
    [CONTROL_PATHS.moveClose]: async (_request, response) => answer(response, await moves.close()),
    [CONTROL_PATHS.moveFinish]: (_request, response) => {
      moves.finish();
      answer(response, null);
    },
    [CONTROL_PATHS.erase]: (_request, response) => holdErasure(erasure, response),
    [CONTROL_PATHS.retention]: (request, response) => answerForecast(retention, request, response),
    [CONTROL_PATHS.stores]: async (_request, response) => answer(response, await stores()),
  };
  return new Map(Object.entries(commands));
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

async function holdMove(moves: MoveSource, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const to = await bodyOf(request);
  if (!Value.Check(Place, to)) throw new DomainError('invalid', 'Invalid move target');
  // Begun in the turn in which the end of the connection is listened for.
  const begun = moves.begin(to);
  let held = false;
  response.once('close', () => held && moves.end());
  const move = await begun;
  held = true;
  if (response.destroyed) {
    moves.end();
    return;
  }
  response.setHeader('content-type', 'application/x-ndjson');
  response.write(`${JSON.stringify(move)}\n`);
}

/** An erasure ends with the connection that asked for it; what is left, the next one erases. */
async function holdErasure(erasure: FileErasure, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('The erasure was abandoned')));
  const tell = (line: ErasureLine) => response.write(`${JSON.stringify(line)}\n`);
  response.setHeader('content-type', 'application/x-ndjson');
  response.flushHeaders();
  const erased = await erasure
    .run(gone.signal, (progress) => tell({ progress }))
    .then(
      (files): ErasureLine => ({ erased: files }),
      (error: unknown): ErasureLine => ({ problem: problemOf(error) }),
    );
  tell(erased);
  response.end();
}

async function answerForecast(
  retention: ControlOptions['retention'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const asked = await bodyOf(request);
  if (!Value.Check(AskedRetention, asked)) throw new DomainError('invalid', 'Invalid retention request');
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('The request was abandoned')));
  answer(response, await retention.forecast(asked.projectId, asked.days ?? undefined, gone.signal));
}

function answer(response: ServerResponse, result: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
}

async function takeResult(
  request: IncomingMessage,
  response: ServerResponse,
  onResult: ControlOptions['onResult'],
): Promise<void> {
  const result = await bodyOf(request);
  if (!Value.Check(Result, result)) throw new DomainError('invalid', 'Invalid backup result');
  onResult(result);
  response.writeHead(204).end();
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) throw new DomainError('too_large', 'The command is too long');
    pieces.push(piece);
  }
  return parsed(Buffer.concat(pieces).toString('utf8'));
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(problemOf(error)));
}

function problemOf(error: unknown): ControlProblem {
  return error instanceof DomainError
    ? { kind: error.kind, detail: error.message }
    : { kind: 'internal', detail: error instanceof Error ? error.message : String(error) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
