import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { BackupResult, Snapshot } from '../features/backup/snapshot.js';
import type { ErasedFiles, ErasureProgress } from '../engine/traces/model/deletion/erasure.js';
import { DomainError } from '../engine/errors.js';
import type { BegunMove, SettledState, SpanPlace } from '../features/move/move.js';
import type { RetentionForecast } from '../features/retention/retention-service.js';
import {
  CONTROL_PATHS,
  DATA_DIR_HEADER,
  type AskedRetention,
  type ControlProblem,
  type ErasureLine,
} from './control-socket.js';
import { dataDirIdentity } from './data-dir-identity.js';

/** The server of a `DATA_DIR`, and the socket where it is said to listen. */
export interface ControlAddress {
  readonly dataDir: string;
  readonly socketPath: string;
}

/** A snapshot that a server holds for this process. */
export interface HeldSnapshot {
  readonly snapshot: Snapshot;
  /** @throws DomainError `unavailable` when the server holds it no more: what was read since may be anything */
  requireHeld(): void;
  release(): void;
}

/** Asks a server to hold a snapshot. @throws DomainError */
export async function openSnapshot(server: ControlAddress): Promise<HeldSnapshot> {
  const again = 'The server has stopped: run the backup again to resume';
  const { line, ...held } = await hold(await send(server, CONTROL_PATHS.snapshot), again);
  return { snapshot: JSON.parse(line) as Snapshot, ...held };
}

/** The first line of an answer that stays open for as long as what it says is held. */
async function hold(response: IncomingMessage, ended: string) {
  let held = true;
  // A server that ends breaks the connection off, of which `close` tells as well.
  response.on('error', () => undefined);
  response.once('close', () => (held = false));
  const requireHeld = () => {
    if (!held) throw new DomainError('unavailable', ended);
  };
  const line = await firstLine(response);
  if (line === null) held = false;
  requireHeld();
  return { line: line ?? '', requireHeld, release: () => void response.destroy() };
}

/** @returns null when it ends before there is one */
function firstLine(response: IncomingMessage): Promise<string | null> {
  return new Promise((resolve) => {
    let text = '';
    response.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (piece.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    response.once('close', () => resolve(null));
  });
}

/** A move that a server holds open for this process. */
export interface HeldMove extends BegunMove {
  settled(): Promise<SettledState>;
  close(): Promise<SettledState>;
  finish(): Promise<void>;
  /** @throws DomainError `unavailable` when the server has ended */
  requireHeld(): void;
  release(): void;
}

/** Asks a server to let its spans be moved, see MoveSource. @throws DomainError */
export async function openMove(server: ControlAddress, to: SpanPlace): Promise<HeldMove> {
  const again = 'The server has stopped: start it and run the move again to resume';
  const { line, ...held } = await hold(await send(server, CONTROL_PATHS.move, JSON.stringify(to)), again);
  const ask = async (path: string): Promise<unknown> => JSON.parse(await text(await send(server, path)));
  return {
    ...(JSON.parse(line) as BegunMove),
    ...held,
    settled: async () => (await ask(CONTROL_PATHS.moveSettled)) as SettledState,
    close: async () => (await ask(CONTROL_PATHS.moveClose)) as SettledState,
    async finish() {
      await ask(CONTROL_PATHS.moveFinish);
    },
  };
}

/** Tells the server what became of a backup, for its log and metrics. @throws DomainError */
export async function reportResult(server: ControlAddress, result: BackupResult): Promise<void> {
  await text(await send(server, CONTROL_PATHS.result, JSON.stringify(result)));
}

/**
 * Asks a server where its stores are, once all that was written is in the figures.
 * @throws DomainError `unavailable` when none answers
 */
export async function askStores(server: ControlAddress): Promise<unknown> {
  return JSON.parse(await text(await send(server, CONTROL_PATHS.stores)));
}

/**
 * Has a server take what is deleted or replaced out of its files, and waits for it.
 * @throws DomainError
 */
export async function orderErasure(
  server: ControlAddress,
  onProgress: (progress: ErasureProgress) => void,
): Promise<ErasedFiles> {
  const response = await send(server, CONTROL_PATHS.erase);
  // Lines end where a server that dies breaks the connection off.
  response.on('error', () => undefined);
  for await (const line of createInterface({ input: response })) {
    const told = JSON.parse(line) as ErasureLine;
    if ('erased' in told) return told.erased;
    if ('problem' in told) throw new DomainError(told.problem.kind, told.problem.detail);
    onProgress(told.progress);
  }
  throw new DomainError('unavailable', 'The server has stopped: start it and run this again to resume');
}

/** Asks a server what retention would remove. @throws DomainError */
export async function askForecast(server: ControlAddress, asked: AskedRetention): Promise<RetentionForecast> {
  const response = await send(server, CONTROL_PATHS.retention, JSON.stringify(asked));
  return JSON.parse(await text(response)) as RetentionForecast;
}

async function send({ dataDir, socketPath }: ControlAddress, path: string, body = ''): Promise<IncomingMessage> {
  const headers = { [DATA_DIR_HEADER]: await dataDirIdentity(dataDir) };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpRequest({ socketPath, path, headers, method: 'POST', agent: false }, resolve);
    sent.once('error', reject);
    sent.end(body);
  }).catch((error: unknown) => {
    throw new DomainError(
      'unavailable',
      'No server responds on this DATA_DIR. Start it: a running server is what is queried, backed up, moved or erased from. You can copy the folder ' +
        'of a stopped server as it is.',
      { cause: error },
    );
  });
  if ((response.statusCode ?? 500) < 300) return response;
  const { kind, detail } = JSON.parse(await text(response)) as ControlProblem;
  throw new DomainError(kind, detail);
}
