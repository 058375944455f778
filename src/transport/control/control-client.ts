import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { BackupResult, Snapshot } from '../../domain/backup/snapshot.js';
import { DomainError } from '../../domain/errors.js';
import { CONTROL_PATHS, type ControlProblem } from './control-socket.js';

/** A snapshot that a server holds for this process. */
export interface HeldSnapshot {
  readonly snapshot: Snapshot;
  /** @throws DomainError `unavailable` when the server holds it no more: what was read since may be anything */
  demandHeld(): void;
  release(): void;
}

/** Asks the server that listens on a socket to hold a snapshot. @throws DomainError */
export async function openSnapshot(socketPath: string): Promise<HeldSnapshot> {
  const response = await send(socketPath, CONTROL_PATHS.snapshot);
  let held = true;
  // A server that ends breaks the connection off, of which `close` tells as well.
  response.on('error', () => undefined);
  response.once('close', () => (held = false));
  const demandHeld = () => {
    if (!held)
      throw new DomainError(
        'unavailable',
        'The server has stopped meanwhile: run the backup again, it goes on from here',
      );
  };
  const line = await firstLine(response);
  if (line === null) held = false;
  demandHeld();
  return {
    snapshot: JSON.parse(line ?? '') as Snapshot,
    demandHeld,
    release: () => response.destroy(),
  };
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

/** Tells the server what became of a backup, for its log and metrics. @throws DomainError */
export async function reportResult(socketPath: string, result: BackupResult): Promise<void> {
  await text(await send(socketPath, CONTROL_PATHS.result, JSON.stringify(result)));
}

/**
 * Asks a server where its stores are, once all that was written is in the figures.
 * @throws DomainError `unavailable` when none answers
 */
export async function askStores(socketPath: string): Promise<unknown> {
  return JSON.parse(await text(await send(socketPath, CONTROL_PATHS.stores)));
}

async function send(socketPath: string, path: string, body = ''): Promise<IncomingMessage> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpRequest({ socketPath, path, method: 'POST', agent: false }, resolve);
    sent.once('error', reject);
    sent.end(body);
  }).catch((error: unknown) => {
    throw new DomainError(
      'unavailable',
      'No server answers on this DATA_DIR: start it, as a running server is what is backed up. The folder of one that ' +
        'is stopped can be copied as it is.',
      { cause: error },
    );
  });
  if ((response.statusCode ?? 500) < 300) return response;
  const { kind, detail } = JSON.parse(await text(response)) as ControlProblem;
  throw new DomainError(kind, detail);
}
