import { fork, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { DomainError } from '../engine/errors.js';
import { FairSemaphore } from '../engine/work/fair-semaphore.js';
import type { DatasetOutcome, DatasetTask } from './dataset-process.js';
import { received } from './sent-error.js';

const MODULE = fileURLToPath(new URL('./dataset-process.js', import.meta.url));
const HEAP_MB = 768;
/** With what lies outside its heap. */
const MAX_BYTES = 1_280 * 1024 * 1024;
const WATCHED_MS = 100;
const TIME_LIMIT_MS = 30_000;
/** Processes at once; of one project, one. */
const TURNS = { atOnce: 2, perParty: 1, maxWaiting: 8, maxWaitMs: 60_000 };
/** `/proc/<pid>/statm` counts pages of this size. */
const PAGE_BYTES = 4_096;

/** What comes of a task, by its kind. */
interface DoneBy {
  readonly read: Extract<DatasetOutcome, { readonly outcome: 'read' }>;
  readonly write: Extract<DatasetOutcome, { readonly outcome: 'written' }>;
}

/** Why a process was ended. */
type Ended = 'memory' | 'time' | 'stop';

/** Has files of datasets read and made by processes of their own, each for one file, with bounds of time and memory. */
export class DatasetFiles {
  readonly #turns = new FairSemaphore('dataset files', TURNS);
  readonly #processes = new Map<ChildProcess, (why: Ended) => void>();

  /** @throws DomainError what the process throws; `too_large` beyond its memory or time, `unavailable`, `overloaded` */
  async run<Kind extends DatasetTask['kind']>(
    projectId: string,
    task: Extract<DatasetTask, { readonly kind: Kind }>,
  ): Promise<DoneBy[Kind]> {
    const endTurn = await this.#turns.take(projectId);
    try {
      const outcome = await this.#outcomeOf(task);
      if (outcome.outcome === 'refused') throw received(outcome.error);
      return outcome as DoneBy[Kind];
    } finally {
      endTurn();
    }
  }

  /** Ends all processes, whatever they are at. */
  close(): void {
    for (const end of this.#processes.values()) end('stop');
  }

  #outcomeOf(task: DatasetTask): Promise<DatasetOutcome> {
    const child = fork(MODULE, {
      // It needs nothing of what the server is told: keys and passwords are among it.
      env: {},
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    let ended: Ended | null = null;
    const end = (why: Ended) => {
      ended ??= why;
      child.kill('SIGKILL');
    };
    this.#processes.set(child, end);
    const timer = setTimeout(() => end('time'), TIME_LIMIT_MS);
    const watch = setInterval(() => void overMemory(child).then((over) => over && end('memory')), WATCHED_MS);
    return new Promise<DatasetOutcome>((resolve, reject) => {
      child.once('message', (outcome) => resolve(outcome as DatasetOutcome));
      child.once('error', (error) => reject(lost(ended, error)));
      // Not at its exit, which may come before what it sent.
      child.once('close', () => reject(lost(ended, new Error('The process ended before it responded'))));
      child.send(task);
    }).finally(() => {
      clearTimeout(timer);
      clearInterval(watch);
      this.#processes.delete(child);
      child.kill('SIGKILL');
    });
  }
}

/** Whether a process has more memory than it may; where the system does not say, its heap alone is bounded. */
async function overMemory({ pid }: ChildProcess): Promise<boolean> {
  try {
    const [, resident = '0'] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
    return Number(resident) * PAGE_BYTES > MAX_BYTES;
  } catch {
    return false;
  }
}

/** What a request is told whose process ended. One that was not ended by us has met the bound of its heap. */
function lost(ended: Ended | null, cause: unknown): DomainError {
  if (ended === 'stop')
    return new DomainError('unavailable', 'The server is shutting down. Retry.', { retryAfterSeconds: 1, cause });
  const what = ended === 'time' ? 'time' : 'memory';
  return new DomainError('too_large', `The file needs more ${what} than one request may use: use smaller files`, {
    cause,
  });
}
