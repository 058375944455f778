import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { DomainError } from '../../../engine/errors.js';
import { placeName, settingsOf, type SpanPlace } from '../move.js';

const FILE = 'move.json';

const Place = Type.Object({
  url: Type.Union([Type.String(), Type.Null()]),
  database: Type.String(),
}) satisfies { static: SpanPlace };

const Mark = Type.Object({
  id: Type.String({ pattern: '^[0-9a-f-]{36}$' }),
  from: Place,
  to: Place,
  begun_at: Type.String(),
  /** Null: in progress, or interrupted. */
  done_at: Type.Union([Type.String(), Type.Null()]),
});

/** The latest move of the spans of a `DATA_DIR`. */
export type MoveMark = Static<typeof Mark>;

/** @returns null: spans were never moved. @throws DomainError when the file is damaged */
export function readMoveMark(dataDir: string): MoveMark | null {
  const path = join(dataDir, FILE);
  if (!existsSync(path)) return null;
  const mark = parsed(readFileSync(path, 'utf8'));
  if (Value.Check(Mark, mark)) return mark;
  throw new DomainError(
    'conflict',
    `Cannot read ${path}, which records where the spans of this DATA_DIR were moved to: remove it if you are sure that they are ` +
      'where the settings say',
  );
}

/** Replaces the mark, on disk once this returns. */
export function writeMoveMark(dataDir: string, mark: MoveMark): void {
  const path = join(dataDir, FILE);
  const file = openSync(`${path}.new`, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(mark, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
  syncFolder(dataDir);
}

/** Gives a move up: the spans stay where they are, and no server starts where they were to go. */
export function giveUpMove(dataDir: string, { from, to, begun_at }: MoveMark): void {
  writeMoveMark(dataDir, { id: randomUUID(), from: to, to: from, begun_at, done_at: new Date().toISOString() });
}

/** Whether spans are being moved, or a move was interrupted. */
export function isMoving(dataDir: string): boolean {
  return readMoveMark(dataDir)?.done_at === null;
}

/**
 * Makes sure that a server writes spans where they are. How a URL is spelt does not count: what does is whether there is one.
 * @throws DomainError `conflict`
 */
export function requirePlace(dataDir: string, configured: SpanPlace): MoveMark | null {
  const mark = readMoveMark(dataDir);
  if (mark === null) return null;
  const { from, to, done_at } = mark;
  const place = done_at === null ? from : to;
  if ((place.url === null) === (configured.url === null) && place.database === configured.database) return mark;
  throw new DomainError(
    'conflict',
    done_at === null
      ? `The move of the spans in ${dataDir} to ${placeName(to)} is unfinished: start with the previous settings ` +
          `(${settingsOf(from)}) and run the move again, or cancel it (npm run admin -- move --cancel)`
      : `The spans of ${dataDir} are in ${placeName(to)}, not where the settings say (moved ${done_at}): start with ` +
          `${settingsOf(to)}. To use ${placeName(configured)} anyway, remove ${join(dataDir, FILE)}`,
  );
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
