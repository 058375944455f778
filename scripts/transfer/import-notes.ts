import { readFile, rm } from 'node:fs/promises';
import { PARTS, type Part } from '../../src/features/transfer/parts.js';
import type { End } from './format.js';
import type { NumberedRecord } from './reader.js';
import { replace } from './writer.js';

/** What became of the records of a part. */
export interface PartImported {
  readonly part: Part;
  readonly inFile: number;
  readonly stored: number;
  readonly unchanged: number;
}

/** Where an import goes to. A project of the same id that is made anew is another one. */
export interface ImportTarget {
  readonly url: string;
  readonly project_created_at: string;
}

/** How far an import is: kept beside the file after every request. */
interface ImportState {
  readonly target: ImportTarget;
  readonly sha256: string;
  /** Records that were sent, without those that a later line replaces. */
  readonly sent: number;
  /** How many were sent before the last request whose answer tells whether its records are there. */
  readonly probe: number;
  readonly stored: Readonly<Partial<Record<Part, number>>>;
}

/** What is known of an import beside its file. It only saves time: without it, everything is sent again. */
export class ImportNotes {
  readonly #file: string;
  readonly #end: End;
  readonly #target: ImportTarget;
  #state: ImportState;
  #writable = true;

  private constructor(file: string, end: End, target: ImportTarget) {
    this.#file = file;
    this.#end = end;
    this.#target = target;
    this.#state = this.#nothing();
  }

  /** Those of an import of the same file to the same place that was cut off, or new ones. */
  static async open(file: string, end: End, target: ImportTarget): Promise<ImportNotes> {
    const notes = new ImportNotes(file, end, target);
    notes.#state = (await stateIn(file, end, target)) ?? notes.#state;
    return notes;
  }

  get sent(): number {
    return this.#state.sent;
  }

  get probe(): number {
    return this.#state.probe;
  }

  /** Forgets what was sent, but for what was stored of one batch just now. */
  beginAnew(batch: readonly NumberedRecord[], stored: number): void {
    const part = batch[0]?.part;
    this.#state = { ...this.#nothing(), stored: part === undefined ? {} : { [part]: stored } };
  }

  async add(batch: readonly NumberedRecord[], stored: number): Promise<void> {
    const part = batch[0]?.part;
    if (part === undefined) return;
    const { sent, probe, stored: before, ...state } = this.#state;
    this.#state = {
      ...state,
      sent: sent + batch.length,
      // Images of spans that are gone are not stored again.
      probe: part === 'attachments' ? probe : sent,
      stored: { ...before, [part]: (before[part] ?? 0) + stored },
    };
    if (!this.#writable) return;
    // The folder may be one that can only be read.
    await replace(this.#file, JSON.stringify(this.#state)).catch(() => (this.#writable = false));
  }

  async remove(): Promise<void> {
    await rm(this.#file, { force: true }).catch(() => undefined);
  }

  parts(): PartImported[] {
    return PARTS.flatMap((part) => {
      const inFile = this.#end.counts[part] ?? 0;
      const stored = this.#state.stored[part] ?? 0;
      return inFile === 0 ? [] : [{ part, inFile, stored, unchanged: inFile - stored }];
    });
  }

  #nothing(): ImportState {
    return { target: this.#target, sha256: this.#end.sha256, sent: 0, probe: 0, stored: {} };
  }
}

/** Undefined: there is none, none that can be read, or one of another file or place. */
async function stateIn(file: string, end: End, target: ImportTarget): Promise<ImportState | undefined> {
  try {
    const state = JSON.parse(await readFile(file, 'utf8')) as ImportState;
    const isSame =
      state.sha256 === end.sha256 &&
      state.target.url === target.url &&
      state.target.project_created_at === target.project_created_at;
    const isSound =
      [state.sent, state.probe].every((count) => Number.isSafeInteger(count)) && state.probe <= state.sent;
    return isSame && isSound ? state : undefined;
  } catch {
    return undefined;
  }
}
